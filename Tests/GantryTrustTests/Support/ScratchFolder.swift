import GantryCore
import GantryPlatform
import Glibc

/// A folder for one test; goes away with the value.
final class ScratchFolder: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/gantry-trust-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template))
    }

    deinit {
        if let process = Tool.start(["rm", "-rf", path], output: "/dev/null") { _ = Tool.wait(process) }
    }

    func file(_ name: String) -> String { path + "/" + name }

    func state(_ name: String = "state") throws(GantryError) -> StateFolder { try StateFolder.open(file(name)) }

    func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o600) { Self.write(file(name), bytes, mode: mode) }

    static func write(_ path: String, _ bytes: [UInt8], mode: mode_t = 0o600) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
        chmod(path, mode)
    }

    static func contents(_ path: String) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    static func mode(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0o7777
    }
}
