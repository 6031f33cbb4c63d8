import CLinux
package import GantryCore
import Glibc

/// A thread with a name that `top -H` and debuggers show (at most 15 bytes), which must be joined.
///
/// The body runs once on the new thread. Stopping it is its owner's business: wake what it blocks on, then `join()`.
package final class NamedThread: @unchecked Sendable {  // `thread` and `body` are guarded by `lock`.
    private let lock = Lock()
    private var thread: pthread_t?
    private let name: String
    /// Let go when it has run: what it captures does not live as long as this object.
    private var body: (@Sendable () -> Void)?

    /// Starts the thread.
    ///
    /// - Throws: `general` when the system gives no more threads.
    package init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(GantryError) {
        self.name = String(name.utf8.prefix(15)) ?? "gantry"
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
        lock.withLock { thread = handle }
    }

    fileprivate func run() {
        pthread_setname_np(pthread_self(), name)
        let body = lock.withLock { () -> (@Sendable () -> Void)? in
            defer { self.body = nil }
            return self.body
        }
        body?()
    }

    /// Waits until the body has returned. Calling it again, or on the thread itself, does nothing.
    package func join() {
        let handle = lock.withLock { () -> pthread_t? in
            defer { if thread.map({ pthread_equal($0, pthread_self()) == 0 }) ?? false { thread = nil } }
            return thread
        }
        guard let handle, pthread_equal(handle, pthread_self()) == 0 else { return }
        pthread_join(handle, nil)
    }

    deinit {
        // Never joined: let the system clean up at the thread's end.
        if let thread { pthread_detach(thread) }
    }
}

private func runNamedThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<NamedThread>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
