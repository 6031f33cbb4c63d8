import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust
import Glibc

/// A peer that is paired and keeps to TLS, but to nothing else: sends whatever bytes it is told. Every call may block
/// for a moment; one thread at a time.
final class HostilePeer {
    struct Gone: Error {}

    let link: SocketLink
    private let engine: TLSEngine
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// Bytes of TLS that may still be written before the connection is cut; nil: any number.
    private var budget: Int?
    private(set) var written = 0
    private var decoder: FrameDecoder
    private var receiver = ControlReceiver()
    private var messages: [ControlMessage] = []

    init(
        _ role: TLSEngine.Role, over link: SocketLink, identity: Identity,
        alpn: String = WireLimits.sessionProtocolName, cutAfter budget: Int? = nil,
        verdict: TrustDecision = .trusted
    ) throws {
        self.link = link
        self.budget = budget
        decoder = FrameDecoder(
            phase: alpn == WireLimits.pairingProtocolName
                ? .pairing : role == .client ? .beforeAcceptance : .beforeAuthorisation)
        engine = try TLSEngine(role: role, identity: identity, alpn: alpn) { _ in verdict }
    }

    deinit { link.close() }

    /// A studio at `host`, an address of the loopback network: each has its own allowance of connections.
    static func studio(
        port: UInt16, identity: Identity, host: UInt8 = 1, room: CInt? = nil, cutAfter budget: Int? = nil
    ) throws -> HostilePeer {
        try HostilePeer(.client, over: try dial(port, host: host, room: room), identity: identity, cutAfter: budget)
    }

