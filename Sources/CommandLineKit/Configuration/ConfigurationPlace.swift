import GantryCore
import GantryPlatform
import Glibc

/// Where a tool's configuration file is, and how it is read.
enum ConfigurationPlace {
    /// `$XDG_CONFIG_HOME/gantry/NAME.json`, or `$HOME/.config/gantry/NAME.json`; nil without a home. NAME is the tool's
    /// name behind "gantry-". A relative XDG_CONFIG_HOME is ignored (XDG Base Directory Specification 0.8).
    static func usual(tool: String, environment: (String) -> String? = { Environment[$0] }) -> String? {
        let name = tool.split(separator: "-").last.map(String.init) ?? tool
        if let base = environment("XDG_CONFIG_HOME"), base.hasPrefix("/") { return "\(base)/gantry/\(name).json" }
        guard let home = environment("HOME"), !home.isEmpty else { return nil }
        return "\(home)/.config/gantry/\(name).json"
    }

    /// The bytes of the file, one more than may be at most; nil when there is none.
    static func read(_ path: String) throws(GantryError) -> [UInt8]? {
        let contents: (status: stat, bytes: [UInt8])
        do throws(SystemError) {
            contents = try self.contents(path)
        } catch {
            if error.errno == ENOENT || error.errno == ENOTDIR { return nil }
            throw GantryError(
                .invalidArgument, "\(TextCells.printable(path)) cannot be read. Mend that, or go on with --no-config.",
                cause: error.description)
        }
        try check(contents.status, path)
        return contents.bytes
    }

    /// No bytes of anything but a plain file.
    private static func contents(_ path: String) throws(SystemError) -> (status: stat, bytes: [UInt8]) {
        var status = stat()
        // O_NONBLOCK: a pipe in this place must not hang us.
        let descriptor = FileDescriptor(
            takingOwnership: try syscall("open") { open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) })
        try syscall("fstat") { fstat(descriptor.rawValue, &status) }
        guard status.st_mode & S_IFMT == S_IFREG else { return (status, []) }
        var bytes = [UInt8](repeating: 0, count: JSONText.maximumBytes + 1)
        var count = 0
        while count < bytes.count {
            let start = count
            let got = try syscall("read") {
                bytes.withUnsafeMutableBytes {
                    Glibc.read(descriptor.rawValue, $0.baseAddress.map { $0 + start }, $0.count - start)
                }
            }
            if got == 0 { break }
            count += got
        }
        return (status, Array(bytes.prefix(count)))
    }

    private static func check(_ status: stat, _ path: String) throws(GantryError) {
        let shown = TextCells.printable(path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw GantryError(.invalidArgument, "\(shown) is not a plain file. Give one, or go on with --no-config.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw GantryError(
                .invalidArgument,
                "\(shown) belongs to another user (number \(status.st_uid)). Use a file of your own, or go on with --no-config."
            )
        }
        guard status.st_mode & 0o022 == 0 else {
            throw GantryError(
                .invalidArgument,
                "\(shown) can be changed by other users. Close it: chmod go-w \(SecureFile.quoted(path))")
        }
    }
}
