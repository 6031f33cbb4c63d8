import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// What cameras there are, and what can be set at them.
@Suite(.serialized, .enabled(if: CameraBench.isHere, CameraBench.reason))
struct CameraListTests {
    @Test(.timeLimit(.minutes(5))) func camerasAreListed() async throws {
        let cameras = try await onThread { CameraList.all() }
        let vivid = try #require(cameras.first { $0.path == CameraBench.vivid })
        #expect((vivid.name, vivid.driver, vivid.bus) == ("vivid", "vivid", "platform:vivid-000"))
        #expect(!vivid.isVirtual && vivid.problem == nil)
        #expect(vivid.stablePath == "/dev/v4l/by-path/platform-vivid.0-video-index0")
        #expect(vivid.modes.contains { $0.pixels == .yuyv && $0.width == 640...640 && $0.height == 480...480 })
        #expect(Set(vivid.modes.map(\.pixels)).count >= 19)
        // 11 writes, 10 is an output until somebody writes.
        let loopback = try #require(cameras.first { $0.path == "/dev/video11" })
        #expect(loopback.isVirtual)
        #expect(!cameras.contains { $0.path == "/dev/video10" })
        let best = try CameraList.best(cameras)
        #expect(best.path == CameraBench.vivid)
        let none = try await CameraBench.failure { _ = try CameraList.best(cameras.filter(\.isVirtual)) }
        #expect(none?.code == .sourceNotFound)
        #expect(none?.message.contains("/dev/video11") == true && none?.message.contains("/dev/video10") == true)
    }

    @Test(.timeLimit(.minutes(5))) func controlsAreThoseOfV4L2Ctl() async throws {
        let cameras = try await onThread { CameraList.all() }
        let vivid = try #require(cameras.first { $0.path == CameraBench.vivid })
        let listed = CameraBench.tool(["v4l2-ctl", "-d", vivid.path, "-l"]).split(separator: "\n")
        // "brightness 0x00980900 (int) : min=0 …", without the kinds that take no number.
        let usable = ["(int)", "(bool)", "(menu)", "(intmenu)", "(bitmask)", "(button)"]
        let names = listed.filter { line in usable.contains { line.contains($0) } && !line.contains("has-payload") }
            .compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(names.count > 20)
        #expect(vivid.controls.map(\.name) == names)
        let menu = try #require(vivid.controls.first { $0.name == "menu" })
        #expect(menu.entries.map(\.value) == [1, 3, 4] && menu.kind == .menu && menu.defaultValue == 3)
        #expect(vivid.controls.first { $0.name == "gain" }?.isInactive == true)
        #expect(vivid.controls.first { $0.name == "read_only_integer_32_bits" }?.isReadOnly == true)
        let numbers = vivid.controls.first { $0.name == "integer_menu" }
        #expect(numbers?.entries.first { $0.value == 4 }?.name == "5")
    }

