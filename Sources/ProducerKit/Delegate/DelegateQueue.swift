import GantryCore
import GantryPlatform

/// What the delegate is still to be told, and the thread that does it ("delegate"): it begins with the first thing to
/// tell, and ends when the queue is closed and empty. Any thread.
///
/// Nobody joins the thread: a delegate that blocks must not hold up whoever stops the producer.
final class DelegateQueue: @unchecked Sendable {  // All state is guarded by `condition`.
    /// As many as the stream of a reader keeps.
    private static let limit = 64

    private let condition = Condition()
    /// Nil: only the state is to be looked at.
    private var waiting: [ProducerEvent?] = []
    private var isOpen = false
    private var hasThread = false
    private let tell: @Sendable (ProducerEvent?) -> Void

    init(tell: @escaping @Sendable (ProducerEvent?) -> Void) {
        self.tell = tell
        waiting.reserveCapacity(Self.limit)
    }

    /// The thread stays for what comes next.
    func open() { condition.withLock { isOpen = true } }

    /// What waits is still told.
    func close() {
        condition.withLock {
            isOpen = false
            condition.broadcast()
        }
    }

    func post(_ event: ProducerEvent?) {
        let needsThread = condition.withLock {
            if waiting.count == Self.limit { waiting.removeFirst() }
            waiting.append(event)
            condition.broadcast()
            defer { hasThread = true }
            return !hasThread
        }
        guard needsThread else { return }
        do throws(GantryError) {
            _ = try NamedThread("delegate") { [self] in run() }
        } catch {
            condition.withLock { hasThread = false }
            Log.error("The delegate is not told: \(error)")
        }
    }

    private func run() {
        while let event = next() { tell(event) }
    }

    /// The outer nil: nothing more comes.
    private func next() -> ProducerEvent?? {
        condition.withLock {
            while waiting.isEmpty && isOpen { condition.wait() }
            guard waiting.isEmpty else { return .some(waiting.removeFirst()) }
            hasThread = false
            return nil
        }
    }
}
