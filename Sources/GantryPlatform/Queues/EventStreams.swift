/// Tells events to any number of readers, each by a stream of its own, which keeps the newest so many for a reader that is
/// slow. All readers see the same order. Any thread.
package final class EventStreams<Event: Sendable>: @unchecked Sendable {  // All state is guarded by `lock`.
    private let lock = Lock()
    private let capacity: Int
    private var readers: [UInt64: AsyncStream<Event>.Continuation] = [:]
    private var nextID: UInt64 = 0
    private var isFinished = false

    package init(capacity: Int) { self.capacity = max(1, capacity) }

    deinit { finish() }

    /// What is told from now on. Letting go of the stream, or cancelling its reader, ends it.
    package func makeStream() -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Event.self, bufferingPolicy: .bufferingNewest(capacity))
        let id = lock.withLock { () -> UInt64? in
            if isFinished { return nil }
            nextID &+= 1
            readers[nextID] = continuation
            return nextID
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.lock.withLock { self?.readers.removeValue(forKey: id) }
        }
        return stream
    }

    /// Under the lock, so that the order is one for all; a reader runs on its own executor, never here.
    package func yield(_ event: Event) {
        lock.withLock {
            for reader in readers.values { reader.yield(event) }
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
