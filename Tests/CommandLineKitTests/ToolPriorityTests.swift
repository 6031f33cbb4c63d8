import CommandLineKit
import GantryCore
import GantryPlatform
import Glibc
import Testing

/// `--priority`. Each test is a process of its own: priority is the process's.
@Suite struct ToolPriorityTests {
    static let isRealTimePermitted = MediaPriority.permitted == .realtime

    static func arguments(_ words: [String]) throws -> ParsedArguments {
        let parser = CommandLineParser(
            Command(
                "tool", summary: "A tool",
                subcommands: [Command("run", summary: "Runs", options: [ToolPriority.option])]),
            version: "1")
        guard case .run(let arguments) = try parser.parse(["run"] + words) else { exit(80) }
        return arguments
    }

    static var policy: Int32 { sched_getscheduler(0) & 0xFF }

    @Test func normalLeavesEverythingAsItIs() async {
        await #expect(processExitsWith: .success) {
            try ToolPriority.begin(try ToolPriorityTests.arguments(["--priority", "normal"]))
            guard MediaPriority.way == .normal else { exit(1) }
        }
    }

    /// As a user without rights: nothing is raised, and who insists is told.
    @Test(.enabled(if: geteuid() == 0, "needs root, to be somebody else"))
    func withoutTheRightThereIsAnError() async {
        await #expect(processExitsWith: .success) {
            for resource in [__RLIMIT_RTPRIO, __RLIMIT_NICE] {
                var none = rlimit()
                guard setrlimit(__rlimit_resource_t(resource.rawValue), &none) == 0 else { exit(90) }
            }
            guard setgid(65534) == 0, setuid(65534) == 0 else { exit(91) }
            try ToolPriority.begin(try ToolPriorityTests.arguments([]))
            guard MediaPriority.way == .normal else { exit(1) }
            let insisting = try ToolPriorityTests.arguments(["--priority", "realtime"])
            do throws(GantryError) {
                try ToolPriority.begin(insisting)
                exit(2)
            } catch {
                guard error.message.contains("doctor") else { exit(3) }
            }
        }
    }

    /// Without the guard this would not end: the thread computes until its priority is gone.
    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"), .timeLimit(.minutes(2)))
    func aThreadThatNeverSleepsLosesItAndSoDoAllOthers() async {
        await #expect(processExitsWith: .success) { try ToolPriorityTests.spinUntilAllIsTaken() }
    }

    /// RealtimeKit asks for a limit at which the kernel ends the process: the guard is sooner.
    @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"), .timeLimit(.minutes(2)))
    func whereTheKernelWouldEndTheProcessTheGuardIsSooner() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
            guard setrlimit(__rlimit_resource_t(__RLIMIT_RTTIME.rawValue), &limit) == 0 else { exit(4) }
            try ToolPriorityTests.spinUntilAllIsTaken()
        }
    }

    private static func spinUntilAllIsTaken() throws {
        try ToolPriority.begin(try arguments([]))
        let (began, go, after) = (LatestSlot<Int32>(), LatestSlot<Bool>(), LatestSlot<Int32>())
        let sleeper = try NamedThread("sleeper", urgency: .sound) {
            began.put(policy)
            _ = go.take()
            after.put(policy)
        }
        guard began.take() == SCHED_RR else { exit(1) }
        let spinner = try NamedThread("spinner", urgency: .network) {
            guard policy == SCHED_RR else { exit(2) }
            while MediaPriority.way == .realtime || policy == SCHED_RR {}
        }
        spinner.join()
        go.put(true)
        sleeper.join()
        guard after.take() == SCHED_OTHER else { exit(3) }
    }
}
