import Foundation
import GantryPlatform
import GantryTransport
import Glibc

/// A FunctionFS function of somebody else's: nearly ours.
final class ForeignFunction: @unchecked Sendable {  // Set in `init`.
    private let control: FileDescriptor
    private let wake: EventDescriptor

    init(_ mount: String, _ kind: String) throws {
        control = FileDescriptor(
            takingOwnership: try syscall("open") { open(mount + "/ep0", O_RDWR | O_CLOEXEC | O_NONBLOCK) })
        wake = try EventDescriptor()
        let name = kind == "other name" ? "gantry/9" : "gantry/1"
        try write(Self.descriptors(kind))
        try write([2, 0, 0, 0, 27, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 9, 4] + Array(name.utf8) + [0])
        let (control, wake) = (control, wake)
        Thread.detachNewThread { Self.refuseAll(control, wake) }
    }

    func stop() { wake.signal() }

    private func write(_ bytes: [UInt8]) throws {
        let count = bytes.withUnsafeBytes { Glibc.write(control.rawValue, $0.baseAddress, $0.count) }
        guard count == bytes.count else { throw SystemError(errno: errno, during: "descriptors") }
    }

    private static func descriptors(_ kind: String) -> [UInt8] {
        let count: UInt8 = kind == "one endpoint" ? 1 : 2
        func endpoints(_ size: [UInt8], companion: [UInt8]) -> [UInt8] {
            let attributes: UInt8 = kind == "interrupt" ? 3 : 2
            // An interrupt endpoint needs an interval.
            let interval: UInt8 = kind == "interrupt" ? 4 : 0
            let second: UInt8 = kind == "same direction" ? 0x82 : 0x02
            let first = [7, 5, 0x81, attributes] + (kind == "interrupt" ? [64, 0] : size) + [interval] + companion
            return count == 1 ? first : first + [7, 5, second, 2] + size + [0] + companion
        }
        let interface: [UInt8] = [9, 4, 0, 0, count, 0xFF, kind == "only the ids" ? 0x42 : 0x43, 1, 1]
        let plain = UInt8(1 + count)
        let body =
            [plain, 0, 0, 0, plain, 0, 0, 0, 1 + 2 * count, 0, 0, 0] + interface + endpoints([64, 0], companion: [])
            + interface + endpoints([0, 2], companion: []) + interface
            + endpoints([0, 4], companion: [6, 48, 0, 0, 0, 0])
        return [3, 0, 0, 0, UInt8(12 + body.count), 0, 0, 0, 7, 0, 0, 0] + body
    }

    /// Every request is stalled.
    private static func refuseAll(_ control: FileDescriptor, _ wake: EventDescriptor) {
        var bytes = [UInt8](repeating: 0, count: 12)
        while true {
            var set = [
                pollfd(fd: control.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&set, 2, -1)
            if set[1].revents != 0 { return }
            guard case .bytes = bytes.withUnsafeMutableBytes({ try? control.read(into: $0) }),
                let event = bytes.withUnsafeBytes({ FunctionFSEvent($0) }), case .setup(let setup) = event
            else { continue }
            if setup.isFromDevice {
                _ = Glibc.read(control.rawValue, &bytes, 0)
            } else {
                _ = Glibc.write(control.rawValue, &bytes, 0)
            }
        }
    }
}
