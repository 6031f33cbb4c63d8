import GantryCore
import GantryPlatform
import Glibc
import Testing

@testable import CommandLineKit

/// Handlers belong to the whole process, so these run one after another.
@Suite(.serialized) struct SignalTests {
    @Test func callsBackOnceAndPutsHandlersBack() throws {
        let seen = BoundedQueue<CInt>(capacity: 4)
        let watch = try SignalWatch([SIGUSR1]) { seen.push($0) }
        kill(getpid(), SIGUSR1)
        #expect(seen.pop(until: MonotonicClock.now() + .seconds(5)) == SIGUSR1)
        watch.stop()
        var action = sigaction()
        sigaction(SIGUSR1, nil, &action)
        #expect(unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0, "SIG_DFL is back")
    }

    @Test func secondSignalEndsTheProcess() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            let seen = BoundedQueue<CInt>(capacity: 4)
            let watch = try SignalWatch { seen.push($0) }
            kill(getpid(), SIGINT)
            _ = seen.pop(until: MonotonicClock.now() + .seconds(5))
            kill(getpid(), SIGINT)
            // Ends here; were it not to, the exit test would see a normal end after this.
            _ = seen.pop(until: MonotonicClock.now() + .seconds(5))
            watch.stop()
        }
    }

    @Test func firstSignalLetsTheToolEndInGoodOrder() async {
        await #expect(processExitsWith: .exitCode(7)) {
            for signal in [SIGTERM, SIGHUP, SIGINT] {
                let seen = BoundedQueue<CInt>(capacity: 4)
                let watch = try SignalWatch { seen.push($0) }
                kill(getpid(), signal)
                let number = seen.pop(until: MonotonicClock.now() + .seconds(5))
                watch.stop()
                if number != signal { exit(8) }
            }
            exit(7)
        }
    }

    @Test func severalPipesTakeTheirOwnSignalsAsOftenAsTheyCome() throws {
        let first = try SignalPipe([SIGUSR1, SIGUSR2])
        let second = try SignalPipe([SIGWINCH, SIGUSR2])
        for _ in 0..<3 {
            kill(getpid(), SIGUSR1)
            kill(getpid(), SIGWINCH)
            kill(getpid(), SIGUSR2)
            #expect(Self.next(first) == SIGUSR1)
            #expect(Set([Self.next(second), Self.next(second)]) == [SIGWINCH, SIGUSR2], "the newest pipe")
            #expect(first.next() == nil && second.next() == nil)
        }
        second.restore()
        kill(getpid(), SIGUSR2)
        #expect(Self.next(first) == SIGUSR2, "the pipe before is back")
        first.restore()
    }

    @Test func whatNohupIgnoresStaysIgnored() throws {
        let former = signal(SIGHUP, SIG_IGN)
        defer { _ = signal(SIGHUP, former) }
        let pipe = try SignalPipe([SIGHUP, SIGUSR1])
        kill(getpid(), SIGHUP)
        kill(getpid(), SIGUSR1)
        #expect(Self.next(pipe) == SIGUSR1)
        #expect(pipe.next() == nil)
    }

    @Test func beforeDeathIsCalledByTheSecondSignal() async {
        await #expect(processExitsWith: .exitCode(9)) {
            let seen = BoundedQueue<CInt>(capacity: 4)
            let watch = try SignalWatch([SIGHUP, SIGQUIT], beforeDeath: { exit(9) }, received: { seen.push($0) })
            kill(getpid(), SIGQUIT)
            _ = seen.pop(until: MonotonicClock.now() + .seconds(5))
            kill(getpid(), SIGHUP)
            _ = seen.pop(until: MonotonicClock.now() + .seconds(5))
            watch.stop()
        }
    }

    /// Signals to the process may be taken by any thread: the byte can be a moment later than `kill`.
    private static func next(_ pipe: SignalPipe) -> CInt? {
        var waiting = pollfd(fd: pipe.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, 5000)
        return pipe.next()
    }
}
