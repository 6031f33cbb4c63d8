import Foundation
import GantryCore
import GantryTestSupport
import Glibc
import Testing

/// Whether a file system of our own can be mounted: needs root.
private let canMount = geteuid() == 0 && access("/usr/bin/mount", X_OK) == 0

extension EndToEnd {
    /// `gantry-studio receive` and its outputs, judged by other programs.
    @Suite struct ToolReceiveTests {
        @Test func aTakeFromBeginningToEnd() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try stage.studio([
                "receive", "Camera", "--record", stage.file("take.mp4"), "--snapshot", stage.file("shot.png"), "--wav",
                stage.file("take.wav"), "--y4m", stage.file("take.y4m"), "--ts", stage.file("take.ts"), "-d", "2s",
            ])
            let end = try await studio.end()
            #expect(end.status == 0, "\(end.errorText)")
            #expect(end.errorText == "")
            // Every line is JSON, and jq agrees.
            #expect(end.lines.allSatisfy { jsonLine($0)?["event"] is String })
            let events = try await Oracle.check(["jq", "-r", ".event"], input: end.output).lines
            #expect(events.first == "connecting")
            #expect(events.last == "summary")
            #expect(Set(events).isSuperset(of: ["connected", "format", "firstFrame", "ended"]))
            let summary = try #require(end.event("summary"))
            #expect(summary["framesLost"] as? Int == 0)
            #expect(summary["width"] as? Int == 320)
            try await Self.judge(stage, summary)
            producer.signal(SIGTERM)
            let last = try await producer.end()
            #expect(last.status == 0)
            _ = try await Oracle.check(["jq", "-e", ".event"], input: last.output)
            #expect(last.event("summary")?["framesSent"] as? Int ?? 0 > 30)
        }

        private static func judge(_ stage: ToolStage, _ summary: [String: Any]) async throws {
            let take = try await Judge.probe(stage.file("take.mp4"))
            #expect(take.video["codec_name"] == "h264")
            #expect(take.audio["codec_name"] == "opus")
            #expect(abs(take.duration - 2) < 0.35)
            #expect((summary["recording"] as? [String: Any])?["frames"] as? Int == take.frames)
            let stream = try await Judge.probe(stage.file("take.ts"))
            #expect(stream.format["format_name"] == "mpegts")
            #expect(stream.video["codec_name"] == "h264")
            #expect(stream.audio["codec_name"] == "opus")
            let raw = try await Judge.probe(stage.file("take.y4m"))
            #expect(raw.width == 320 && raw.height == 180)
            #expect(raw.frames > 15)
            let sound = try await Judge.probe(stage.file("take.wav"))
            #expect(sound.audio["sample_rate"] == "48000" && sound.audio["channels"] == "2")
            #expect(sound.duration > 1)
            let shot = try await Judge.probe(stage.file("shot.png"))
            #expect(shot.video["codec_name"] == "png")
            #expect(shot.width == 320 && shot.height == 180)
            for name in ["take.mp4", "take.ts", "take.y4m", "take.wav"] {
                #expect(try await Judge.complaints(stage.file(name)) == "", "\(name)")
            }
        }

        /// A state folder mistyped, or none yet: no keys are made for nothing.
        @Test func whoIsNotPairedLeavesNothingBehind() async throws {
            let stage = try ToolStage()
            for words in [["receive"], ["receive", "Camera"], ["relay", "rtsp://127.0.0.1/x"], ["latency"]] {
                expectFailure(
                    try await stage.studio(words, json: false).end(), status: 6, saying: ["`gantry-studio pair`"])
                #expect(!FileManager.default.fileExists(atPath: stage.file("studio")), "\(words)")
            }
        }

