import CommandLineKit
import GantryCore
import GantryPlatform
import Glibc
import Testing

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
            let seen = BoundedQueue<CInt>(capacity: 4)
            let watch = try SignalWatch { seen.push($0) }
            kill(getpid(), SIGTERM)
            let number = seen.pop(until: MonotonicClock.now() + .seconds(5))
            watch.stop()
            exit(number == SIGTERM ? 7 : 8)
        }
    }
}
