// The headers of netlink bring the kinds of sockets along: in a release build they are of this module.
import CLinux
import Glibc

/// Tells the service manager how the process is: sd_notify(3), for units with `Type=notify`.
///
/// Without a service manager every call does nothing. Any thread; a call never waits.
package struct ServiceNotify: Sendable {
    /// `$NOTIFY_SOCKET`: a path, or `@` and an abstract name (unix(7)). Nil: nobody is told.
    private let socket: String?

    /// - Parameter socket: in tests; otherwise what the environment says.
    package init(socket: String? = getenv("NOTIFY_SOCKET").map { String(cString: $0) }) {
        self.socket = socket.flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    }

    /// The process does its work from now on. `status` is shown by `systemctl status`.
    @discardableResult
    package func ready(status: String = "") -> Bool { send("READY=1\n" + line(status)) }

    @discardableResult
    package func status(_ text: String) -> Bool { send(line(text)) }

    /// The process begins to end.
    @discardableResult
    package func stopping() -> Bool { send("STOPPING=1\n") }

    private func line(_ status: String) -> String {
        // A line break in a text would begin another assignment.
        let text = String(decoding: status.utf8.map { $0 < 0x20 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        return text.isEmpty ? "" : "STATUS=\(text)\n"
    }

    /// One datagram. False where nobody is told, or it did not arrive.
    private func send(_ message: String) -> Bool {
        guard let socket, !message.isEmpty, var address = Self.address(socket) else { return false }
        let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let number = Glibc.socket(AF_UNIX, type, 0)
        guard number >= 0 else { return false }
        let descriptor = FileDescriptor(takingOwnership: number)
        let bytes = Array(message.utf8)
        let sent = withUnsafePointer(to: &address.name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor.rawValue, bytes, bytes.count, CInt(MSG_NOSIGNAL), $0, address.length)
            }
        }
        return sent == bytes.count
    }

    /// Nil for a name that is too long.
    private static func address(_ socket: String) -> (name: sockaddr_un, length: socklen_t)? {
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(socket.utf8)
        guard !bytes.contains(0), bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: name.sun_path) else {
            return nil
        }
        // An abstract name begins with a zero, and ends where the length says.
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        if isAbstract { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: bytes) }
        let offset = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? MemoryLayout<sa_family_t>.size
        return (name, socklen_t(offset + bytes.count + (isAbstract ? 0 : 1)))
    }
}
