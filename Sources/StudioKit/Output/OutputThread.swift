import GantryCore
import GantryPlatform

/// A queue with a thread behind it, so that a slow disk or pipe never holds up decoding or the connection.
///
/// The body takes from the queue until that is closed and empty, then finishes its work. When it throws, the failure is
/// told once and everything that comes later is let go.
final class OutputThread<Item: Sendable>: @unchecked Sendable {  // `thread` is set once, before anyone else has us.
    let queue: BoundedQueue<Item>
    private var thread: NamedThread?

    init(
        _ name: String, capacity: Int, failed: @escaping @Sendable (GantryError) -> Void,
        body: @escaping @Sendable (BoundedQueue<Item>) throws(GantryError) -> Void
    ) throws(GantryError) {
        let queue = BoundedQueue<Item>(capacity: capacity)
        self.queue = queue
        thread = try NamedThread(name) {
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

    /// Lets the body work off what waits, and waits for its end.
    func finish() {
        queue.close()
        thread?.join()
    }
}
