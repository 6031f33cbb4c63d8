import Foundation
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// `--priority` of both tools, by what the kernel says of their threads.
    @Suite struct ToolPriorityTests {
        private static let isRealTimePermitted = MediaPriority.permitted == .realtime

        @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
        func whatHandsOnIsRealTimeAndWhatComputesIsNot() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try await stage.startReceiving(["127.0.0.1:\(stage.port)"])
            try await ThreadPolicy.expectUrgencies(stage, producer, studio)
        }

        @Test func normalIsAsItWasStarted() async throws {
            let stage = try ToolStage()
            let producer = try await stage.startPattern(["--priority", "normal"])
            // Those of Swift's pool have the priority of what they do.
            let own = Set(try ThreadPolicy.all(of: producer).filter { !$0.key.contains("qos") }.values.flatMap { $0 })
            #expect(own.allSatisfy { $0.policy == SCHED_OTHER && $0.nice == 0 }, "\(own)")
            producer.signal(SIGTERM)
            #expect(try await producer.end().status == 0)
        }

        @Test(.enabled(if: geteuid() == 0, "needs root, to be somebody else"))
        func whoInsistsIsToldWhatPermitsIt() async throws {
            let end = try await ToolRun.run([
                "setpriv", "--bounding-set=-sys_nice", ToolRun.folder + "/gantry-producer", "run", "test", "--priority",
                "realtime",
            ])
            expectFailure(end, status: 1, saying: ["--priority", "doctor"])
        }
    }
}
