import GantryCore
import GantryPlatform
import Glibc
import Synchronization

/// Takes signals off the process and makes them bytes in a pipe, so that a thread can wait for them in `poll`.
///
/// A handler (not a blocked mask with signalfd) since signals would have to be blocked in every thread of the process,
/// those of libraries included. There is one target for all signals: the newest pipe; `restore` puts back the one
/// before, and the handlers that were there.
final class SignalPipe: @unchecked Sendable {  // `isRestored` is guarded by `lock`; the rest is set in `init`.
    private let lock = Lock()
    private var isRestored = false
    private let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor
    private let previousTarget: CInt
    private let previousActions: [(signal: CInt, action: sigaction)]

    /// - Throws: `general` when no more files can be opened.
    init(_ signals: [CInt]) throws(GantryError) {
        var ends: [CInt] = [-1, -1]
        do throws(SystemError) {
            try syscall("pipe") { pipe(&ends) }
        } catch {
            throw GantryError(
                .general, "No more files can be opened. Raise the limit with: ulimit -n 4096", cause: error.description)
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            // Non-blocking: a handler must not wait, and a reader asks poll first.
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        readEnd = FileDescriptor(takingOwnership: ends[0])
        writeEnd = FileDescriptor(takingOwnership: ends[1])
        previousTarget = signalTarget.exchange(ends[1], ordering: .sequentiallyConsistent)
        var actions: [(CInt, sigaction)] = []
        for signal in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = writeSignalToPipe
            action.sa_flags = CInt(SA_RESTART)
            var previous = sigaction()
            if sigaction(signal, &action, &previous) == 0 { actions.append((signal, previous)) }
        }
        previousActions = actions
        Self.unblock(signals)
    }

    /// A program that starts us from a thread with blocked signals (Dispatch has such threads) hands the mask down:
    /// Ctrl-C and SIGTERM would never come. One thread that takes them is enough, the caller's.
    private static func unblock(_ signals: [CInt]) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    /// Puts back the handlers and the target that were there before. Again: nothing.
    func restore() {
        lock.withLock {
            guard !isRestored else { return }
            isRestored = true
            for previous in previousActions {
                withUnsafePointer(to: previous.action) { _ = sigaction(previous.signal, $0, nil) }
            }
            // Only if no newer pipe took over in between.
            _ = signalTarget.compareExchange(
                expected: writeEnd.rawValue, desired: previousTarget, ordering: .sequentiallyConsistent)
        }
    }

    deinit { restore() }

    /// For `poll` with POLLIN.
    var descriptor: CInt { readEnd.rawValue }

    /// The oldest signal that came and was not taken yet. Does not wait.
    func next() -> CInt? {
        var byte: UInt8 = 0
        return Glibc.read(readEnd.rawValue, &byte, 1) == 1 ? CInt(byte) : nil
    }
}

/// The write end of the newest pipe, or −1.
private let signalTarget = Atomic<CInt>(-1)

/// Runs in signal context: only async-signal-safe calls (signal-safety(7)).
private func writeSignalToPipe(_ signal: CInt) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = write(signalTarget.load(ordering: .relaxed), &byte, 1)
    errno = saved
}