        /// Every attempt to connect finds it out again.
        @Test func thatNothingCanBeSearchedIsSaidOnce() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            // Attempts come after 0.5, 1, 2 … s.
            let end = try await ToolRun.run([
                "env", "DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(stage.file("none"))", "timeout", "-s", "INT", "12",
                ToolRun.folder + "/gantry-studio", "--state-dir", stage.file("studio"), "receive", "--wait",
            ])
            let said = end.outputText + end.errorText
            #expect(said.ranges(of: "Devices cannot be found on the network").count == 1, "\(said)")
        }

        @Test func outputsThatCannotBeAreToldBeforeAnythingIsConnected() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            func receive(_ arguments: [String]) async throws -> ToolRun.State {
                try await stage.studio(["receive"] + arguments, json: false).end()
            }
            let nowhere = stage.file("none/take.mp4")
            expectFailure(try await receive(["--record", nowhere]), status: 4, saying: ["\(stage.folder.path)/none"])
            let taken = stage.file("taken.mp4")
            try Data("precious".utf8).write(to: URL(fileURLWithPath: taken))
            expectFailure(try await receive(["--record", taken]), status: 4, saying: ["exists", "--force"])
            #expect(try String(contentsOfFile: taken, encoding: .utf8) == "precious")
            for option in ["--y4m", "--wav", "--ts"] {
                expectFailure(try await receive([option, taken]), status: 4, saying: ["--force"])
            }
            let picture = stage.file("taken.png")
            try Data("precious".utf8).write(to: URL(fileURLWithPath: picture))
            expectFailure(try await receive(["--snapshot", picture]), status: 4, saying: ["--force"])
            expectFailure(try await receive(["--snapshot", stage.file("shot.jpg")]), status: 2, saying: [".png"])
            let badName = try await receive(["--record", stage.file("take.avi")])
            #expect([2, 4].contains(badName.status))
            #expect(badName.errorText.contains(".mp4"))
            expectFailure(try await receive(["--record", stage.folder.path + "/dir.mp4/x.mkv"]), status: 4, saying: [])
            expectFailure(
                try await receive(["--y4m", "-", "--ts", "-"]), status: 2, saying: ["Only one thing fits"])
            expectFailure(try await receive(["--no-audio", "--no-video"]), status: 2, saying: ["nothing to receive"])
            #expect(try String(contentsOfFile: taken, encoding: .utf8) == "precious")
        }

        @Test func oneFileForTwoOutputsIsRefused() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let path = stage.file("take.mp4")
            try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
            let end = try await stage.studio(["receive", "--record", path, "--ts", path, "--force"], json: false).end()
            expectFailure(end, status: 2, saying: ["--record and --ts", "same file"])
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
        }

        @Test func anOutputThatGotNothingIsTold() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--audio", "off"])
            let path = stage.file("take.wav")
            let end = try await stage.studio(["receive", "--wav", path, "-d", "300ms"], json: false).end()
            #expect(end.status == 0, "\(end.errorText)")
            #expect(end.outputText.contains("No sound came: nothing was written to \(path)."), "\(end.outputText)")
            #expect(!FileManager.default.fileExists(atPath: path))
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func textThatIsLostIsAFailure() async throws {
            let stage = try ToolStage()
            for arguments in [["--help"], ["--state-dir", stage.file("studio"), "devices", "list"]] {
                let full = try await ToolRun.run(
                    ["sh", "-c", "exec \"$@\" >/dev/full", "sh", ToolRun.folder + "/gantry-studio"] + arguments)
                expectFailure(full, status: 4, saying: ["Standard output could not be written", "No space left"])
            }
        }

        /// The numbers of closed streams must not go to files and sockets: what is said would be written into those.
        @Test func closedStandardStreamsAreNotUsedForAnythingElse() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mp4")
            let closed = try ToolRun([
                "sh", "-c", "exec \"$@\" <&- >&- 2>&-", "sh", ToolRun.folder + "/gantry-studio", "--state-dir",
                stage.file("studio"), "receive", "--record", path, "-d", "500ms",
            ])
            #expect(try await closed.end().status == 0)
            try await Judge.expectSound(path)
            let output = try await ToolRun.run([
                "sh", "-c", "exec \"$@\" >&-", "sh", ToolRun.folder + "/gantry-studio", "--state-dir",
                stage.file("studio"), "receive", "--ts", "-", "-d", "500ms",
            ])
            #expect(output.status == 4)
            #expect(output.errorText.contains("Bad file descriptor"), "\(output.errorText)")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        /// Nobody reads the pipe, and nobody closes it.
        @Test func aReaderThatStandsStillDoesNotHoldUpTheEnd() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mp4")
            let studio = try stage.studio(
                ["receive", "--y4m", "-", "--record", path, "-d", "500ms"], json: false, output: .pipe)
            let end = try await studio.end()
            #expect(end.status == 4, "\(end.errorText)")
            #expect(end.errorText.contains("Nobody reads standard output"), "\(end.errorText)")
            try await Judge.expectSound(path)
            #expect(try await Judge.probe(path).frames >= 10)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
            try studio.reader?.close()
        }

        @Test func anExistingFileIsOverwrittenWithForce() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mkv")
            try Data("old".utf8).write(to: URL(fileURLWithPath: path))
            let end = try await stage.studio(["receive", "--record", path, "--force", "-d", "500ms"]).end()
            #expect(end.status == 0, "\(end.errorText)")
            #expect(try await Judge.probe(path).video["codec_name"] == "h264")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func ctrlCFinishesTheFile() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mp4")
            let studio = try await stage.startReceiving(["--record", path])
            studio.signal(SIGINT)
            let end = try await studio.end()
            #expect(end.status == 0, "\(end.errorText)")
            #expect(end.event("ended")?["error"] is NSNull)
            let facts = try await Judge.probe(path)
            #expect(facts.frames >= 1)
            let recorded = end.event("summary")?["recording"] as? [String: Any]
            #expect(recorded?["frames"] as? Int == facts.frames)
            try await Judge.expectSound(path)
            // And the producer goes on.
            try await producer.line(containing: "\"disconnected\"")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test(arguments: ["mp4", "mkv"]) func aRecordingPlaysAfterSIGKILL(ending: String) async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.\(ending)")
            let studio = try await stage.startReceiving(["--record", path])
            // Until some of it must be on the disk.
            try await Self.waitForFile(path, bytes: 100_000)
            studio.signal(SIGKILL)
            #expect(try await studio.end().status == 128 + SIGKILL)
            let facts = try await Judge.probe(path)
            #expect(facts.video["codec_name"] == "h264")
            #expect(facts.audio["codec_name"] == "opus")
            #expect(facts.frames >= 10)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        /// The file grows: seen by its size, on a thread that may wait.
        private static func waitForFile(_ path: String, bytes: Int) async throws {
            let hasGrown = try await onThread {
                waitUntil {
                    let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
                    return size ?? 0 >= bytes
                }
            }
            guard hasGrown else { throw Oracle.Failure(text: "\(path) did not grow to \(bytes) bytes") }
        }

        @Test func aProducerThatIsKilledIsLostAndTheRecordingWhole() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mp4")
            let studio = try await stage.startReceiving(["--record", path, "--no-reconnect"])
            producer.signal(SIGKILL)
            let end = try await studio.end()
            #expect(end.status == 5, "\(end.errorText)")
            #expect(end.event("error")?["code"] as? Int == 306)
            let facts = try await Judge.probe(path)
            #expect((end.event("summary")?["recording"] as? [String: Any])?["frames"] as? Int == facts.frames)
            #expect(facts.frames >= 1)
            try await Judge.expectSound(path)
        }

        /// The recording goes on with the next producer of the same key, in the same file.
        @Test func aProducerThatIsReplacedGoesOnInTheSameFile() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let first = try await stage.startPattern()
            let path = stage.file("take.mp4")
            let studio = try await stage.startReceiving(["--record", path])
            try await Self.waitForFile(path, bytes: 4000)
            first.signal(SIGKILL)
            try await studio.line(containing: "\"disconnected\"")
            let second = try await stage.startPattern()
            let isBack = try await studio.state.wait { state in
                state.status != nil || state.lines.count { $0.contains("\"connected\"") } == 2
            }
            #expect(isBack)
            second.signal(SIGINT)
            let end = try await studio.end()
            #expect(end.status == 0, "\(end.errorText)")
            let facts = try await Judge.probe(path)
            #expect((end.event("summary")?["recording"] as? [String: Any])?["frames"] as? Int == facts.frames)
            try await Judge.expectSound(path)
            #expect(try await second.end().status == 0)
        }

        /// Nothing closes the connection: only the silence tells.
        @Test func aProducerThatStandsStillIsLostAfterTwoSeconds() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mkv")
            let studio = try await stage.startReceiving(["--record", path, "--no-reconnect"])
            producer.signal(SIGSTOP)
            let start = ContinuousClock.now
            let end = try await studio.end()
            let elapsed = ContinuousClock.now - start
            #expect(end.status == 5, "\(end.errorText)")
            #expect(end.event("error")?["code"] as? Int == 306)
            // Two seconds by the protocol; the rest is for a busy machine.
            #expect(elapsed > .seconds(1))
            #expect(elapsed < .seconds(10))
            try await Judge.expectSound(path)
            producer.signal(SIGKILL)
        }

        @Test(.enabled(if: canMount, "mounting a small tmpfs needs root"))
        func aFullDiskIsToldAndKeepsWhatWasRecorded() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--bitrate", "8M"], size: "640x360")
            let disk = stage.file("disk")
            try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
            let mounted = try await Oracle.run(["mount", "-t", "tmpfs", "-o", "size=192k", "tmpfs", disk])
            guard mounted.status == 0 else { try Test.cancel("this machine does not let root mount a tmpfs") }
            let path = disk + "/take.mp4"
            let studio = try stage.studio(["receive", "--record", path])
            // Nothing throws before the disk is taken away again.
            let ended = try? await studio.end()
            let copy = stage.file("copy.mp4")
            try? FileManager.default.copyItem(atPath: path, toPath: copy)
            _ = try await Oracle.check(["umount", "-l", disk])
            let end = try #require(ended)
            #expect(end.status == 4, "\(end.errorText)")
            #expect(end.errorText.contains("df -h"), "\(end.errorText)")
            #expect(end.event("error")?["code"] as? Int == 701)
            try await Judge.expectSound(copy)
            #expect(try await Judge.probe(copy).frames > 5)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func aFullDeviceIsToldByEveryOutput() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            for option in ["--y4m", "--wav", "--ts"] {
                let end = try await stage.studio(["receive", option, "/dev/full", "--force"], json: false).end()
                #expect(end.status == 4, "\(option): \(end.errorText)")
                #expect(end.errorText.contains("No room") || end.errorText.contains("full"), "\(end.errorText)")
            }
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test(arguments: ["--ts", "--y4m", "--wav"]) func aReaderThatGoesEndsTheTool(option: String) async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try stage.studio(["receive", option, "-"], json: false, output: .pipe)
            let reader = try #require(studio.reader)
            #expect(try await onThread { try reader.read(upToCount: 4096)?.count ?? 0 } > 0)
            try reader.close()
            let end = try await studio.end()
            #expect(end.status == 4, "\(end.errorText)")
            #expect(end.errorText.contains("has ended"), "\(end.errorText)")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func anotherProgramReadsThePictures() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try stage.studio(["receive", "--y4m", "-", "-d", "1s"], json: false, output: .pipe)
            let reader = try #require(studio.reader)
            let path = stage.file("seen.mkv")
            let ffmpeg = try ToolRun(
                ["ffmpeg", "-v", "error", "-y", "-f", "yuv4mpegpipe", "-i", "-", "-c:v", "ffv1", path],
                input: .pipe(reader))
            try reader.close()
            #expect(try await studio.end().status == 0)
            #expect(try await ffmpeg.end().status == 0)
            #expect(ffmpeg.state.value.errorText == "")
            let pictures = try await Judge.pictures(path, width: 320, height: 180)
            // A pipe shows the newest; what it shows is whole.
            #expect(pictures.count >= 5)
            #expect(Judge.frameNumbers(pictures).allSatisfy { $0 != nil })
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func anotherProgramReadsTheTransportStream() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let studio = try stage.studio(["receive", "--ts", "-", "-d", "2s"], json: false, output: .pipe)
            let reader = try #require(studio.reader)
            let probe = try ToolRun(
                ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name", "-of", "csv=p=0", "-"],
                input: .pipe(reader))
            try reader.close()
            let seen = try await probe.end()
            #expect(Set(seen.lines.map { $0.trimmingCharacters(in: [",", " "]) }).isSuperset(of: ["h264", "opus"]))
            // It may have looked enough and gone before the end: then the tool says so.
            #expect([0, 4].contains(try await studio.end().status))
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func framesOfAnotherProgramAreSent() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let feed = Pipe()
            let producer = try ToolRun(
                [
                    "gantry-producer", "--state-dir", stage.file("producer"), "--json", "run", "--port", stage.port,
                    "--source", "-",
                ], input: .pipe(feed.fileHandleForReading))
            try feed.fileHandleForReading.close()
            let ffmpeg = Process()
            ffmpeg.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            ffmpeg.arguments = [
                "ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-t", "30",
                "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", "-",
            ]
            ffmpeg.standardOutput = feed
            ffmpeg.standardError = FileHandle.nullDevice
            ffmpeg.standardInput = FileHandle.nullDevice
            try ffmpeg.runUnblocked()
            try feed.fileHandleForWriting.close()
            try await producer.line(containing: "\"started\"")
            let end = try await stage.studio(["receive", "--record", stage.file("take.mkv"), "-d", "1s"]).end()
            #expect(end.status == 0, "\(end.errorText)")
            let facts = try await Judge.probe(stage.file("take.mkv"))
            #expect(facts.width == 320 && facts.height == 180)
            #expect(facts.frames > 10)
            #expect(facts.audio.isEmpty)
            // When the other program ends, so does the source: in order.
            kill(ffmpeg.processIdentifier, SIGKILL)
            let last = try await producer.end()
            #expect([0, 3].contains(last.status), "\(last.errorText)")
            try await onThread { ffmpeg.waitUntilExit() }
        }

        @Test func aFileIsSentFromItsFirstFrameToItsLast() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let clip = stage.file("clip.mp4")
            try await FFmpegTool.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine=frequency=440", "-t",
                "2", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-c:a", "aac", clip,
            ])
            let producer = try stage.producer(["run", "--port", stage.port, "--source", clip])
            try await producer.line(containing: "\"started\"")
            let end = try await stage.studio(["receive", "--record", stage.file("take.mp4")]).end()
            #expect(end.status == 0, "\(end.errorText)")
            let last = try await producer.end()
            #expect(last.status == 0, "\(last.errorText)")
            let facts = try await Judge.probe(stage.file("take.mp4"))
            let summary = try #require(last.event("summary"))
            #expect(facts.frames == summary["framesSent"] as? Int)
            let leftOut = (summary["framesReplaced"] as? Int ?? 0) + (summary["framesSkipped"] as? Int ?? 0)
            #expect(facts.frames + leftOut == 50)
            #expect(abs(facts.duration - 2) < 0.1)
        }

        @Test func aTruncatedFilePlaysWhatIsThereAndThenSaysSo() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let whole = stage.file("whole.mp4")
            try await FFmpegTool.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-t", "3", "-c:v", "libx264", "-g", "15",
                "-pix_fmt", "yuv420p", "-movflags", "+faststart", whole,
            ])
            let data = try Data(contentsOf: URL(fileURLWithPath: whole))
            let cut = stage.file("cut.mp4")
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: cut))
            let producer = try stage.producer(["run", "--port", stage.port, "--source", cut])
            try await producer.line(containing: "\"started\"")
            let end = try await stage.studio(["receive", "--record", stage.file("take.mp4")]).end()
            #expect(end.status == 0, "\(end.errorText)")
            let last = try await producer.end()
            #expect(last.status == 3, "\(last.errorText)")
            #expect(last.errorText.contains("cut short"))
            #expect(last.errorText.contains("Get a whole copy"))
            let frames = try await Judge.probe(stage.file("take.mp4")).frames
            #expect(frames > 10)
            #expect(frames < 90)
        }
    }
}
