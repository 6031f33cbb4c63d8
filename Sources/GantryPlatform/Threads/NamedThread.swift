import CLinux
package import GantryCore
import Glibc

/// A thread with a name that `top -H` and debuggers show (at most 15 bytes), which must be joined.
///
/// The body runs once on the new thread. Stopping it is its owner's business: wake what it blocks on, then `join()`.
package final class NamedThread: @unchecked Sendable {  // What varies is guarded by `state`.
    private let state = Condition()
    private var thread: pthread_t?
    private var isJoining = false
    private var isJoined = false
    private let name: String
    private let urgency: ThreadUrgency
    /// Let go when it has run: what it captures does not live as long as this object.
    private var body: (@Sendable () -> Void)?

    /// Starts the thread.
    ///
    /// - Parameter urgency: what `MediaPriority` gives it, where that has begun.
    /// - Throws: `general` when the system gives no more threads.
    package init(
        _ name: String, urgency: ThreadUrgency = .normal, _ body: @escaping @Sendable () -> Void
    ) throws(GantryError) {
        self.name = String(name.utf8.prefix(15)) ?? "gantry"
        self.urgency = urgency
        self.body = body
        var handle = pthread_t()
        let box = Unmanaged.passRetained(self)
        let status = pthread_create(&handle, nil, runNamedThread, box.toOpaque())
        guard status == 0 else {
            box.release()
            throw GantryError(
                .general, "No thread could be started for \(name). Close other programs and try again.",
                cause: SystemError(errno: status, during: "pthread_create").description)
        }
        state.withLock { thread = handle }
    }

    fileprivate func run() {
        pthread_setname_np(pthread_self(), name)
        MediaPriority.apply(urgency)
        let body = state.withLock { () -> (@Sendable () -> Void)? in
            defer { self.body = nil }
            return self.body
        }
        body?()
    }

    /// Waits until the body has returned, whoever else waits as well. On the thread itself it does nothing.
    package func join() {
        let handle = state.withLock { () -> pthread_t? in
            guard !isJoined, let thread, pthread_equal(thread, pthread_self()) == 0 else { return nil }
            if !isJoining {
                isJoining = true
                return thread
            }
            while !isJoined { state.wait() }
            return nil
        }
        guard let handle else { return }
        pthread_join(handle, nil)
        state.withLock {
            isJoined = true
            state.broadcast()
        }
    }

    deinit {
        // Never joined: let the system clean up at the thread's end.
        if let thread, !isJoining { pthread_detach(thread) }
    }
}

private func runNamedThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<NamedThread>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
