import Foundation
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// `--priority` of both tools, by what the kernel says of their threads.
    @Suite struct ToolPriorityTests {
        private static let isRealTimePermitted = MediaPriority.permitted == .realtime

        private struct Schedule: Hashable {
            let policy: Int32
            let priority: Int32
            let nice: Int32
        }

        /// By the names of the threads; several threads may have one name.
        private func schedules(_ tool: ToolRun) throws -> [String: Set<Schedule>] {
            let folder = "/proc/\(tool.processID)/task"
            var found: [String: Set<Schedule>] = [:]
            for thread in try FileManager.default.contentsOfDirectory(atPath: folder) {
                // One that has just ended is none.
                guard let line = try? String(contentsOfFile: "\(folder)/\(thread)/stat", encoding: .utf8),
                    let begin = line.firstIndex(of: "("), let end = line.lastIndex(of: ")")
                else { continue }
                // proc_pid_stat(5): the first behind the name is field 3.
                let words = line[end...].split(separator: " ").dropFirst().map(String.init)
                func field(_ number: Int) -> Int32 { words.count > number - 3 ? Int32(words[number - 3]) ?? -1 : -1 }
                found[String(line[line.index(after: begin)..<end]), default: []].insert(
                    Schedule(policy: field(41), priority: field(40), nice: field(19)))
            }
            return found
        }

        @Test(.enabled(if: isRealTimePermitted, "real-time priority is not permitted here"))
        func whatHandsOnIsRealTimeAndWhatComputesIsNot() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try await stage.startReceiving(["127.0.0.1:\(stage.port)"])
            let threads = try schedules(producer).merging(try schedules(studio)) { $0.union($1) }
            for (name, urgency) in [
                ("source", ThreadUrgency.picture), ("producer-io", .network), ("studio-io", .network),
                ("audio-encode", .sound), ("audio-decode", .sound),
            ] {
                let expected = Schedule(policy: SCHED_RR, priority: try #require(urgency.realTime), nice: 0)
                #expect(threads[name] == [expected], "\(name): \(threads)")
            }
            for name in ["video-encode", "video-decode"] {
                let expected = Schedule(policy: SCHED_OTHER, priority: 0, nice: ThreadUrgency.computing.nice)
                #expect(threads[name]?.contains(expected) == true, "\(name): \(threads)")
            }
            for name in ["gantry-producer", "gantry-studio", "control", "producer-listen", "studio-session"] {
                #expect(
                    threads[name]?.allSatisfy { $0.policy == SCHED_OTHER && $0.nice == 0 } == true,
                    "\(name): \(threads)")
            }
            let status = try await stage.producer(["status"]).end()
            #expect(status.event("status")?["priority"] as? String == "realtime")
            studio.signal(SIGTERM)
            producer.signal(SIGTERM)
            #expect(try await studio.end().status == 0)
            #expect(try await producer.end().status == 0)
        }

        @Test func normalIsAsItWasStarted() async throws {
            let stage = try ToolStage()
            let producer = try await stage.startPattern(["--priority", "normal"])
            // Those of Swift's pool have the priority of what they do.
            let own = Set(try schedules(producer).filter { !$0.key.contains("qos") }.values.flatMap { $0 })
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
