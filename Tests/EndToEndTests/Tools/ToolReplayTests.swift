import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// Commands that talk to a `receive` that runs.
    @Suite struct ToolReplayTests {
        private static func run(_ stage: ToolStage, _ arguments: String..., json: Bool = true) async throws
            -> ToolRun.State
        {
            try await stage.studio(arguments, json: json).end()
        }

        private static func status(_ stage: ToolStage) async throws -> [String: Any] {
            let state = try await run(stage, "status")
            #expect(state.status == 0, "\(state.errorText)")
            return try #require(state.event("status"))
        }

        /// Asks until the status is as wanted.
        private static func status(_ stage: ToolStage, until matches: ([String: Any]) -> Bool) async throws
            -> [String: Any]
        {
            let deadline = MonotonicClock.now() + .seconds(20)
            while true {
                let now = try await status(stage)
                if matches(now) { return now }
                guard MonotonicClock.now() < deadline else {
                    throw GantryError(.timeout, "the status stays \(now)")
                }
            }
        }

        private static func end(_ tools: ToolRun...) async throws {
            for tool in tools {
                tool.signal(SIGINT)
                let state = try await tool.end()
                #expect(state.status == 0, "\(state.errorText)")
            }
        }

        private static func replay(_ status: [String: Any]) -> [String: Any] {
            status["replay"] as? [String: Any] ?? [:]
        }

        private static func held(_ status: [String: Any]) -> Double { replay(status)["held"] as? Double ?? 0 }

        @Test func withoutAReceive() async throws {
            let stage = try ToolStage()
            let status = try await Self.run(stage, "status", json: false)
            #expect(status.status == 1)
            #expect(status.outputText == "Nothing is received. Start it with: gantry-studio receive\n")
            #expect(try await Self.run(stage, "status").event("status")?["running"] as? Bool == false)
            for command in [["pause"], ["resume", "--video"], ["prefer", "640x480@15"], ["replay", "back", "10"]] {
                let text = try await stage.studio(command, json: false).end()
                expectFailure(text, status: 1, saying: ["Nothing is received", "gantry-studio receive"])
                #expect(try await stage.studio(command).end().event("error")?["code"] as? Int == 106)
            }
            for wrong in [["prefer"], ["prefer", "640"], ["prefer", "640x480@0"], ["replay", "back", "x"]] {
                expectFailure(try await stage.studio(wrong, json: false).end(), status: 2, saying: ["as in"])
            }
            for command in [["status"], ["pause"], ["resume"], ["prefer"], ["replay"], ["replay", "save"]] {
                let help = try await ToolRun.run(["gantry-studio"] + command + ["--help"])
                #expect(help.status == 0)
                #expect(help.outputText.contains("gantry-studio \(command.joined(separator: " "))"))
                #expect(help.outputText.contains("Examples"), "\(help.outputText)")
            }
        }

        @Test func replayBackSaveAndLive() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mp4")
            let studio = try await stage.startReceiving(["--replay=20", "--record", path])
            let first = try await Self.status(stage) { Self.held($0) > 3 }
            #expect(first["producer"] as? String == "Camera" && first["state"] as? String == "connected")
            #expect(Self.replay(first)["behind"] is NSNull)

            let back = try await Self.run(stage, "replay", "back", "2")
            #expect(back.status == 0, "\(back.errorText)")
            let behind = try #require(back.event("replay.seek")?["behind"] as? Double)
            #expect(abs(behind - 2) < 0.2)
            try await studio.line(containing: "\"replay\"")
            let text = try await Self.run(stage, "status", json: false).outputText
            #expect(text.contains("s held") && text.contains("showing what came"), "\(text)")

            // Where the command is given, not where the file is written.
            let saved = try await ToolRun.run([
                "sh", "-c", "cd \"$0\" && exec \"$@\"", stage.folder.path, ToolRun.folder + "/gantry-studio",
                "--state-dir", stage.file("studio"), "replay", "save", "goal.mp4",
            ])
            #expect(saved.status == 0, "\(saved.errorText)")
            let goal = stage.file("goal.mp4")
            #expect(saved.outputText.contains("goal.mp4"))
            try await Judge.expectSound(goal)
            let facts = try await Judge.probe(goal)
            #expect(facts.duration > 3 && facts.width == 320)
            let numbers = Judge.frameNumbers(try await Judge.pictures(goal, width: 320, height: 180))
            #expect(!numbers.contains(nil) && numbers.compactMap(\.self).areConsecutive)
            expectFailure(
                try await Self.run(stage, "replay", "save", goal, json: false), status: 4, saying: ["--force"])
            #expect(try await Self.run(stage, "replay", "save", goal, "--force").status == 0)

            #expect(try await Self.run(stage, "replay", "live").status == 0)
            _ = try await Self.status(stage) { Self.replay($0)["behind"] is NSNull }
            #expect(try await Self.run(stage, "replay", "disarm").status == 0)
            expectFailure(
                try await Self.run(stage, "replay", "back", json: false), status: 1, saying: ["replay arm"])
            #expect(try await Self.run(stage, "replay", "arm", "5").status == 0)
            _ = try await Self.status(stage) { Self.held($0) > 0.5 }
            try await Self.end(studio, producer)
            try await Judge.expectSound(path)
            #expect(try await Self.run(stage, "status").status == 1)
        }

        @Test func pauseAndResume() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try await stage.startReceiving([])
            let paused = try await Self.run(stage, "pause", "--video")
            #expect(paused.event("pause")?["stopped"] as? [String] == ["video"])
            try await studio.line(containing: "\"stoppedHere\"")
            func frames(_ status: [String: Any]) -> Int { status["framesReceived"] as? Int ?? 0 }
            func packets(_ status: [String: Any]) -> Int { status["audioPacketsReceived"] as? Int ?? 0 }
            let before = try await Self.status(stage)
            let after = try await Self.status(stage) { packets($0) > packets(before) + 100 }
            #expect(frames(after) == frames(before))
            #expect(after["stopped"] as? [String] == ["video"] && after["paused"] as? Bool == false)
            #expect(try await Self.run(stage, "pause", json: false).outputText.contains("picture and sound"))
            #expect(try await Self.run(stage, "resume", json: false).outputText == "All is received.\n")
            _ = try await Self.status(stage) { frames($0) > frames(after) + 10 }

            #expect(try await Self.run(stage, "prefer", "160x90@15", "--bitrate", "300k").status == 0)
            let wish = try await Self.status(stage)["preferred"] as? [String: Any]
            #expect(wish?["width"] as? Int == 160 && wish?["height"] as? Int == 90)
            #expect(wish?["fps"] as? Double == 15 && wish?["bitrate"] as? Int == 300_000)
            try await Self.end(studio, producer)
        }

        @Test func severalReceive() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let first = try await stage.startReceiving([])
            let second = try await stage.startReceiving([])
            #expect(try await Self.run(stage, "status").lines.count == 2)
            expectFailure(
                try await Self.run(stage, "pause", json: false), status: 2,
                saying: ["Several receive", "Camera (process ", "--producer "])
            expectFailure(
                try await Self.run(stage, "pause", "-p", "nobody", json: false), status: 1, saying: ["nobody"])
            // The same name: by process.
            let lines = try await Self.run(stage, "status").lines
            let processes = lines.compactMap { (jsonLine($0)?["process"] as? Int).map { Int32($0) } }
            #expect(processes.sorted() == [first, second].map(\.processID).sorted())
            expectFailure(
                try await Self.run(stage, "pause", "-p", "camera", json: false), status: 2, saying: ["(process "])
            let text = try await Self.run(stage, "status", json: false).outputText
            #expect(processes.allSatisfy { text.contains("\($0)") }, "\(text)")
            let chosen = try await Self.run(stage, "pause", "-p", "\(second.processID)")
            #expect(chosen.status == 0, "\(chosen.errorText)")
            try await second.line(containing: "\"stoppedHere\"")
            #expect(try await Self.run(stage, "resume", "-p", "\(second.processID)").status == 0)
            #expect(!first.state.value.lines.contains { $0.contains("stoppedHere") })
            try await Self.end(first)
            let one = try await Self.run(stage, "pause", "-p", "camera")
            #expect(one.status == 0, "\(one.errorText)")
            try await second.line(containing: "\"stoppedHere\"")
            try await Self.end(second, producer)
        }
    }
}