    /// Looking must not stop, slow or change what another program does.
    @Test(.timeLimit(.minutes(5))) func lookingDoesNotDisturb() async throws {
        let source = try CameraSource(
            path: CameraBench.vivid, wish: CameraWish(width: 320, height: 180, frameRate: .fps30))
        let sink = CameraCounter()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= 5 })
        let writer = try await CameraBench.show("green", on: "/dev/video11", codec: ["-pix_fmt", "yuv420p"])
        defer { writer.signal(SIGKILL) }
        for _ in 0..<3 {
            let cameras = try await onThread { CameraList.all() }
            let vivid = try #require(cameras.first { $0.path == CameraBench.vivid })
            #expect(vivid.problem?.code == .sourceBusy)
            #expect(vivid.problem?.message.contains("this very program") == true)
            #expect(cameras.first { $0.path == "/dev/video11" }?.problem == nil)
        }
        let before = sink.state.value.pictures
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= before + 10 })
        source.stop()
        _ = try await end
        #expect(source.statistics.damaged == 0)
        #expect(writer.state.value.status == nil)
    }

    @Test(.timeLimit(.minutes(5))) func aBusyCameraNamesWhoHasIt() async throws {
        let reader = try ToolRun(
            ["v4l2-ctl", "-d", CameraBench.vivid, "--stream-mmap", "--stream-count=100000", "--stream-to=/dev/null"])
        defer { reader.signal(SIGKILL) }
        #expect(
            try await CameraBench.comesTrue {
                CameraBench.problem(of: CameraBench.vivid)?.contains("v4l2-ctl (process ") == true
            })
    }

    private func settings(_ texts: String...) throws -> CameraOptions {
        CameraOptions(controls: try texts.map { (text) throws in try CameraControlSetting(text) })
    }

    @Test(.timeLimit(.minutes(5))) func controlsAreSetAndReadByAnother() async throws {
        let path = CameraBench.vivid
        // `gain` has an effect only when the automatic is off, in whatever order they are named.
        let options = try settings(
            "brightness=77", "gain=200", "gain_automatic=off", "menu=menu_item_4", "boolean=no", "bitmask=0x80402010")
        do {
            let camera = try CameraCapture(device: path, options: options)
            #expect(CameraBench.control("brightness") == 77)
            #expect(CameraBench.control("gain") == 200)
            #expect(CameraBench.control("menu") == 4)
            #expect(CameraBench.control("boolean") == 0)
            withExtendedLifetime(camera) {}
        }
        CameraBench.set("gain_automatic", 1)
        for (text, words) in [
            ("gain=3", "--control gain_automatic=off --control gain="), ("brightness=256", "0 to 255"),
            ("zoom=1", "brightness, contrast"), ("read_only_integer_32_bits=1", "only be read"),
            ("menu=2", "menu_item_1, menu_item_3, menu_item_4"),
        ] {
            let wrong = try settings(text)
            let error = try await CameraBench.failure { _ = try CameraCapture(device: path, options: wrong) }
            #expect(error?.code == .invalidArgument)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
    }

    @Test(.timeLimit(.minutes(5))) func theToolSaysWhatACameraTakes() async throws {
        func run(_ arguments: String...) async throws -> ToolRun.State {
            try await ToolRun.run(
                ["gantry-producer", "--state-dir", "/tmp/gantry-camera-\(UUID().uuidString)", "run"] + arguments)
        }
        let zoom = try await run("camera", "--control", "zoom=1")
        #expect(zoom.status == 2)
        #expect(zoom.errorText.contains("brightness, contrast"), "\(zoom.errorText)")
        let h264 = try await run(CameraBench.vivid, "--pass-through", "h264")
        #expect(h264.status == 3)
        #expect(h264.errorText.contains("Leave --pass-through h264 out"), "\(h264.errorText)")
        let file = try await run("clip.mp4", "--control", "brightness=3")
        #expect(
            file.status == 2 && file.errorText.contains("--control does not go with a source that is no camera"),
            "\(file.errorText)")
        let explained = try await run("camera", "--log", "debug", "--duration", "1", "--port", "0", "--size", "640x480")
        #expect(explained.status == 0)
        #expect(explained.errorText.contains("asked for 640x480 30 fps; takes 640x480"), "\(explained.errorText)")
        #expect(explained.errorText.contains("penalty "), "\(explained.errorText)")
    }

    @Test(.timeLimit(.minutes(5))) func controlsAreSetAgainWhenItIsBack() async throws {
        let source = try CameraSource(
            path: CameraBench.vivid, wish: CameraWish(width: 320, height: 180, frameRate: .fps30),
            options: try settings("brightness=33"))
        let sink = CameraCounter()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= 5 })
        try await onThread {
            CameraBench.unplug()
            CameraBench.plug()
        }
        let before = sink.state.value.pictures
        #expect(try await sink.state.wait(.seconds(60)) { $0.pictures >= before + 5 })
        #expect(CameraBench.control("brightness") == 33)
        source.stop()
        _ = try await end
    }

    /// vivid with an output and metadata nodes, beside the usual one. The last: it takes node numbers.
    @Test(.timeLimit(.minutes(5))) func nodesThatAreNoCameraAreSaid() async throws {
        CameraBench.tool(["modprobe", "-r", "vivid"])
        CameraBench.tool(["modprobe", "vivid", "n_devs=1", "node_types=0x60101", "num_inputs=1", "input_types=0"])
        CameraBench.tool(["udevadm", "settle", "-t", "20"])
        defer {
            CameraBench.tool(["modprobe", "-r", "vivid"])
            CameraBench.tool(["modprobe", "vivid", "n_devs=1", "node_types=0x1", "num_inputs=1", "input_types=0"])
            CameraBench.tool(["udevadm", "settle", "-t", "20"])
        }
        let listed = try await onThread { CameraList.all() }.filter { $0.driver == "vivid" }
        #expect(listed.count == 1)
        for (kind, words) in [
            ("vid-out", "it is an output"), ("meta-cap", "data about the pictures"), ("meta-out", "it is an output"),
        ] {
            let name = try #require(
                CameraBench.nodes(named: "vivid-000-\(kind)").first, "\(CameraBench.nodes(named: "vivid"))")
            let error = try await CameraBench.failure { _ = try CameraSource(path: "/dev/\(name)") }
            #expect(error?.code == .sourceUnreadable)
            #expect(error?.message.contains(words) == true, "\(String(describing: error))")
        }
        let idle = try await CameraBench.failure { _ = try CameraSource(path: "/dev/video10") }
        #expect(idle?.code == .sourceSilent, "\(String(describing: idle))")
        #expect(idle?.message.contains("no program writes") == true)
    }
}
