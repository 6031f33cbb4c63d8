package import GantryCore
import Glibc

/// A thread that sits in `poll` until it is stopped.
package final class PollThread: @unchecked Sendable {  // `thread` is guarded by `lock`.
    private let stopping: EventDescriptor
    private let lock = Lock()
    private var thread: NamedThread?

    /// - Throws: `general` when no more files can be opened.
    package init() throws(GantryError) { stopping = try EventDescriptor() }

    /// Once.
    ///
    /// - Throws: `general` when the system gives no thread.
    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(GantryError) {
        let started = try NamedThread(name, body)
        lock.withLock { thread = started }
    }

    /// Ends the thread and waits for it; not from what it calls.
    package func stop() {
        stopping.signal()
        lock.withLock { thread }?.join()
    }

    /// For `poll` with POLLIN, on the thread: ready for good once it is to end.
    package var stopDescriptor: CInt { stopping.rawValue }

    /// On the thread: sleeps until there is something to read.
    ///
    /// - Parameters:
    ///   - descriptor: nil: there is none.
    ///   - timeout: milliseconds; -1: as long as it takes.
    /// - Returns: false when the thread is to end.
    package func wait(for descriptor: FileDescriptor?, timeout: CInt = -1) -> Bool {
        var waiting = (
            pollfd(fd: stopDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor?.rawValue ?? -1, events: Int16(POLLIN), revents: 0)
        )
        withUnsafeMutableBytes(of: &waiting) { bytes in
            _ = poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, timeout)
        }
        return waiting.0.revents == 0
    }
}
