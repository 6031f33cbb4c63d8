/// Tells events to any number of readers, each by a stream of its own, which keeps the newest so many for a reader that is
/// slow. All readers see the same order. Any thread.
package final class EventStreams<Event: Sendable>: @unchecked Sendable {
    // All state is guarded by `lock`. It is never held while a stream is called: the runtime calls `onTermination` under a
    // lock of the reader's task, and needs that one to hand an event to it.
    private let lock = Lock()
    /// Held while an event is handed on.
    private let order = Lock()
    private let capacity: Int
    private var readers: [UInt64: AsyncStream<Event>.Continuation] = [:]
    private var nextID: UInt64 = 0
    private var isFinished = false

    package init(capacity: Int) { self.capacity = max(1, capacity) }

    deinit { finish() }

    /// What is told from now on, after `events`. Letting go of the stream, or cancelling its reader, ends it. After `finish` it
    /// is over behind these.
    package func makeStream(after events: [Event] = []) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(capacity))
        let id = lock.withLock { () -> UInt64 in
            nextID &+= 1
            return nextID
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.lock.withLock { self?.readers.removeValue(forKey: id) }
        }
        order.withLock {
            for event in events { continuation.yield(event) }
            let isOpen = lock.withLock { () -> Bool in
                if !isFinished { readers[id] = continuation }
                return !isFinished
            }
            if !isOpen { continuation.finish() }
        }
        return stream
    }

    /// A reader runs on its own executor, never here.
    package func yield(_ event: Event) {
        order.withLock {
            for reader in lock.withLock({ Array(readers.values) }) { reader.yield(event) }
        }
    }

    /// Ends all streams, after what they hold.
    package func finish() {
        let open = lock.withLock { () -> [AsyncStream<Event>.Continuation] in
            isFinished = true
            defer { readers = [:] }
            return Array(readers.values)
        }
        for reader in open { reader.finish() }
    }
}
