import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// Commands that talk to a producer that runs.
    @Suite struct ToolControlTests {
        private static func status(_ stage: ToolStage) async throws -> [String: Any] {
            let state = try await stage.producer(["status"]).end()
            #expect(state.status == 0, "\(state.errorText)")
            return try #require(state.event("status"))
        }

        private static func run(_ stage: ToolStage, _ arguments: String...) async throws -> ToolRun.State {
            try await stage.producer(arguments, json: false).end()
        }

        private static func end(_ tool: ToolRun) async throws -> ToolRun.State {
            tool.signal(SIGINT)
            return try await tool.end()
        }

        @Test func withoutAProducer() async throws {
            let stage = try ToolStage()
            let status = try await Self.run(stage, "status")
            #expect(status.status == 1)
            #expect(status.outputText == "No producer runs. Start it with: gantry-producer run\n")
            #expect(status.errors.isEmpty)
            let json = try await stage.producer(["status"]).end()
            #expect(json.status == 1)
            #expect(json.event("status")?["running"] as? Bool == false)
            for command in ["pause", "resume", "streams"] {
                expectFailure(
                    try await Self.run(stage, command), status: 1,
                    saying: ["No producer runs. Start it with: gantry-producer run"])
                let json = try await stage.producer([command]).end()
                #expect(json.event("error")?["code"] as? Int == 106)
            }
            for command in ["status", "pause", "resume", "streams", "pair", "devices"] {
                let help = try await ToolRun.run(["gantry-producer", command, "--help"])
                #expect(help.status == 0)
                #expect(help.outputText.contains("gantry-producer \(command)"))
            }
        }

        /// The studio goes on with the picture, and has the sound again afterwards.
        @Test func streamsAreSwitched() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try await stage.startReceiving(["--record", stage.file("take.mkv")])
            #expect(try await Self.run(stage, "streams").outputText == "video: offered\naudio: offered\n")
            let off = try await stage.producer(["streams", "audio", "off"]).end()
            #expect(off.event("streams")?["audio"] as? Bool == false && off.event("streams")?["video"] as? Bool == true)
            try await producer.line(containing: "\"streamEnded\"")
            try await studio.line(containing: "\"playbackStopped\"")
            #expect(try await Self.run(stage, "status").outputText.contains("Offered         no sound"))
            #expect(try await Self.run(stage, "streams", "audio", "on").outputText.contains("audio: offered"))
            try await producer.line(containing: "\"streamBegan\"")
            try await studio.line(containing: "\"streams\"")
            let status = try await Self.status(stage)
            #expect((status["streams"] as? [String: Any])?["audio"] as? Bool == true)
            expectFailure(
                try await Self.run(stage, "streams", "sound", "off"), status: 2,
                saying: ["gantry-producer streams video|audio on|off"])
            #expect(try await Self.end(studio).status == 0)
            #expect(try await Self.end(producer).status == 0)
        }

        @Test func statusPauseAndResume() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--name", "Stage left"])
            let idle = try await Self.status(stage)
            #expect(idle["running"] as? Bool == true)
            #expect(idle["name"] as? String == "Stage left")
            #expect(idle["port"] as? Int == Int(stage.port))
            #expect(idle["source"] as? String == "test pattern")
            #expect(idle["paused"] as? Bool == false)
            #expect((idle["studios"] as? [Any])?.isEmpty == true)
            #expect((idle["startedAt"] as? Int).map { abs(Int(time(nil)) - $0) < 60 } == true)
            // Null without Avahi; where it runs, the name comes when it is established.
            #expect(
                idle["discoveryName"] is NSNull
                    || (idle["discoveryName"] as? String)?.hasPrefix("Stage left") == true)
            #expect(try await Self.run(stage, "status").outputText.contains("waiting for a studio"))

            let studio = try await stage.startReceiving([])
            let sending = try await Self.status(stage)
            let peer = try #require((sending["studios"] as? [[String: Any]])?.first)
            #expect((peer["address"] as? String)?.hasPrefix("127.0.0.1:") == true)
            #expect((sending["framesSent"] as? Int ?? 0) > 0)
            #expect(try await Self.run(stage, "status").outputText.contains("State           sending"))

            #expect(try await Self.run(stage, "pause").outputText.contains("gantry-producer resume"))
            try await studio.line(containing: "\"paused\"")
            try await producer.line(containing: "\"paused\"")
            let first = try await Self.status(stage)
            var last = first
            while (last["seconds"] as? Double ?? 0) < (first["seconds"] as? Double ?? 0) + 1.5 {
                last = try await Self.status(stage)
            }
            #expect(last["paused"] as? Bool == true)
            #expect(last["framesSent"] as? Int == first["framesSent"] as? Int)
            #expect(last["audioPacketsSent"] as? Int == first["audioPacketsSent"] as? Int)
            #expect((last["studios"] as? [Any])?.count == 1)
            #expect(try await Self.run(stage, "status").outputText.contains("paused"))

            let resume = try await stage.producer(["resume"]).end()
            #expect(resume.event("resumed") != nil)
            try await studio.line(containing: "\"resumed\"")
            try await producer.line(containing: "\"resumed\"")
            while (last["framesSent"] as? Int ?? 0) < (first["framesSent"] as? Int ?? 0) + 10 {
                last = try await Self.status(stage)
            }
            #expect(try await Self.end(studio).status == 0)
            #expect(try await Self.end(producer).status == 0)
            #expect(try await Self.run(stage, "status").status == 1)
        }

        @Test func aRemovedDeviceLosesItsSession() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try await stage.startReceiving([])
            let list = try await stage.producer(["devices", "list"]).end()
            let name = try #require(list.lines.first.flatMap(jsonLine)?["name"] as? String)
            #expect(try await stage.producer(["devices", "rename", name, "Desk"]).end().status == 0)
            #expect(try await Self.run(stage, "devices", "list").outputText.contains("Desk"))
            let removal = try await stage.producer(["devices", "remove", "Desk"]).end()
            let removed = MonotonicClock.now()
            #expect(removal.status == 0, "\(removal.errorText)")
            #expect(removal.event("removed")?["name"] as? String == "Desk")
            let end = try await studio.end()
            #expect(MonotonicClock.now() - removed < .seconds(1))
            #expect(end.status == 6)
            #expect(end.errorText.contains("removed this device"))
            let unknown = try await Self.run(stage, "devices", "remove", "Desk")
            expectFailure(unknown, status: 6, saying: ["Desk"])
            #expect(try await Self.end(producer).status == 0)
        }

        @Test func theRunningProducerPairs() async throws {
            let stage = try ToolStage()
            let producer = try await stage.startPattern(["--name", "Camera"])
            let (code, waiting) = try await stage.showCode()
            // Another port would be wrong: the running one says its own.
            let pair = try await stage.producer(["pair", "-", "--port", "1"], input: .text(code)).end()
            #expect(pair.status == 0, "\(pair.errorText)")
            // Without Avahi that is told as well, at any time.
            let events = pair.lines.compactMap { jsonLine($0)?["event"] as? String }
                .filter { $0 != "discoveryUnavailable" }
            #expect(events == ["searching", "studioAnswered", "comparison", "paired"])
            #expect(pair.event("searching")?["seconds"] as? Int == 30)
            let number = try #require(pair.event("comparison")?["number"] as? String)
            #expect(number.count == 6)
            #expect(pair.event("comparison")?["needsAnswer"] as? Bool == false)
            let end = try await waiting.end()
            #expect(end.event("paired")?["address"] as? String == "127.0.0.1:\(stage.port)")
            // It serves the studio without being started again.
            let studio = try await stage.startReceiving(["-d", "500ms"])
            #expect(try await studio.end().status == 0)
            let state = try await Self.end(producer)
            let secret = String(code.split(separator: "/")[2])
            for text in [state.errorText, state.outputText, pair.errorText, pair.outputText] {
                #expect(!text.contains(secret))
            }
        }

        /// The code of a studio that has gone: the search would last 30 seconds.
        @Test func aPairingThatIsGivenUpEndsAtOnce() async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            _ = try await Self.end(studio)
            for runs in [false, true] {
                let producer = runs ? try await stage.startPattern() : nil
                let pair = try stage.producer(["pair", "-"], input: .text(code))
                try await pair.line(containing: "\"searching\"")
                let interrupted = MonotonicClock.now()
                let state = try await Self.end(pair)
                #expect(MonotonicClock.now() - interrupted < .seconds(5))
                #expect(state.status == 7, "\(state.errorText)")
                #expect(state.errorText.contains("cancelled"))
                if let producer { #expect(try await Self.end(producer).status == 0) }
            }
        }

        /// Closing the connection cancels; a second attempt meanwhile is told that one runs.
        @Test func aPairingBelongsToItsConnection() async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            _ = try await Self.end(studio)
            let producer = try await stage.startPattern()
            let first = try stage.producer(["pair", "-"], input: .text(code))
            try await first.line(containing: "\"searching\"")
            let second = try await stage.producer(["pair", "-"], json: false, input: .text(code)).end()
            #expect(second.status == 1)
            #expect(second.errorText.contains("running already"))
            first.signal(SIGKILL)
            _ = try await first.end()
            var isFree = false
            let deadline = MonotonicClock.now() + .seconds(10)
            while !isFree && MonotonicClock.now() < deadline {
                let next = try stage.producer(["pair", "-"], input: .text(code))
                isFree = (try? await next.line(containing: "\"searching\"")) != nil
                _ = try await Self.end(next)
            }
            #expect(isFree)
            // The end of the producer ends a pairing, too.
            let last = try stage.producer(["pair", "-"], input: .text(code))
            try await last.line(containing: "\"searching\"")
            #expect(try await Self.end(producer).status == 0)
            #expect(try await last.end().status != 0)
        }

        @Test func aSecondProducerGoesOnWithoutASocket() async throws {
            let stage = try ToolStage()
            let first = try await stage.startPattern()
            let second = try stage.producer(["run", "test", "--port", "0", "--size", "320x180"])
            try await second.line(containing: "\"started\"")
            try await second.errors(containing: "cannot be asked")
            #expect(try await Self.status(stage)["port"] as? Int == Int(stage.port))
            let end = try await Self.end(second)
            #expect(end.status == 0)
            #expect(end.errorText.components(separatedBy: "cannot be asked").count == 2)
            // It has not taken the socket of the first one with it.
            #expect(try await Self.status(stage)["port"] as? Int == Int(stage.port))
            first.signal(SIGKILL)
            _ = try await first.end()
            #expect(try await Self.run(stage, "status").status == 1)
            // What the dead one has left does not stand in the way.
            let third = try await stage.startPattern()
            #expect(try await Self.status(stage)["running"] as? Bool == true)
            #expect(try await Self.end(third).status == 0)
        }

        /// All of a file is sent, with a pause in the middle.
        @Test func aFileHoldsInAPause() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let clip = stage.file("clip.mp4")
            try await FFmpegTool.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-f", "lavfi", "-i", "sine=440", "-t", "3",
                "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", clip,
            ])
            let producer = try stage.producer(["run", "--port", stage.port, clip])
            try await producer.line(containing: "\"started\"")
            let recording = stage.file("take.mp4")
            let studio = try await stage.startReceiving(["--record", recording])
            #expect(try await Self.run(stage, "pause").status == 0)
            let first = try await Self.status(stage)
            var now = first
            // Longer than the whole file.
            while (now["seconds"] as? Double ?? 0) < (first["seconds"] as? Double ?? 0) + 3.5 {
                now = try await Self.status(stage)
            }
            #expect(try await Self.run(stage, "resume").status == 0)
            let end = try await producer.end()
            #expect(end.status == 0, "\(end.errorText)")
            let sent = try #require(end.event("summary")?["framesSent"] as? Int)
            // 90, without those that were under way when the pause began.
            #expect(sent >= 86 && sent <= 90)
            #expect(try await studio.end().status == 0)
            let facts = try await Oracle.check([
                "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                "stream=nb_read_frames:format=duration", "-of", "json", recording,
            ])
            let probed = try #require(try JSONSerialization.jsonObject(with: facts.output) as? [String: Any])
            let stream = try #require((probed["streams"] as? [[String: Any]])?.first)
            #expect((stream["nb_read_frames"] as? String).flatMap(Int.init) ?? 0 >= 80)
            let duration = ((probed["format"] as? [String: Any])?["duration"] as? String).flatMap(Double.init) ?? 0
            #expect(duration > 5.5, "\(duration)")
        }

        // MARK: The question

        @Test func aQuestionNeedsATerminal() async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            // In a session without a terminal of its own, whoever runs the tests.
            let tool = ToolRun.folder + "/gantry-producer"
            let state = try await ToolRun.run(
                ["setsid", "-w", tool, "--state-dir", stage.file("producer"), "pair", "-", "--confirm"],
                input: .text(code))
            expectFailure(state, status: 2, saying: ["terminal", "leave --confirm out"])
            _ = try await Self.end(studio)
        }

        @Test(arguments: [("y", true, false), ("n", false, false), ("y", true, true), ("no", false, true)])
        func theNumberIsAskedFor(_ answer: String, _ isPaired: Bool, _ runs: Bool) async throws {
            let stage = try ToolStage()
            let producer = runs ? try await stage.startPattern() : nil
            let png = stage.file("code.png")
            let studio = try stage.studio(["pair", "--address", "127.0.0.1", "--png", png])
            try await studio.line(containing: "\"code\"")
            let keyboard = Pipe()
            let tool = ToolRun.folder + "/gantry-producer"
            let pair = try ToolRun(
                [
                    "script", "-qefc",
                    "'\(tool)' --state-dir '\(stage.file("producer"))' pair --port \(stage.port) --confirm "
                        + "--image '\(png)'",
                    "/dev/null",
                ], input: .pipe(keyboard.fileHandleForReading))
            _ = try await pair.state.wait { $0.outputEnded || $0.outputText.contains("[y/N]") }
            #expect(pair.state.value.outputText.contains("Does the studio show "), "\(pair.state.value.outputText)")
            try keyboard.fileHandleForWriting.write(contentsOf: Data("\(answer)\n".utf8))
            let state = try await pair.end()
            #expect(state.status == (isPaired ? 0 : 7), "\(state.outputText)")
            #expect(state.outputText.contains("s left"))
            #expect(state.outputText.contains("Paired with") == isPaired)
            if !isPaired { studio.signal(SIGINT) }
            #expect(try await (studio.end().status == 0) == isPaired)
            let devices = try await stage.producer(["devices", "list"]).end()
            #expect(devices.lines.isEmpty == !isPaired)
            try keyboard.fileHandleForWriting.close()
            if let producer { #expect(try await Self.end(producer).status == 0) }
        }

        // MARK: Other programs

        /// As docs/control-socket.md shows it.
        @Test func aProgramInPythonAsks() async throws {
            let stage = try ToolStage()
            let producer = try await stage.startPattern()
            let script = """
                import glob, json, os, socket, sys
                path = glob.glob(sys.argv[1] + "/producer-*.sock") or glob.glob(os.environ["XDG_RUNTIME_DIR"] + "/gantry/" + sys.argv[2])
                client = socket.socket(socket.AF_UNIX)
                client.connect(path[0])
                lines = client.makefile("rw")
                for number, method in enumerate(["status", "pause", "resume", "devices.list", "nonsense"]):
                    print(json.dumps({"id": number, "method": method}), file=lines, flush=True)
                    print(json.dumps(json.loads(lines.readline())))
                """
            let key = try #require(producer.state.value.event("started")?["key"] as? String)
            let answers = try await Oracle.check([
                "env", "XDG_RUNTIME_DIR=\(ToolRun.runtimeFolder)", "python3", "-c", script, stage.file("producer"),
                "producer-\(key.prefix(16).lowercased()).sock",
            ]).lines.compactMap(jsonLine)
            #expect(answers.map { $0["id"] as? Int } == [0, 1, 2, 3, 4])
            #expect((answers[0]["result"] as? [String: Any])?["key"] as? String == key)
            #expect((answers[1]["result"] as? [String: Any])?["paused"] as? Bool == true)
            #expect((answers[2]["result"] as? [String: Any])?["paused"] as? Bool == false)
            #expect((answers[3]["result"] as? [Any])?.isEmpty == true)
            #expect((answers[4]["error"] as? [String: Any])?["code"] as? Int == 101)
            #expect(try await Self.end(producer).status == 0)
        }
    }
}
