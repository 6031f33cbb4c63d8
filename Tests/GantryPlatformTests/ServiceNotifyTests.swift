import Foundation
import GantryPlatform
import Glibc
import Testing

@Suite struct ServiceNotifyTests {
    /// A service manager's socket, at a path or an abstract name (which begins with a zero).
    private func listen(_ name: [UInt8], isAbstract: Bool) throws -> FileDescriptor {
        let type = CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = FileDescriptor(takingOwnership: try syscall("socket") { socket(AF_UNIX, type, 0) })
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(2 + name.count + (isAbstract ? 0 : 1))
        _ = try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                try syscall("bind") { bind(descriptor.rawValue, address, length) }
            }
        }
        return descriptor
    }

    private func received(_ socket: FileDescriptor) throws -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try socket.read(into: $0) }) else {
            return nil
        }
        return String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    @Test(arguments: [true, false]) func theManagerIsTold(isAbstract: Bool) throws {
        let name = isAbstract ? "gantry-\(UUID().uuidString)" : NSTemporaryDirectory() + "/n-\(UUID().uuidString)"
        defer { if !isAbstract { unlink(name) } }
        let manager = try listen((isAbstract ? [0] : []) + Array(name.utf8), isAbstract: isAbstract)
        let notify = ServiceNotify(socket: (isAbstract ? "@" : "") + name)
        #expect(notify.ready())
        #expect(try received(manager) == "READY=1\n")
        #expect(notify.ready(status: "On 7787\nREADY=0"))
        #expect(try received(manager) == "READY=1\nSTATUS=On 7787 READY=0\n")
        #expect(notify.status("Two studios"))
        #expect(try received(manager) == "STATUS=Two studios\n")
        #expect(notify.stopping())
        #expect(try received(manager) == "STOPPING=1\n")
        #expect(try received(manager) == nil)
    }

    @Test(arguments: [nil, "", "@", "relative", "/nonexistent/socket", "/" + String(repeating: "a", count: 200)])
    func withoutOneNothingHappens(socket: String?) {
        let notify = ServiceNotify(socket: socket)
        #expect(!notify.ready() && !notify.status("x") && !notify.stopping())
    }
}
