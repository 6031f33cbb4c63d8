import CommandLineKit
import Foundation
import GantryPlatform
import GantryTestSupport
import Glibc

/// A client of a control socket that may break every rule. Blocks: use it inside `onThread`.
final class RawClient: Sendable {
    struct Failure: Error { let text: String }

    private let socket: FileDescriptor
    private let pending = Watched<[UInt8]>([])

    init(_ path: String) throws {
        socket = FileDescriptor(
            takingOwnership: Glibc.socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure(text: "too long") }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0 else { throw Failure(text: "connect: \(String(cString: strerror(errno)))") }
    }

    /// False when the other end has closed.
    @discardableResult
    func send(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.rawValue, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Nil when the other end has closed.
    func line() throws -> [String: Any]? {
        var bytes = pending.value
        while true {
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                pending.change { $0 = Array(bytes[(end + 1)...]) }
                return jsonLine(String(decoding: bytes[..<end], as: UTF8.self))
            }
            var waiting = pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0)
            guard poll(&waiting, 1, 60_000) > 0 else { throw Failure(text: "no line came") }
            var piece = [UInt8](repeating: 0, count: 65536)
            let count = recv(socket.rawValue, &piece, piece.count, 0)
            if count <= 0 { return nil }
            bytes += piece[..<count]
        }
    }

    /// The code of the error that comes next.
    func errorCode() throws -> Int? { (try line()?["error"] as? [String: Any])?["code"] as? Int }

    /// Waits until the other end has closed.
    func waitForEnd() throws { while try line() != nil {} }
}
