import GantryCore
import GantryPlatform

/// A session without media that ends as soon as the producer has let us in: to see that a connection works, or to say
/// goodbye for good.
final class BriefSession: @unchecked Sendable {  // `result` is guarded by `condition`.
    private let session: StudioSession
    private let limit: MediaDuration
    private let condition = Condition()
    private var result: Result<Void, GantryError>?

    /// - Parameters:
    ///   - device: dialled where it was met last.
    ///   - searches: looks for it on the network too; without it, only where no address is known.
    ///   - limit: how long it may take.
    init(_ context: StudioSession.Context, device: PairedDevice, searches: Bool, limit: MediaDuration) {
        var configuration = StudioSessionConfiguration()
        configuration.wantsVideo = false
        configuration.wantsAudio = false
        configuration.wantsData = false
        let last = searches ? nil : device.lastAddress.flatMap { Endpoint(text: $0) }
        let target = last.map { ProducerTarget(endpoint: $0, keyID: device.keyID, name: device.displayedName) }
        var context = context
        // It says nothing of how media come.
        context.service = nil
        session = StudioSession(
            context: context, target: target ?? ProducerTarget(device), configuration: configuration)
        self.limit = limit
    }

    /// Blocks until the producer has let us in and the goodbye has been said, or until the limit.
    ///
    /// - Throws: why it has not let us in.
    func run(goodbye: Bye.Reason) throws(GantryError) {
        let listening = Task.detached { [self] in
            for await event in session.events { note(event) }
        }
        defer { listening.cancel() }
        try session.start()
        let deadline = MonotonicClock.now() + limit
        let result = condition.withLock {
            while self.result == nil, condition.wait(until: deadline) {}
            return self.result
        }
        session.close(goodbye)
        session.waitUntilEnded()
        guard let result else { throw GantryError(.timeout, "The producer does not answer.") }
        try result.get()
    }

    private func note(_ event: StudioEvent) {
        let new: Result<Void, GantryError>? =
            switch event {
            case .connected: .success(())
            case .ended(let error): .failure(error ?? GantryError(.peerLost, "The producer closed the connection."))
            default: nil
            }
        guard let new else { return }
        condition.withLock {
            if result == nil { result = new }
            condition.broadcast()
        }
    }
}
