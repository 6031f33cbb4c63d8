import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit

/// A producer and a studio in this process, each with a state folder of its own, connected over loopback.
final class Stage: Sendable {
    let folder: TestFolder
    let producer: ProducerController
    let studio: StudioController
    /// What the producer has told so far.
    let events = Watched<[ProducerEvent]>([])
    private let listening: Task<Void, Never>

    /// Starts the producer on a free port.
    init(
        video: ProducerConfiguration.VideoSettings? = .init(), audio: ProducerConfiguration.AudioSettings? = .init(),
        producerState: String? = nil, port: UInt16 = 0, transport: MediaTransport = .auto,
        fieldOfUse: FieldOfUse = FieldOfUse()
    ) throws {
        Isolation.apply()
        folder = try TestFolder()
        var configuration = ProducerConfiguration(
            name: "Camera", port: port, stateDirectory: producerState ?? folder.file("producer"), video: video,
            audio: audio)
        configuration.transport = transport
        configuration.fieldOfUse = fieldOfUse
        producer = try ProducerController(configuration: configuration)
        studio = try StudioController(
            configuration: StudioConfiguration(name: "Studio", stateDirectory: folder.file("studio")))
        let stream = producer.events
        listening = Task.detached { [events] in
            for await event in stream { events.change { $0.append(event) } }
        }
        try producer.start()
    }

    deinit { listening.cancel() }

    func file(_ name: String) -> String { folder.file(name) }

    var endpoint: Endpoint { Endpoint(host: "127.0.0.1", port: producer.port ?? 1) }

    struct Pairing {
        let atProducer: PairedDevice
        let atStudio: PairedDevice
    }

    /// Pairs by the code, over loopback.
    @discardableResult
    func pair(with other: StudioController? = nil) async throws -> Pairing {
        let pairing = try (other ?? studio).beginPairing(address: "127.0.0.1")
        async let atStudio = onThread { try pairing.run() }
        let producer = producer
        do {
            let atProducer = try await onThread { try producer.pairStudio(withQRCodeData: pairing.code) }
            return Pairing(atProducer: atProducer, atStudio: try await atStudio)
        } catch {
            pairing.cancel()
            throw error
        }
    }

    /// Stops the producer, on a thread that may block.
    func stop() async throws {
        let producer = producer
        try await onThread { producer.stop() }
    }

    /// Opens a session with our producer, and waits until it is let in or ended.
    func connect(
        _ configuration: StudioSessionConfiguration = StudioSessionConfiguration(), from other: StudioController? = nil
    ) async throws -> SessionRun {
        let run = try SessionRun(
            (other ?? studio).makeSession(
                ProducerTarget(endpoint: endpoint, keyID: producer.keyID), configuration: configuration))
        _ = try await run.state.wait { $0.isConnected || $0.isEnded }
        return run
    }

    /// Waits until so many studios receive.
    func waitForReceivers(_ count: Int) async throws -> Bool {
        try await events.wait {
            $0.count {
                if case .connected = $0 { true } else { false }
            } >= count
        }
    }
}

/// A studio's session that runs, and what it has told.
final class SessionRun: Sendable {
    struct State: Sendable {
        var isConnected = false
        var name = ""
        var streams: [StreamInfo] = []
        var formats: [StreamFormat] = []
        var hasFrame = false
        /// True for each pause that was told, false for each end of one.
        var pauses: [Bool] = []
        /// What was stopped here after each change.
        var stops: [MediaSelection] = []
        var replays: [MediaDuration?] = []
        var changes: [StreamChange] = []
        var lostStreams: [StreamInfo] = []
        var players: [PlayerState] = []
        var rates: [VideoRate] = []
        var pictureStates: [VideoStatus] = []
        var decodingFailed: GantryError?
        var connections = 0
        /// Why each connection ended that was not the last one; nil for a goodbye.
        var losses: [GantryError?] = []
        var isEnded = false
        var error: GantryError?
    }

    let session: StudioSession
    let state = Watched(State())

    init(_ session: StudioSession) throws {
        self.session = session
        Task.detached { [state] in
            for await event in session.events { state.change { Self.note(event, &$0) } }
        }
        try session.start()
    }

    private static func note(_ event: StudioEvent, _ state: inout State) {
        switch event {
        case .connecting, .discoveryUnavailable, .paired: break
        case .streams(let change): state.changes.append(change)
        case .playbackStopped(let stream): state.lostStreams.append(stream)
        case .player(let player): state.players.append(player)
        case .connected(let name, _, let streams):
            state.isConnected = true
            state.connections += 1
            state.name = name
            state.streams = streams
        case .format(let format): state.formats.append(format)
        case .firstFrame: state.hasFrame = true
        case .paused: state.pauses.append(true)
        case .resumed: state.pauses.append(false)
        case .stoppedHere(let media): state.stops.append(media)
        case .replay(let behind): state.replays.append(behind)
        case .rate(let rate): state.rates.append(rate)
        case .videoState(let status): state.pictureStates.append(status)
        case .disconnected(let error): state.losses.append(error)
        case .decodingFailed(let error): state.decodingFailed = error
        case .ended(let error):
            state.isEnded = true
            state.error = error
        }
    }

    /// Waits for the end and for all outputs; gives the error.
    @discardableResult
    func end() async throws -> GantryError? {
        guard try await state.wait(until: { $0.isEnded }) else {
            throw GantryError(.timeout, "The session did not end.")
        }
        let session = session
        try await onThread { session.waitUntilEnded() }
        return state.value.error
    }

    /// Says goodbye, and waits.
    @discardableResult
    func close() async throws -> GantryError? {
        session.close()
        return try await end()
    }
}
