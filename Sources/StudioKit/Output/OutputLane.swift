import GantryCore
import GantryPlatform

/// A thread and a short queue for an output of the application, which may block for as long as it likes: it holds up nobody.
/// Calls come from one thread at a time.
final class OutputLane<Item: Sendable>: @unchecked Sendable {  // `thread` is guarded by `lock`.
    /// How long the session's end waits for an output that does not come back.
    private static var patience: MediaDuration { .seconds(5) }

    let queue: BoundedQueue<Item>
    private let name: String
    private let deliver: @Sendable (Item) -> Void
    private let finish: @Sendable () -> Void
    private let end = OutputEnd()
    private let lock = Lock()
    private var thread: NamedThread?

    /// - Parameters:
    ///   - deliver: one item after the other, on the lane's thread.
    ///   - finish: the last call.
    init(
        _ name: String, capacity: Int, deliver: @escaping @Sendable (Item) -> Void,
        finish: @escaping @Sendable () -> Void
    ) {
        queue = BoundedQueue(capacity: capacity)
        self.name = name
        self.deliver = deliver
        self.finish = finish
    }

    /// What a session that was never ended leaves behind ends here.
    deinit { queue.close() }

    /// Once it has started, nothing more.
    ///
    /// - Throws: `general` when the system gives no thread.
    func start() throws(GantryError) {
        guard lock.withLock({ self.thread == nil }) else { return }
        let (queue, deliver, finish, end) = (queue, deliver, finish, end)
        let thread = try NamedThread(name) {
            while let item = queue.pop() { deliver(item) }
            finish()
            end.reach()
        }
        lock.withLock { self.thread = thread }
    }

    /// Nothing more will come; does not wait.
    func beginEnd() {
        queue.close()
        end.begin()
    }

    /// Lets the output take what waits, and waits for its end: five seconds from `beginEnd` on. One that is not ready by then is left
    /// behind in its call, and what still waits for it is let go.
    func close() {
        beginEnd()
        guard let thread = lock.withLock({ thread }) else { return finish() }
        guard end.wait(until: end.begin().time + Self.patience) else {
            queue.removeAll()
            return Log.warning("An output (\(name)) is not ready after 5 s: it is left behind.")
        }
        thread.join()
    }
}
