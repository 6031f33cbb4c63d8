import GantryCore
import GantryPlatform
import Glibc
import Synchronization

/// Takes signals off the process and makes them bytes in a pipe, so that a thread can wait for them in `poll`.
///
/// A handler (not a blocked mask with signalfd) since signals would have to be blocked in every thread of the process,
/// those of libraries included. Several pipes may be there at once: each signal goes to the newest pipe that asked for
/// it, as often as it comes; `restore` puts back the pipe before, and the handler that was there.
final class SignalPipe: @unchecked Sendable {  // `isRestored` is guarded by `lock`; the rest is set in `init`.
    private struct Previous {
        let signal: CInt
        let action: sigaction
        let target: CInt
    }

    private let lock = Lock()
    private var isRestored = false
    private let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor
    private let previous: [Previous]

    /// - Parameter signals: numbers of `signal.h`. SIGHUP stays ignored where it was (nohup(1)).
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
        var previous: [Previous] = []
        for signal in signals where SignalTargets.numbers ~= signal {
            // The target first: the handler may run at once.
            let target = signalTargets.exchange(signal, ends[1])
            var action = sigaction()
            action.__sigaction_handler.sa_handler = writeSignalToPipe
            action.sa_flags = CInt(SA_RESTART)
            var former = sigaction()
            let status = sigaction(signal, nil, &former)
            if status == 0, !(signal == SIGHUP && isIgnoring(former)), sigaction(signal, &action, nil) == 0 {
                previous.append(Previous(signal: signal, action: former, target: target))
            } else {
                _ = signalTargets.exchange(signal, target)
            }
        }
        self.previous = previous
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
            for previous in previous {
                withUnsafePointer(to: previous.action) { _ = sigaction(previous.signal, $0, nil) }
                // Only if no newer pipe took over in between.
                signalTargets.replace(previous.signal, writeEnd.rawValue, by: previous.target)
            }
        }
    }

    /// Lets `signal` do to the process what it does without a handler, and returns when the process goes on: for
    /// SIGTSTP, after the terminal was put in order.
    func performDefault(_ signal: CInt) {
        var standard = sigaction()
        standard.__sigaction_handler.sa_handler = SIG_DFL
        var own = sigaction()
        guard sigaction(signal, &standard, &own) == 0 else { return }
        Self.unblock([signal])
        // To this thread: it does not return before the signal has acted. An orphaned process group is not stopped.
        raise(signal)
        sigaction(signal, &own, nil)
    }

    deinit { restore() }

    /// For `poll` with POLLIN.
    var descriptor: CInt { readEnd.rawValue }

    /// Hands on what comes, until `stopping` is signalled or `take` says false; then `restore` follows.
    func forEach(until stopping: EventDescriptor, _ take: (CInt) -> Bool) {
        defer { restore() }
        while true {
            var waiting = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, nfds_t(waiting.count), -1)
            while let signal = next() { if !take(signal) { return } }
            if waiting[1].revents != 0 { return }
        }
    }

    /// The oldest signal that came and was not taken yet. Does not wait.
    func next() -> CInt? {
        var byte: UInt8 = 0
        return Glibc.read(readEnd.rawValue, &byte, 1) == 1 ? CInt(byte) : nil
    }
}

/// For each signal the write end of the newest pipe that asked for it, or −1.
private let signalTargets = SignalTargets()

private struct SignalTargets: ~Copyable, Sendable {
    /// Linux has the signals 1…64 (signal(7)).
    static let numbers: ClosedRange<CInt> = 1...64
    private let ends = InlineArray<65, Atomic<CInt>> { _ in Atomic(-1) }

    /// In signal context as well; `signal` is one of `numbers`.
    func end(_ signal: CInt) -> CInt { ends[Int(signal)].load(ordering: .relaxed) }

    /// Returns the end before.
    func exchange(_ signal: CInt, _ end: CInt) -> CInt {
        ends[Int(signal)].exchange(end, ordering: .sequentiallyConsistent)
    }

    func replace(_ signal: CInt, _ end: CInt, by other: CInt) {
        _ = ends[Int(signal)].compareExchange(expected: end, desired: other, ordering: .sequentiallyConsistent)
    }
}

private func isIgnoring(_ action: sigaction) -> Bool {
    // SIG_IGN is 1 (bits/signum-generic.h); Swift cannot compare functions.
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
}

/// Runs in signal context: only async-signal-safe calls (signal-safety(7)).
private func writeSignalToPipe(_ signal: CInt) {
    let saved = errno
    var byte = UInt8(truncatingIfNeeded: signal)
    _ = write(signalTargets.end(signal), &byte, 1)
    errno = saved
}
