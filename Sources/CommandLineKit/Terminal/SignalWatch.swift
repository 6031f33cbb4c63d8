package import GantryCore
import GantryPlatform
import Glibc

/// Turns SIGINT, SIGTERM and SIGHUP (the terminal is gone) into a call, so that a tool ends in good order: recordings closed, peers told.
///
/// The first signal calls back; a second one ends the process at once, as if nobody watched. Kept for the life of the
/// process as a rule; `stop` puts the former handlers back.
package final class SignalWatch: @unchecked Sendable {  // `thread` is set once in `init`, before it is shared.
    private let stopping: EventDescriptor
    private var thread: NamedThread?

    /// - Parameters:
    ///   - signals: numbers of `signal.h`, of those that end a process.
    ///   - beforeDeath: called when a second signal ends the process at once: for the terminal, and for files that
    ///     must not stay. Must not wait for others.
    ///   - received: called with the signal on the watch's own thread; must not block for long, a second signal is
    ///     only seen afterwards.
    package init(
        _ signals: [CInt] = [SIGINT, SIGTERM, SIGHUP], beforeDeath: @escaping @Sendable () -> Void = {},
        received: @escaping @Sendable (CInt) -> Void
    ) throws(GantryError) {
        let stopping = try EventDescriptor()
        self.stopping = stopping
        // Made here, so that no signal is lost from the return of `init` on.
        let pipe = try SignalPipe(signals)
        thread = try NamedThread("signals") {
            var hasCalled = false
            pipe.forEach(until: stopping) { number in
                guard hasCalled else {
                    hasCalled = true
                    received(number)
                    return true
                }
                beforeDeath()
                signal(number, SIG_DFL)
                kill(getpid(), number)
                return false
            }
        }
    }

    /// Ends the watching. Not from the callback.
    package func stop() {
        stopping.signal()
        thread?.join()
    }

    /// Lets writing to a pipe or socket that nobody reads fail with EPIPE instead of ending the process. Every tool
    /// calls it first.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }

    deinit { stopping.signal() }
}
