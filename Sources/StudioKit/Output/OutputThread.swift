import GantryCore
import GantryMedia
import GantryPlatform

/// A queue with a thread behind it, so that a slow disk or pipe never holds up decoding or the connection.
///
/// The body takes from the queue until that is closed and empty, then finishes its work. When it throws, the failure is
/// told once and everything that comes later is let go.
final class OutputThread<Item: Sendable>: @unchecked Sendable {  // `thread` is set once, before anyone else has us.
    /// How long the reader of a pipe may take nothing, at the end, before it is given up.
    private static var patience: MediaDuration { .seconds(5) }

    let queue: BoundedQueue<Item>
    private let path: String
    private let failed: @Sendable (GantryError) -> Void
    private let end = OutputEnd()
    private var thread: NamedThread?

    /// - Parameter path: what the body writes to; "-" is standard output.
    init(
        _ name: String, path: String, capacity: Int, failed: @escaping @Sendable (GantryError) -> Void,
        body: @escaping @Sendable (BoundedQueue<Item>) throws(GantryError) -> Void
    ) throws(GantryError) {
        let queue = BoundedQueue<Item>(capacity: capacity)
        self.queue = queue
        self.path = path
        self.failed = failed
        let end = end
        thread = try NamedThread(name) {
            defer { end.reach() }
            do throws(GantryError) {
                try body(queue)
            } catch {
                queue.close()
                queue.removeAll()
                failed(error)
            }
        }
    }

    /// Nothing will come any more: an output that no session ever fed must not leave a thread behind.
    deinit { queue.close() }

    /// Nothing more will come; does not wait.
    func beginEnd() {
        queue.close()
        end.begin(waiting: queue.countInside)
    }

    /// Lets the body work off what waits, and waits for its end.
    ///
    /// A file gets all the time that its disk needs. A pipe whose reader stands still (or never came) is given up: the
    /// thread is left behind in its write, and the failure is told.
    func finish() {
        beginEnd()
        if !OutputPath.isRegularFile(path) {
            var (time, left) = end.begin()
            while !end.wait(until: time + Self.patience) {
                let now = queue.countInside
                guard now < left else { return giveUp() }
                time = MonotonicClock.now()
                left = now
            }
        }
        thread?.join()
    }

    private func giveUp() {
        guard end.giveUp() else { return }
        queue.removeAll()
        let name = path == "-" ? "standard output" : path
        failed(
            GantryError(
                .outputClosed,
                "Nobody reads \(name): the rest of it is lost. Start the program that reads it first, and let it run."))
    }
}
