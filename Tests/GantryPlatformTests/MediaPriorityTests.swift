import Foundation
import GantryCore
import GantryPlatform
import Glibc
import Testing

/// What the kernel says about threads. Each test is a process of its own: priority is the process's.
@Suite struct MediaPriorityTests {
    static let isRealTimePermitted = MediaPriority.permitted == .realtime

    /// Root in a container often may not.
    static let mayRaiseLimits: Bool = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? ""
        // CAP_SYS_RESOURCE of <linux/capability.h>.
        return (UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0) >> 24 & 1 == 1
    }()

    /// Policy, real-time priority and nice value of a new thread of this urgency.
    static func schedule(of urgency: ThreadUrgency) throws -> (policy: Int32, priority: Int32, nice: Int32) {
        let found = LatestSlot<(Int32, Int32, Int32)>()
        let thread = try NamedThread("measured", urgency: urgency) { found.put(Self.ownSchedule) }
        thread.join()
        return try #require(found.take())
    }

    static var ownSchedule: (Int32, Int32, Int32) {
        var parameters = sched_param()
        sched_getparam(0, &parameters)
        return (
            sched_getscheduler(0) & 0xFF, parameters.sched_priority,
            getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        )
    }

    @Test func nothingIsRaisedBeforeItBegins() async {
        await #expect(processExitsWith: .success) {
            for urgency in ThreadUrgency.allCases {
                let got = try MediaPriorityTests.schedule(of: urgency)
                guard got.policy == SCHED_OTHER, got.nice == 0 else { exit(1) }
            }
        }
    }

    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
    func threadsThatSleepAreRealTimeAndThoseThatComputeAreNot() async {
        await #expect(processExitsWith: .success) {
            MediaPriority.use(.realtime)
            for urgency in [ThreadUrgency.network, .picture, .sound] {
                let got = try MediaPriorityTests.schedule(of: urgency)
                guard got.policy == SCHED_RR, got.priority == urgency.realTime else { exit(1) }
            }
            for urgency in [ThreadUrgency.normal, .computing] {
                guard try MediaPriorityTests.schedule(of: urgency).policy == SCHED_OTHER else { exit(2) }
            }
        }
    }

    /// Threads of libraries and of Swift's pool are made by whichever thread needs them first.
    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
    func whatAThreadMakesIsNotRealTime() async {
        await #expect(processExitsWith: .success) {
            MediaPriority.use(.realtime)
            let inner = LatestSlot<(Int32, Int32, Int32)>()
            let outer = try NamedThread("outer", urgency: .sound) {
                var handle = pthread_t()
                let box = Unmanaged.passUnretained(inner).toOpaque()
                pthread_create(
                    &handle, nil,
                    { context in
                        guard let context else { return nil }
                        Unmanaged<LatestSlot<(Int32, Int32, Int32)>>.fromOpaque(context).takeUnretainedValue()
                            .put(MediaPriorityTests.ownSchedule)
                        return nil
                    }, box)
                pthread_join(handle, nil)
            }
            outer.join()
            guard let got = inner.take(), got.0 == SCHED_OTHER, got.2 == 0 else { exit(1) }
        }
    }

    /// An encoder's own threads have the nice value of the thread that opened it; a thread of another kind has not.
    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
    func aUsualThreadHasNothingOfTheOneThatMadeIt() async {
        await #expect(processExitsWith: .success) {
            MediaPriority.use(MediaPriority.permitted)
            let inner = LatestSlot<(Int32, Int32, Int32)>()
            let outer = try NamedThread("outer", urgency: .computing) {
                guard let made = try? NamedThread("inner", { inner.put(MediaPriorityTests.ownSchedule) }) else {
                    exit(2)
                }
                made.join()
            }
            outer.join()
            guard let got = inner.take(), got.2 == 0 else { exit(1) }
        }
    }

    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
    func itIsTakenFromAllThreads() async {
        await #expect(processExitsWith: .success) {
            MediaPriority.use(.realtime)
            let (began, go, after) = (LatestSlot<Int32>(), LatestSlot<Bool>(), LatestSlot<Int32>())
            let thread = try NamedThread("sleeper", urgency: .sound) {
                began.put(MediaPriorityTests.ownSchedule.0)
                _ = go.take()
                after.put(MediaPriorityTests.ownSchedule.0)
            }
            guard began.take() == SCHED_RR else { exit(1) }
            MediaPriority.endRealTime()
            go.put(true)
            thread.join()
            guard after.take() == SCHED_OTHER, MediaPriority.way == .normal,
                try MediaPriorityTests.schedule(of: .sound).policy == SCHED_OTHER
            else { exit(2) }
        }
    }

    /// As a user without rights.
    @Test(.enabled(if: geteuid() == 0, "needs root, to be somebody else"))
    func withoutTheRightNothingIsRaised() async {
        await #expect(processExitsWith: .success) {
            MediaPriorityTests.drop(realTime: 0, nice: 0)
            guard MediaPriority.permitted == .normal else { exit(1) }
            MediaPriority.use(.realtime)
            guard try MediaPriorityTests.schedule(of: .sound) == (SCHED_OTHER, 0, 0) else { exit(2) }
        }
    }

    @Test(.enabled(if: mayRaiseLimits, "needs root with CAP_SYS_RESOURCE"))
    func limitsAreKept() async {
        await #expect(processExitsWith: .success) {
            MediaPriorityTests.drop(realTime: 2, nice: 25)
            MediaPriority.use(.realtime)
            guard try MediaPriorityTests.schedule(of: .sound) == (SCHED_RR, 2, 0),
                try MediaPriorityTests.schedule(of: .network) == (SCHED_RR, 1, 0),
                try MediaPriorityTests.schedule(of: .computing) == (SCHED_OTHER, 0, -5)
            else { exit(1) }
        }
    }

    @Test(.enabled(if: mayRaiseLimits, "needs root with CAP_SYS_RESOURCE"))
    func niceIsTheNextBest() async {
        await #expect(processExitsWith: .success) {
            MediaPriorityTests.drop(realTime: 0, nice: 32)
            MediaPriority.use(MediaPriority.permitted)
            guard MediaPriority.way == .nice,
                try MediaPriorityTests.schedule(of: .computing) == (SCHED_OTHER, 0, -10),
                try MediaPriorityTests.schedule(of: .sound) == (SCHED_OTHER, 0, -12)
            else { exit(1) }
        }
    }

    /// Whoever says nice(1) or chrt(1) means it.
    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
    func whatTheUserHasChosenStays() async {
        await #expect(processExitsWith: .success) {
            setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
            MediaPriority.use(MediaPriority.permitted)
            guard MediaPriority.way == .normal, try MediaPriorityTests.schedule(of: .sound) == (SCHED_OTHER, 0, 5)
            else {
                exit(1)
            }
        }
        await #expect(processExitsWith: .success) {
            var parameters = sched_param(sched_priority: 7)
            guard sched_setscheduler(0, SCHED_RR, &parameters) == 0 else { exit(2) }
            MediaPriority.use(MediaPriority.permitted)
            guard MediaPriority.way == .normal, try MediaPriorityTests.schedule(of: .network) == (SCHED_RR, 7, 0) else {
                exit(3)
            }
        }
    }

    /// Makes this process one of the user nobody, with these limits.
    static func drop(realTime: rlim_t, nice: rlim_t) {
        for (resource, value) in [(__RLIMIT_RTPRIO, realTime), (__RLIMIT_NICE, nice)] {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            guard setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else { exit(90) }
        }
        guard setgid(65534) == 0, setuid(65534) == 0 else { exit(91) }
    }
}
