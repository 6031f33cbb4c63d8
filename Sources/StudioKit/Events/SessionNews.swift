import GantryCore
import GantryPlatform

/// Tells what happens in a session, in order, to any number of readers and to the delegate. Any thread.
final class SessionNews: @unchecked Sendable {  // All state is guarded by `lock`.
    /// Events that are kept for each reader that is slow, and for one that comes later.
    static let capacity = 64

    private let lock = Lock()
    private var history: [StudioEvent] = []
    private let eventStreams = EventStreams<StudioEvent>(capacity: SessionNews.capacity)
    private var isOver = false
    private var progress: SessionProgress
    private var toldPlayer: PlayerState = []
    private var list = StreamList()
    private var delivery: DelegateDelivery?

    init(wanted: MediaSelection) { progress = SessionProgress(wanted: wanted) }

    deinit {
        eventStreams.finish()
        delivery?.finish()
    }

    var state: SessionState { lock.withLock { progress.state } }
    var player: PlayerState { lock.withLock { progress.player } }
    var streams: [StreamInfo] { lock.withLock { list.streams } }

    /// A stream of its own, from the first event on (of many, from the newest 64 on) to `ended`.
    func events() -> AsyncStream<StudioEvent> {
        lock.withLock { eventStreams.makeStream(after: history) }
    }

    /// Everything from now on goes to `new`, too.
    func deliver(to new: DelegateDelivery?) {
        let over = lock.withLock { () -> DelegateDelivery? in
            if isOver { return new }
            defer { delivery = new }
            return delivery
        }
        over?.finish()
    }

    // MARK: What happens

    /// - Parameter isStarted: false: it has come to nothing.
    func started(_ isStarted: Bool) { lock.withLock { progress.started(isStarted) } }

    /// The first picture or sound of a connection.
    func mediaCame() {
        lock.withLock {
            progress.mediaCame()
            tellPlayer()
        }
    }

    func tell(_ event: StudioEvent) {
        lock.withLock {
            guard !isOver else { return }
            progress.note(event)
            yield(event)
            if case .ended = event { return }
            tellPlayer()
        }
    }

    func streamsChanged(_ change: (inout StreamList) -> StreamChange?) {
        lock.withLock {
            if let change = change(&list), !isOver { yield(.streams(change)) }
        }
    }

    /// After `ended`. The delegate still hears of that: until then `session` is kept.
    func finish(_ session: StudioSession) {
        let delivery = lock.withLock {
            defer { self.delivery = nil }
            isOver = true
            return self.delivery
        }
        eventStreams.finish()
        delivery?.finish(keeping: session)
    }

    /// Under the lock.
    private func tellPlayer() {
        guard progress.player != toldPlayer, !isOver else { return }
        toldPlayer = progress.player
        yield(.player(toldPlayer))
    }

    /// Under the lock: readers get everything in one order.
    private func yield(_ event: StudioEvent) {
        if history.count == Self.capacity { history.removeFirst() }
        history.append(event)
        eventStreams.yield(event)
        delivery?.queue.pushDroppingOldest(event)
    }
}
