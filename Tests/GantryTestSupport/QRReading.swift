import Foundation

/// Reads QR codes with zbarimg, as one would hold a camera: a little nearer, or out of focus, when it does not read.
package enum QRReading {
    /// Changes to the picture, as arguments of convert. ZBar 0.23 misses some codes at a certain size of their modules,
    /// which are read at another.
    private static let attempts: [[String]] = [
        [], ["-blur", "0x1"], ["-resize", "75%"], ["-resize", "150%"], ["-rotate", "3"],
        ["-resize", "200%", "-blur", "0x2"],
    ]

    /// Nil when none is seen.
    package static func text(in path: String) async throws -> String? {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        for change in attempts {
            let changed = folder.file("changed.png")
            _ = try await Oracle.check(["convert", path] + change + [changed])
            let read = try await Oracle.run(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", changed])
            if read.status == 0 { return read.text.trimmingCharacters(in: .whitespacesAndNewlines) }
        }
        return nil
    }
}
