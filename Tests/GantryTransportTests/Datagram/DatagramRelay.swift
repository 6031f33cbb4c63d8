import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc

/// Stands between the two ends on loopback, as a network that does what a test wants: loses, changes, repeats, injects.
final class DatagramRelay: @unchecked Sendable {  // `rule`, `seen` and the ports of the ends are guarded by `lock`.
    enum Direction: Sendable {
        case toStudio
        case toProducer
    }

    /// What is to be passed on in place of a datagram.
    typealias Rule = @Sendable (_ datagram: [UInt8], _ direction: Direction) -> [[UInt8]]

    private let sockets: [FileDescriptor]
    /// The port that the producer speaks to, and that the studio speaks to.
    let producerSide: UInt16
    let studioSide: UInt16
    private let lock = Lock()
    private var rule: Rule
    private var ends: (producer: UInt16, studio: UInt16) = (0, 0)
    private var seen: [Direction: [[UInt8]]] = [:]
    private let stopping: EventDescriptor
    private var thread: NamedThread?

    init(_ rule: @escaping Rule = { datagram, _ in [datagram] }) throws {
        self.rule = rule
        stopping = try EventDescriptor()
        var ports: [UInt16] = []
        sockets = try (0..<2).map { _ in
            let socket = FileDescriptor(
                takingOwnership: try syscall("socket") {
                    Glibc.socket(AF_INET, CInt(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                })
            _ = try syscall("bind") { Self.withAddress(0) { bind(socket.rawValue, $0, $1) } }
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    _ = getsockname(socket.rawValue, $0, &length)
                }
            }
            ports.append(UInt16(bigEndian: address.sin_port))
            return socket
        }
        (producerSide, studioSide) = (ports[0], ports[1])
    }

    func start(producer: UInt16, studio: UInt16) throws {
        lock.withLock { ends = (producer, studio) }
        thread = try NamedThread("test-relay") { [self] in run() }
    }

    func stop() {
        stopping.signal()
        thread?.join()
    }

    func change(_ rule: @escaping Rule) { lock.withLock { self.rule = rule } }

    /// What has come from the other direction's end so far, before any rule.
    func datagrams(_ direction: Direction) -> [[UInt8]] { lock.withLock { seen[direction] ?? [] } }

    /// As if it came from the other end.
    func inject(_ datagram: [UInt8], _ direction: Direction) { pass(datagram, direction) }

    private func run() {
        var set = (
            pollfd(fd: sockets[0].rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: sockets[1].rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0)
        )
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            withUnsafeMutablePointer(to: &set) { pointer in
                pointer.withMemoryRebound(to: pollfd.self, capacity: 3) { _ = poll($0, 3, -1) }
            }
            if set.2.revents != 0 { return }
            for (index, direction) in [Direction.toStudio, .toProducer].enumerated() {
                while true {
                    let count = recv(sockets[index].rawValue, &buffer, buffer.count, CInt(MSG_DONTWAIT))
                    guard count > 0 else { break }
                    let datagram = Array(buffer[..<count])
                    let rule = lock.withLock { () -> Rule in
                        if seen[direction, default: []].count < 4000 { seen[direction, default: []].append(datagram) }
                        return self.rule
                    }
                    for out in rule(datagram, direction) { pass(out, direction) }
                }
            }
        }
    }

    private func pass(_ datagram: [UInt8], _ direction: Direction) {
        let port = lock.withLock { direction == .toStudio ? ends.studio : ends.producer }
        let socket = sockets[direction == .toStudio ? 1 : 0].rawValue
        _ = Self.withAddress(port) { CInt(clamping: sendto(socket, datagram, datagram.count, 0, $0, $1)) }
    }

    private static func withAddress(_ port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> CInt) -> CInt
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
