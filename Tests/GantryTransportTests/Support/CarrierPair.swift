import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Testing

/// What the same scenario runs over.
enum Medium: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case socketPair, loopback
    var testDescription: String { rawValue }

    /// Two connected ends: the one that dialled, and the one that accepted.
    func links() async throws -> (SocketLink, SocketLink) {
        switch self {
        case .socketPair: return try SocketLink.pair()
        case .loopback: return try await onThread { try Self.loopbackLinks() }
        }
    }

    private static func loopbackLinks() throws -> (SocketLink, SocketLink) {
        let listener = try TCPListener(port: 0)
        let accepted = Watched<[SocketLink]>([])
        try listener.start(threadName: "test-listen") { link, _ in accepted.change { $0.append(link) } }
        defer { listener.stop() }
        let dialled = try TCPDialer.dial(
            Endpoint(host: "127.0.0.1", port: listener.port), until: MonotonicClock.now() + patience,
            cancel: try EventDescriptor())
        accepted.waitBlocking { !$0.isEmpty }
        guard let other = accepted.value.first else { throw GantryError(.timeout, "Nothing was accepted.") }
        return (dialled, other)
    }
}

/// Two carriers that are connected with each other, each with a handler that notes what happens.
struct CarrierPair {
    static let alpn = "gantry/1"

    var clientIdentity: Identity
    var serverIdentity: Identity
    let clientLink: SocketLink
    let serverLink: SocketLink
    let client: SecureCarrier
    let server: SecureCarrier
    let clientEvents = RecordingHandler()
    let serverEvents = RecordingHandler()

    init(
        _ medium: Medium, clientPhase: FrameDecoder.Phase = .session, serverPhase: FrameDecoder.Phase = .session,
        clientALPN: String = alpn, clientTrusts: TrustDecision = .trusted, serverTrusts: TrustDecision = .trusted,
        exporterLabel: String? = nil
    ) async throws {
        (clientLink, serverLink) = try await medium.links()
        clientIdentity = try Identity()
        serverIdentity = try Identity()
        client = try SecureCarrier(
            link: clientLink, identity: clientIdentity,
            configuration: .init(
                role: .client, alpn: clientALPN, exporterLabel: exporterLabel, handshakeLimit: patience,
                phase: clientPhase, threadName: "test-client")
        ) { _ in clientTrusts }
        server = try SecureCarrier(
            link: serverLink, identity: serverIdentity,
            configuration: .init(
                role: .server, alpn: Self.alpn, exporterLabel: exporterLabel, handshakeLimit: patience,
                phase: serverPhase, threadName: "test-server")
        ) { _ in serverTrusts }
    }

    func start() throws {
        try server.start(handler: serverEvents)
        try client.start(handler: clientEvents)
    }

    /// Starts both and waits until both know each other.
    func connect() async throws -> Bool {
        try start()
        let serverReady = try await serverEvents.state.wait { $0.peer != nil || $0.isClosed }
        let clientReady = try await clientEvents.state.wait { $0.peer != nil || $0.isClosed }
        return serverReady && clientReady && serverEvents.state.value.peer != nil
            && clientEvents.state.value.peer != nil
    }

    /// Ends both and waits for their threads.
    func finish() async throws {
        client.close(afterSending: false)
        server.close(afterSending: false)
        let (client, server) = (client, server)
        try await onThread {
            client.join()
            server.join()
        }
    }
}

extension SecureCarrier {
    /// The carrier of a test alone: it knows nobody else, and its handler notes what happens.
    static func make(
        _ role: TLSEngine.Role, over link: any Link, limit: MediaDuration = patience,
        phase: FrameDecoder.Phase = .session
    ) throws -> SecureCarrier {
        try SecureCarrier(
            link: link, identity: try Identity(),
            configuration: .init(
                role: role, alpn: CarrierPair.alpn, handshakeLimit: limit, phase: phase, threadName: "test-alone")
        ) { _ in .trusted }
    }
}
