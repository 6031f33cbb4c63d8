package import GantryCore
import GantryPlatform

/// Keys and paired devices.
package enum StateCheck {
    /// Looks at the folder without making it.
    ///
    /// - Parameters:
    ///   - explicit: `--state-dir`.
    ///   - devices: how many are paired; asked only where there is a store.
    package static func look(
        _ explicit: String?, peer: String, devices: () -> Result<Int, GantryError>
    ) -> [Finding] {
        do throws(GantryError) {
            guard let folder = try StateFolder.existing(explicit) else {
                return [.ok("Nothing is paired yet; the state folder is made at the first start.")]
            }
            let files = SystemFiles()
            let open = files.entries(folder.path).filter { (files.status(folder.file($0))?.mode ?? 0) & 0o077 != 0 }
            guard open.isEmpty else {
                let paths = open.prefix(8).map { ShellWord.quoted(folder.file($0)) }
                return [
                    .problem(
                        "Other users can read \(open.count) files in \(folder.path).",
                        "chmod 600 \(paths.joined(separator: " "))")
                ]
            }
            guard files.exists(folder.file("paired.sqlite")) else {
                return [.ok("Nothing is paired yet (\(folder.path)).")]
            }
            let count = try devices().get()
            return [.ok("\(Figures.count(count, peer)) paired, in \(folder.path).")]
        } catch {
            return [.problem(error)]
        }
    }
}
