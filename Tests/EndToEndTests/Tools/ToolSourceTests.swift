import Foundation
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// `gantry-producer run` with sources that cannot be played, and with options that cannot be.
    @Suite struct ToolSourceTests {
        private static func run(
            _ arguments: [String], _ folder: TestFolder, input: ToolRun.Input = .none
        ) async throws -> ToolRun.State {
            try await ToolRun.run(
                ["gantry-producer", "--state-dir", folder.file("state"), "run", "--port", "0"] + arguments,
                input: input)
        }

        @Test func filesThatAreNoneAreNamed() async throws {
            let folder = try TestFolder()
            func write(_ name: String, _ data: Data) throws -> String {
                try data.write(to: URL(fileURLWithPath: folder.file(name)))
                return folder.file(name)
            }
            let missing = folder.file("missing.mp4")
            expectFailure(
                try await Self.run(["--source", missing], folder), status: 3, saying: ["no file \(missing)", "Check"])
            let text = try write("notes.txt", Data("Buy milk.\nBuy bread.\n".utf8))
            expectFailure(
                try await Self.run(["--source", text], folder), status: 3, saying: ["not a media file", "ffprobe"])
            let empty = try write("empty.mp4", Data())
            expectFailure(try await Self.run(["--source", empty], folder), status: 3, saying: ["ffprobe"])
            expectFailure(
                try await Self.run(["--source", folder.path], folder), status: 3, saying: ["is a folder", "file in it"])
            let subtitles = try write("only.srt", Data("1\n00:00:00,000 --> 00:00:01,000\nHello\n".utf8))
            expectFailure(
                try await Self.run(["--source", subtitles], folder), status: 3,
                saying: ["neither pictures nor sound", "ffprobe"])
        }

        /// A pipe into which nothing comes yet: it is said what is waited for, and what comes then is sent.
        @Test func whatTakesItsTimeIsSaid() async throws {
            let stage = try ToolStage()
            let pipe = Pipe()
            let producer = try stage.producer(
                ["run", "-", "--port", "0"], input: .pipe(pipe.fileHandleForReading))
            try await producer.errors(containing: "Waiting for the first picture on standard input.")
            var picture = Data("YUV4MPEG2 W64 H48 F30:1 C420\nFRAME\n".utf8)
            picture.append(Data(repeating: 128, count: 64 * 48 * 3 / 2))
            try pipe.fileHandleForWriting.write(contentsOf: picture)
            try await producer.line(containing: "\"started\"")
            let name = stage.file("queue.y4m")
            try #require(mkfifo(name, 0o600) == 0)
            let other = try stage.producer(["run", name, "--port", "0"])
            try await other.errors(containing: "Waiting for queue.y4m to begin.")
        }

        @Test func damagedFilesAreNamed() async throws {
            let folder = try TestFolder()
            let whole = folder.file("whole.mp4")
            try await FFmpegTool.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-t", "2", "-c:v", "libx264", "-pix_fmt",
                "yuv420p", whole,
            ])
            let data = try Data(contentsOf: URL(fileURLWithPath: whole))
            // Cut in the middle: the index, which stands at the end, is gone.
            let cut = folder.file("cut.mp4")
            try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: cut))
            expectFailure(
                try await Self.run(["--source", cut], folder), status: 3, saying: ["cut short", "ffprobe \(cut)"])
            var foreign = data
            for (old, new) in [("avc1", "zzzz"), ("avcC", "zzzC")] {
                while let range = foreign.range(of: Data(old.utf8)) {
                    foreign.replaceSubrange(range, with: Data(new.utf8))
                }
            }
            let odd = folder.file("odd.mp4")
            try foreign.write(to: URL(fileURLWithPath: odd))
            expectFailure(
                try await Self.run(["--source", odd], folder), status: 3, saying: ["zzzz", "ffmpeg -i FILE"])
        }

        @Test func soundAloneIsNoVideoOnlyWhenSoundIsOff() async throws {
            let folder = try TestFolder()
            let path = folder.file("sound.wav")
            try await FFmpegTool.ffmpeg(["-f", "lavfi", "-i", "sine=frequency=440", "-t", "1", path])
            expectFailure(
                try await Self.run(["--source", path, "--audio", "off"], folder), status: 3,
                saying: ["no pictures, and sound is switched off", "ffprobe"])
        }

        @Test func whatComesOnStandardInputMustBeFrames() async throws {
            let folder = try TestFolder()
            expectFailure(
                try await Self.run(["--source", "-"], folder, input: .text("hello\n")), status: 3,
                saying: ["not YUV4MPEG2", "ffmpeg -i INPUT"])
            expectFailure(
                try await Self.run(["--source", "-"], folder), status: 3, saying: ["Nothing came in", "program"])
        }

        @Test(
            arguments: [
                (["--size", "big"], "big"), (["--size", "1x1"], "320x"), (["--fps", "0"], "0"),
                (["--bitrate", "1"], "--bitrate"), (["--port", "70000"], "70000"), (["--frobnicate"], "--frobnicate"),
                (["a.mp4", "b.mp4"], "b.mp4"), (["a.mp4", "--source", "b.mp4"], "twice"), (["--loop"], "--loop"),
                (["--duration", "soon"], "soon"),
            ] as [([String], String)])
        func aWrongCommandLineIsStatusTwo(arguments: [String], word: String) async throws {
            let folder = try TestFolder()
            let state = try await ToolRun.run(
                ["gantry-producer", "--state-dir", folder.file("state"), "run"] + arguments)
            #expect(state.status == 2, "\(state.errorText)")
            #expect(state.output.isEmpty)
            if word != "320x" { #expect(state.errorText.contains(word), "\(state.errorText)") }
        }

        @Test func aPortInUseIsNamedWithTheOption() async throws {
            let stage = try ToolStage()
            let first = try await stage.startPattern()
            let folder = try TestFolder()
            let second = try await ToolRun.run([
                "gantry-producer", "--state-dir", folder.file("state"), "run", "test", "--port", stage.port,
            ])
            expectFailure(
                second, status: 5,
                saying: ["Port \(stage.port) is in use", "take another port: --port NUMBER", "ss -ltnp"])
            first.signal(SIGINT)
            #expect(try await first.end().status == 0)
        }

        @Test func aStateFolderThatCannotBeIsNamed() async throws {
            let folder = try TestFolder()
            _ = FileManager.default.createFile(atPath: folder.file("file"), contents: Data())
            let state = try await ToolRun.run([
                "gantry-producer", "--state-dir", folder.file("file"), "devices", "list",
            ])
            expectFailure(state, status: 9, saying: ["not a folder", "Move it away: mv"])
        }

        @Test(.enabled(if: geteuid() == 0, "mounts: needs root")) func aStateFolderOnAReadOnlyDiskIsNamed() async throws
        {
            let folder = try TestFolder()
            let mounting = "mount -t tmpfs -o ro,mode=700 none \"$1\" && exec \"$0\" --state-dir \"$1\" devices list"
            let state = try await ToolRun.run([
                "unshare", "-m", "sh", "-c", mounting, ToolRun.folder + "/gantry-studio", folder.path,
            ])
            // chmod would not mend it.
            expectFailure(state, status: 9, saying: ["read-only", "--state-dir"])
            #expect(!state.errorText.contains("chmod"))
        }

        @Test func errorsAreAnEventForPrograms() async throws {
            let folder = try TestFolder()
            let state = try await ToolRun.run([
                "gantry-producer", "--state-dir", folder.file("state"), "--json", "run", "--source",
                folder.file("none.mp4"),
            ])
            expectFailure(state, status: 3, saying: ["no file"], isJSON: true)
            let error = try #require(state.event("error"))
            #expect(error["status"] as? Int == 3)
            #expect(error["code"] as? Int == 500)
            #expect((error["message"] as? String)?.contains("none.mp4") == true)
            #expect(state.lines.count == 1)
        }
    }
}