    /// - Parameter room: bytes that the kernel may hold for this end; nil: its default, some megabytes.
    static func dial(_ port: UInt16, host: UInt8 = 1, room: CInt? = nil) throws -> SocketLink {
        let descriptor = try syscall("socket") {
            Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        }
        let socket = FileDescriptor(takingOwnership: descriptor)
        if var room { setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &room, socklen_t(MemoryLayout<CInt>.size)) }
        try syscall("bind") { withAddress(host: host, port: 0) { bind(descriptor, $0, $1) } }
        try syscall("connect") { withAddress(host: 1, port: port) { connect(descriptor, $0, $1) } }
        return try SocketLink(takingOwnership: socket, peerAddress: "127.0.0.1:\(port)")
    }

    private static func withAddress(
        host: UInt8, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | UInt32(host)).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Until TLS stands.
    func handshake() throws {
        do {
            while try !engine.advanceHandshake() {
                try flush()
                try takeCiphertext(wait: 30_000)
            }
            try flush()
        } catch {
            // The alert that says why.
            try? flush()
            throw error
        }
    }

    /// Waits for room at most that many milliseconds, then the peer is taken to be gone.
    func send(_ plaintext: [UInt8], wait: CInt = 5000) throws {
        var rest = plaintext[...]
        while !rest.isEmpty {
            let piece = Array(rest.prefix(TLSEngine.maximumPlaintext))
            rest = rest.dropFirst(piece.count)
            try piece.withUnsafeBytes { try engine.writePlaintext($0) }
            try flush(wait: wait)
        }
    }

    func send(_ message: ControlMessage, channel: UInt16 = 0) throws {
        try send(Self.frames(message.type, message.encode(), channel: channel))
    }

    /// What has come until now, at most `wait` milliseconds of silence later. Throws at the end.
    func receive(wait: CInt = 0) throws -> [UInt8] {
        var received: [UInt8] = []
        // What came with the end of the handshake is inside already.
        repeat {
            while case .bytes(let count) = try buffer.withUnsafeMutableBytes({ try engine.readPlaintext(into: $0) }) {
                received += buffer.prefix(count)
            }
        } while try more(after: received, wait: wait)
        return received
    }

    /// The end is for the next call, where something has come before it.
    private func more(after received: [UInt8], wait: CInt) throws -> Bool {
        if received.isEmpty { return try takeCiphertext(wait: wait) }
        return (try? takeCiphertext(wait: 0)) ?? false
    }

    /// The next message, of a connection on which `receive` is not used.
    func nextMessage(within limit: Int64 = 30_000) throws -> ControlMessage {
        let end = MonotonicClock.now() + .milliseconds(limit)
        while messages.isEmpty {
            guard MonotonicClock.now() < end else { throw Gone() }
            let bytes = try receive(wait: 100)
            try bytes.withUnsafeBytes { bytes in
                try decoder.consume(bytes) { chunk throws(GantryError) in
                    try receiver.consume(chunk) { message, _ in messages.append(message) }
                }
            }
        }
        return messages.removeFirst()
    }

    /// What both ends of a pairing on this connection have in common.
    func pairingExporter() throws -> [UInt8] {
        try engine.exportKeyingMaterial(label: PairingLimits.exporterLabel, count: PairingLimits.exporterSize)
    }

    /// Whether the other end closes the connection within that many milliseconds.
    ///
    /// - Parameter alive: says something now and then, so that silence is not the reason.
    func isClosed(within limit: Int64, alive: Bool = false) -> Bool {
        let end = MonotonicClock.now() + .milliseconds(limit)
        while MonotonicClock.now() < end {
            do {
                _ = try receive(wait: 50)
                if alive { try send(.stats(Stats())) }
            } catch {
                return true
            }
        }
        return false
    }

    /// The message cut into frames, as a peer in order does.
    static func frames(
        _ type: MessageType, _ payload: [UInt8], channel: UInt16 = 0, flags: FrameFlags = []
    ) -> [UInt8] {
        var writer = FragmentWriter(type: type, flags: flags, channel: channel, count: payload.count)
        var bytes: [UInt8] = []
        while let fragment = writer.next() { bytes += fragment.header.bytes + payload[fragment.range] }
        return bytes
    }

    static func media(
        _ type: MessageType, _ payload: [UInt8], channel: UInt16, header: MediaHeader
    ) -> [UInt8] {
        var prefix = [UInt8](repeating: 0, count: MediaPrefix.size)
        _ = prefix.withUnsafeMutableBytes { MediaPrefix(header).write(to: $0) }
        return frames(type, prefix + payload, channel: channel, flags: header.isKey ? .key : [])
    }

    // MARK: TLS

    private func flush(wait: CInt = 5000) throws {
        var bytes = [UInt8](repeating: 0, count: 32 * 1024)
        while true {
            let count = bytes.withUnsafeMutableBytes { engine.drainCiphertext(into: $0) }
            if count == 0 { return }
            let allowed = min(count, budget ?? count)
            try write(bytes[..<allowed], wait: wait)
            budget = budget.map { $0 - allowed }
            if allowed < count {
                link.close()
                throw Gone()
            }
        }
    }

    private func write(_ bytes: ArraySlice<UInt8>, wait: CInt) throws {
        var rest = Array(bytes)
        while !rest.isEmpty {
            switch try rest.withUnsafeBytes({ try link.write($0) }) {
            case .bytes(let count):
                written += count
                rest.removeFirst(count)
            case .wouldBlock: guard poll(POLLOUT, wait) else { throw Gone() }
            case .endOfFile: throw Gone()
            }
        }
    }

    /// False when nothing came.
    @discardableResult
    private func takeCiphertext(wait: CInt) throws -> Bool {
        guard poll(POLLIN, wait) else { return false }
        switch try buffer.withUnsafeMutableBytes({ try link.read(into: $0) }) {
        case .bytes(let count):
            try buffer.withUnsafeBytes { try engine.receive(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            return true
        case .wouldBlock: return false
        case .endOfFile: throw Gone()
        }
    }

    private func poll(_ event: CInt, _ milliseconds: CInt) -> Bool {
        var waiting = pollfd(fd: link.pollDescriptor, events: Int16(event), revents: 0)
        return Glibc.poll(&waiting, 1, milliseconds) > 0
    }
}
