import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

/// The tools with real devices: what there is, what is sent, and a code that is held before the camera.
@Suite(
    .serialized, .timeLimit(.minutes(10)),
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct SourceChoiceTests {
    private static func inventory(_ folder: TestFolder) async throws -> [String: Any] {
        let state = try await ToolRun.run([
            "gantry-producer", "--state-dir", folder.file("producer"), "--json", "sources",
        ])
        #expect(state.status == 0, "\(state.errorText)")
        #expect(state.lines.count == 1)
        return try #require(try JSONSerialization.jsonObject(with: state.output) as? [String: Any])
    }

    private static func cameras(_ inventory: [String: Any]) -> [[String: Any]] {
        inventory["cameras"] as? [[String: Any]] ?? []
    }

    private static func vivid(_ inventory: [String: Any]) throws -> [String: Any] {
        try #require(cameras(inventory).first { $0["driver"] as? String == "vivid" })
    }

    private static func producer(_ arguments: [String], _ folder: TestFolder) throws -> ToolRun {
        try ToolRun(["gantry-producer", "--state-dir", folder.file("producer"), "--json"] + arguments)
    }

    // MARK: What there is

    /// v4l2-ctl and arecord are the judges.
    @Test func whatTheDriversSayIsListed() async throws {
        let folder = try TestFolder()
        let inventory = try await Self.inventory(folder)
        let camera = try Self.vivid(inventory)
        let path = try #require(camera["source"] as? String)
        #expect(camera["isVirtual"] as? Bool == false)
        #expect(camera["problem"] is NSNull)
        let modes = try #require(camera["modes"] as? [[String: Any]])
        let listed = Set(
            modes.filter { $0["pixels"] as? String == "yuyv" }
                .map { "\($0["width"] ?? "?")x\($0["height"] ?? "?")" })
        let formats = try await Oracle.check(["v4l2-ctl", "-d", path, "--list-framesizes=YUYV"]).lines
        let sizes = Set(
            formats.compactMap { line in
                line.contains("Discrete") ? line.split(separator: " ").last.map(String.init) : nil
            })
        #expect(!sizes.isEmpty && listed == sizes, "\(listed) and \(sizes)")
        let fast = modes.first { $0["pixels"] as? String == "yuyv" && $0["width"] as? Int == 320 }
        #expect(fast?["frameRate"] as? Double == 60)
        let controls = try #require(camera["controls"] as? [[String: Any]])
        let brightness = controls.first { $0["name"] as? String == "brightness" }
        #expect(brightness?["maximum"] as? Int == 255 && brightness?["kind"] as? String == "integer")
        let loopback = Self.cameras(inventory).first { $0["source"] as? String == "/dev/video11" }
        #expect(loopback?["isVirtual"] as? Bool == true)

        let microphones = try #require(inventory["microphones"] as? [[String: Any]])
        let cards = try await Oracle.check(["arecord", "-l"]).text
        #expect(cards.contains("Loopback"))
        #expect(microphones.contains { $0["card"] as? String == "Loopback" && $0["isVirtual"] as? Bool == true })
        let standard = try #require(inventory["default"] as? [String: Any])
        #expect(standard["source"] as? String == path)
        #expect((standard["reason"] as? String)?.contains("first real camera") == true)

        let text = try await ToolRun.run(["gantry-producer", "sources", "--controls"])
        let shown = String(decoding: text.output, as: UTF8.self)
        for word in [path, "vivid", "320x180@60", "brightness=", "/dev/video11", "virtual", "sends \(path)"] {
            #expect(shown.contains(word), "\(word) in: \(shown.prefix(3000))")
        }
    }

    /// Another program streams: it is named, goes on, and the default says that nothing can be sent.
    @Test func aBusyCameraIsListedAndNotDisturbed() async throws {
        let folder = try TestFolder()
        let path = try #require(try Self.vivid(try await Self.inventory(folder))["source"] as? String)
        let reader = try ToolRun([
            "ffmpeg", "-v", "error", "-nostdin", "-progress", "pipe:1", "-f", "v4l2", "-video_size", "320x180", "-i",
            path, "-f", "null", "-",
        ])
        @Sendable func frames(_ state: ToolRun.State) -> Int {
            state.lines.last { $0.hasPrefix("frame=") }.flatMap { Int($0.dropFirst(6)) } ?? 0
        }
        #expect(try await reader.state.wait { frames($0) > 2 || $0.outputEnded })
        let inventory = try await Self.inventory(folder)
        let problem = try #require(try Self.vivid(inventory)["problem"] as? [String: Any])
        #expect(problem["code"] as? Int == GantryError.Code.sourceBusy.rawValue)
        #expect((problem["message"] as? String)?.contains("ffmpeg") == true, "\(problem)")
        #expect((inventory["default"] as? [String: Any])?["source"] is NSNull)
        let before = frames(reader.state.value)
        #expect(try await reader.state.wait { frames($0) > before || $0.outputEnded })
        #expect(!reader.state.value.outputEnded, "\(reader.state.value.errorText)")
        let run = try await Self.producer(["run", "--port", "0"], folder).end()
        #expect(run.status == 3)
        #expect(
            run.errorText.contains("ffmpeg") && run.errorText.contains("gantry-producer run test"), "\(run.errorText)")
        reader.signal(SIGKILL)
        _ = try await reader.end()
    }

    // MARK: What is sent

    @Test func runAloneTakesTheCameraAndTheMicrophone() async throws {
        let folder = try TestFolder()
        let standard = try #require(try await Self.inventory(folder)["default"] as? [String: Any])
        let microphone = try #require(standard["audio"] as? String)
        for (words, audio) in [
            ([], "\"audioSource\":\"\(microphone)\""), (["--audio", "off"], "\"audioSource\":null"),
        ] {
            let producer = try Self.producer(["run", "--port", "0", "--size", "320x180"] + words, folder)
            let started = try await producer.line(containing: "\"started\"")
            #expect(started.contains("\"source\":\"vivid"), "\(started)")
            #expect(started.contains(audio), "\(started)")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }
    }

    /// Camera and microphone to a studio's recording, over one line of the loopback by number: without it each end takes
    /// its first free one, which need not be the same. ffmpeg plays the sound in and is the judge of what comes out.
    @Test func pictureAndSoundOfTwoDevicesAreRecorded() async throws {
        let folder = try TestFolder()
        let port = String(try LoopbackSocket.freePort())
        try await Self.pair(folder, port: port)
        let player = try ToolRun([
            "ffmpeg", "-v", "error", "-nostdin", "-progress", "pipe:1", "-f", "lavfi", "-i",
            "sine=frequency=1000:sample_rate=48000",
            "-ac", "2", "-f", "alsa", "hw:Loopback,0,1",
        ])
        // Who opens the loopback first decides its format.
        #expect(
            try await player.state.wait(.seconds(60)) { state in
                state.outputEnded || state.lines.contains { $0.hasPrefix("progress=") }
            })
        let producer = try Self.producer(
            ["run", "/dev/video0", "--port", port, "--size", "320x180", "--fps", "15", "--audio", "hw:Loopback,1,1"],
            folder)
        _ = try await producer.line(containing: "\"started\"")
        let take = folder.file("take.mkv")
        let studio = try await ToolRun.run([
            "gantry-studio", "--state-dir", folder.file("studio"), "--json", "receive", "--record", take, "--duration",
            "5s",
        ])
        #expect(studio.status == 0, "\(studio.errorText)")
        producer.signal(SIGINT)
        let end = try await producer.end()
        #expect(end.status == 0, "\(end.errorText)")
        #expect(!player.state.value.outputEnded, "\(player.state.value.errorText)")
        player.signal(SIGKILL)
        _ = try await player.end()
        let streams = try await Oracle.check([
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width", "-of", "csv=p=0", take,
        ]).text
        #expect(streams.contains("h264,320") && streams.contains("opus"), "\(streams)")
        // The loudest: a machine that is too slow leaves gaps in the tone, which is one of -18 dB.
        let volume = try await Oracle.run([
            "ffmpeg", "-nostdin", "-i", take, "-af", "volumedetect", "-vn", "-f", "null", "-",
        ])
        let loudest = volume.errors.split(separator: "\n").first { $0.contains("max_volume:") }
            .flatMap { $0.split(separator: " ").dropLast().last }.flatMap { Double($0) }
        #expect((loudest ?? -99) > -30, "\(volume.errors.suffix(600))")
    }

    private static func pair(_ folder: TestFolder, port: String) async throws {
        let studio = try ToolRun([
            "gantry-studio", "--state-dir", folder.file("studio"), "--json", "pair", "--text", "--address", "127.0.0.1",
        ])
        let line = try await studio.line(containing: "\"code\"")
        let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        let code = try #require(event?["code"] as? String)
        let producer = try await ToolRun.run(
            ["gantry-producer", "--state-dir", folder.file("producer"), "pair", "-", "--port", port], input: .text(code)
        )
        #expect(producer.status == 0, "\(producer.errorText)")
        #expect(try await studio.end().status == 0)
    }

    // MARK: The code before the camera

    /// As `shell.wait`, longer: everything is slow in there.
    private static func wait(
        _ shell: ShellOnTerminal, for what: String, _ matches: @escaping @Sendable (TerminalModel) -> Bool
    ) async throws -> TerminalModel {
        guard try await shell.screen.wait(.seconds(180), until: matches) else {
            throw Oracle.Failure(text: "\(what) did not come. The screen:\n\(shell.screen.value.text)")
        }
        return shell.screen.value
    }

    /// The screen of a studio, filmed: a terminal in an X server, which ffmpeg plays into v4l2loopback.
    @Test(.enabled(if: VirtualScreen.isPossible("xterm"), "needs xvfb and xterm"))
    func theCodeOfATerminalIsReadThroughTheCamera() async throws {
        let folder = try TestFolder()
        let screen = try await VirtualScreen("640x640x24")
        let terminal = try ToolRun(
            [
                "xterm", "-display", screen.display, "-u8", "-fa", "DejaVu Sans Mono", "-fs", "8", "-geometry",
                "70x40+0+0",
            ]
                + ["-e", ToolRun.folder + "/gantry-studio", "--state-dir", folder.file("studio"), "pair", "--address"]
                + ["127.0.0.1"])
        let camera = try ToolRun([
            "ffmpeg", "-v", "error", "-nostdin", "-progress", "pipe:1", "-f", "x11grab", "-framerate", "4", "-i",
            screen.display, "-pix_fmt", "yuyv422", "-f", "v4l2", "/dev/video11",
        ])
        // The writer's format is the reader's: there is none before it has begun.
        #expect(try await camera.state.wait { $0.outputEnded || $0.lines.contains { $0.hasPrefix("frame=") } })
        let shell = try await ShellOnTerminal.ready(columns: 80, rows: 30)
        shell.type("gantry-producer --state-dir \(folder.file("producer")) pair --camera /dev/video11\n")
        let seen = try await Self.wait(shell, for: "the preview") {
            // Where the first picture shows the code, there may be no time to see one.
            $0.text.contains("Hold the code before the camera") && $0.text.contains("\u{2580}")
                || $0.text.contains("Paired with")
        }
        #expect(seen.unknown.isEmpty)
        #expect(!seen.isAlternate)
        let paired = try await Self.wait(shell, for: "the pairing") { $0.text.contains("Paired with") }
        // The preview is gone, and nothing of it has scrolled away.
        #expect(!paired.usualText.contains("\u{2580}") && !paired.usualText.contains("Hold the code"))
        terminal.signal(SIGKILL)
        camera.signal(SIGKILL)
        _ = try await camera.end()
        try await screen.end()
    }

    /// vivid shows bars: they are in the preview, which goes with Ctrl-C.
    @Test func thePreviewShowsWhatTheCameraSees() async throws {
        let folder = try TestFolder()
        let shell = try await ShellOnTerminal.ready(columns: 80, rows: 30)
        shell.type("gantry-producer --state-dir \(folder.file("producer")) pair --camera auto\n")
        let seen = try await Self.wait(shell, for: "the preview") {
            $0.text.contains("Hold the code before the camera")
        }
        let row = try #require(seen.cells.first { $0.count { $0.character == "\u{2580}" } == 40 })
        // White, yellow, cyan, green, magenta, red, blue, black at 75 percent: eight columns and what lies between.
        #expect(Set(row.map(\.foreground)).count >= 8, "\(row.map(\.foreground))")
        shell.type("\u{3}")
        let after = try await shell.wait(text: "cancelled", alternate: false)
        #expect(!after.usualText.contains("\u{2580}"))
    }
}
