import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// What a person does with a cable: `run --usb-setup` on one side, `receive usb` on the other.
@Suite(.serialized, .enabled(if: CableStage.isHere, CableStage.reason))
struct USBToolTests {
    // MARK: Strangers

    @Test(.timeLimit(.minutes(5))) func alwaysPairsBothSides() async throws {
        let stage = try CableStage()
        let producer = try await stage.produce(["--usb-trust", "prompt"])
        let studio = try stage.tool("studio", ["receive", "usb", "-d", "300ms"])
        let asked = try #require(jsonLine(try await producer.line(containing: "studioAsks")))
        let status = try #require(try await stage.run("producer", ["status"]).first)
        #expect((status["asks"] as? [String: Any])?["key"] as? String == asked["key"] as? String)
        let answer = try await stage.run("producer", ["admit", "always"])
        #expect(answer.first?["answer"] as? String == "always")
        let end = try await studio.end()
        #expect(end.status == 0, "\(end.errorText)")
        #expect(end.lines.contains { $0.contains("\"paired\"") && $0.contains("Camera") })
        #expect(try await CableStage.addresses(studio, 1).first?.hasPrefix("usb:") == true)
        for name in ["studio", "producer"] {
            #expect(try await stage.run(name, ["devices", "list"]).count == 1, "\(name)")
        }
        // By its name, over the cable, and nobody is asked.
        let again = try stage.tool("studio", ["receive", "Camera", "-d", "300ms"])
        #expect(try await again.end().status == 0)
        #expect(try await CableStage.addresses(again, 1).first?.hasPrefix("usb:") == true)
        #expect(producer.state.value.lines.count { $0.contains("studioAsks") } == 1)
        // No Avahi here: what is on the cable is listed all the same.
        let listed = try await stage.run("studio", ["list"])
        #expect(listed.count == 1 && listed.first?["paired"] as? Bool == true)
        #expect((listed.first?["addresses"] as? [String])?.first?.hasPrefix("usb:") == true)
        try await CameraChain.stop(producer)
    }

    @Test(.timeLimit(.minutes(5))) func onceLetsInAndNoTurnsAway() async throws {
        let stage = try CableStage()
        let producer = try await stage.produce(["--usb-trust", "prompt"])
        func asked(_ count: Int) async throws {
            #expect(
                try await producer.state.wait {
                    $0.lines.count { $0.contains("\"studioAsks\"") } == count || $0.status != nil
                })
        }
        let first = try stage.tool("studio", ["receive", "usb", "-d", "300ms"])
        try await asked(1)
        _ = try await stage.run("producer", ["admit", "once"])
        #expect(try await first.end().status == 0)
        #expect(try await stage.run("producer", ["devices", "list"]).isEmpty)
        // It was for once: asked again, and refused.
        let second = try stage.tool("studio", ["receive", "usb", "-d", "300ms"])
        try await asked(2)
        _ = try await stage.run("producer", ["admit", "no"])
        let refused = try await second.end()
        #expect(refused.status != 0 && refused.errorText.contains("declined"), "\(refused.errorText)")
        // After a no nobody is asked about it any more.
        let third = try await stage.tool("studio", ["receive", "usb"]).end()
        #expect(third.status != 0)
        #expect(producer.state.value.lines.count { $0.contains("\"studioAsks\"") } == 2)
        _ = try await stage.run("producer", ["admit", "once"], status: 1)
        try await CameraChain.stop(producer)
    }

    @Test(.timeLimit(.minutes(5))) func withoutATerminalOnlyPairedStudiosComeIn() async throws {
        let stage = try CableStage()
        let producer = try await stage.produce([])
        let refused = try await stage.tool("studio", ["receive", "usb"]).end()
        #expect(refused.status != 0, "\(refused.errorText)")
        #expect(try await stage.run("studio", ["devices", "list"]).isEmpty)
        try await CameraChain.stop(producer)
    }

    @Test(.timeLimit(.minutes(5))) func thePersonAtTheTerminalIsAsked() async throws {
        let stage = try CableStage()
        let shell = try ShellOnTerminal(columns: 120)
        shell.type(
            "\(ToolRun.folder)/gantry-producer --state-dir \(stage.folder.file("producer")) run test --size 160x120 --fps 10 "
                + "--audio off --port \(stage.port) --usb-setup --usb-controller dummy_udc.0\n")
        _ = try await shell.wait(text: "a host has taken us", alternate: false)
        let studio = try stage.tool("studio", ["receive", "usb", "-d", "300ms"])
        _ = try await shell.wait(text: "[y/a/N]", alternate: false)
        shell.type("a\n")
        #expect(try await studio.end().status == 0)
        shell.type("\u{3}")
        _ = try await shell.wait(text: "Sent", alternate: false)
        #expect(try await stage.run("producer", ["devices", "list"]).count == 1)
    }

    // MARK: Paths

    /// One recording over the cable, then the network, then the cable.
    @Test("C4: one recording, over network and cable", .timeLimit(.minutes(5)))
    func oneRecordingOverBothPaths() async throws {
        let stage = try CableStage()
        let producer = try await stage.produce()
        try await stage.pair()
        let take = stage.folder.file("take.mkv")
        let studio = try stage.tool("studio", ["receive", "Camera", "--record", take, "--vcam", "/dev/video10"])
        try await grows(take, studio)
        try CableStage.plug(false)
        #expect(try await CableStage.addresses(studio, 2).last == "127.0.0.1:" + stage.port)
        try await grows(take, studio)
        try CableStage.plug(true)
        #expect(try await producer.state.wait { $0.lines.count { $0.contains("\"attached\"") } == 2 })
        let other = try await stage.run("studio", ["receive", "Camera", "-d", "200ms"])
        #expect(
            (other.first { $0["event"] as? String == "connected" }?["address"] as? String)?.hasPrefix("usb:") == true)
        let summary = try await CameraChain.stop(studio)
        #expect(summary["framesLost"] as? Int == 0)
        let count = try #require(summary["framesReceived"] as? Int)
        let probe = try await Oracle.check([
            "ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=nb_read_packets", "-of", "csv=p=0",
            take,
        ])
        #expect(Int(probe.text.trimmingCharacters(in: .whitespacesAndNewlines)) == count)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: stage.folder.path).count { $0.hasPrefix("take") } == 1)
        try await CameraChain.stop(producer)
    }

    @Test(.timeLimit(.minutes(10))) func itComesBackAfterEachUnplugging() async throws {
        let rounds = ProcessInfo.processInfo.environment["GANTRY_USB_CYCLES"].flatMap { Int($0) } ?? 4
        let stage = try CableStage()
        let producer = try await stage.produce()
        let take = stage.folder.file("take.mkv")
        let studio = try stage.tool("studio", ["receive", "usb", "--record", take])
        try await grows(take, studio)
        let processes = [producer, studio].map { String($0.processID) }
        let before = processes.map { Holdings.now(of: $0) }
        var slowest = MediaDuration.zero
        var sizes = processes.map { _ in [Int]() }
        for _ in 0..<rounds {
            // Not exact numbers: on a busy machine a session may time out by itself as well.
            let losses = CableStage.count("disconnected", studio)
            try CableStage.plug(false)
            let isLost = try await studio.state.wait {
                CableStage.count("disconnected", $0) > losses || $0.status != nil
            }
            #expect(isLost)
            let connections = CableStage.count("connected", studio)
            let plugged = MonotonicClock.now()
            try CableStage.plug(true)
            let isBack = try await studio.state.wait {
                CableStage.count("connected", $0) > connections || $0.status != nil
            }
            #expect(isBack && studio.state.value.status == nil, "\(studio.state.value.errorText)")
            slowest = max(slowest, MonotonicClock.now() - plugged)
            try await grows(take, studio)
            for index in sizes.indices { sizes[index].append(Holdings.now(of: processes[index]).kibibytes) }
        }
        print("USB: \(rounds) unpluggings while recording, back after \(slowest.microseconds / 1000) ms at most")
        if CameraChain.hasReleaseTools { #expect(slowest < .seconds(2)) }
        let after = processes.map { Holdings.now(of: $0) }
        print("USB: \(before) before, \(after) after")
        for (then, now) in zip(before, after) {
            #expect(now.descriptors <= then.descriptors + 4 && now.threads <= then.threads + 2)
        }
        for size in sizes { expectNoGrowth(size) }
        try await CameraChain.stop(studio)
        try await CameraChain.stop(producer)
    }

    /// The C library's arenas fill up in the first rounds, and grow by some MiB at once later on, when what is free in them lies
    /// in pieces: what is lost each time makes even the least of the last quarter grow.
    private func expectNoGrowth(_ kibibytes: [Int]) {
        let quarter = kibibytes.count / 4
        guard quarter >= 10, let late = kibibytes.suffix(quarter).min(),
            let early = kibibytes.dropFirst(quarter).prefix(quarter).max()
        else { return }
        print("USB: at most \(early) KiB in the second quarter, at least \(late) KiB in the last")
        #expect(late < early + 4096)
    }

    /// 640x480 at 25 pictures a second over the cable; `GANTRY_USB_SECONDS` makes it longer. For release tools in the steady
    /// machine, as the test of the camera's rate.
    @Test(
        .timeLimit(.minutes(10)), .enabled(if: CameraChain.hasReleaseTools, CameraChain.needsReleaseTools),
        .enabled(if: CameraChain.isSteady, "for scripts/vm --tests --steady"))
    func theRateIsKeptWithoutALoss() async throws {
        let seconds = ProcessInfo.processInfo.environment["GANTRY_USB_SECONDS"].flatMap { Int($0) } ?? 15
        let stage = try CableStage()
        let producer = try await stage.produce(source: ["test", "--size", "640x480", "--fps", "25"])
        let studio = try stage.tool(
            "studio", ["receive", "usb", "--no-audio", "-d", "\(seconds)s", "--record", stage.folder.file("take.mp4")])
        #expect(try await studio.state.wait(.seconds(Int64(seconds) + 60)) { $0.status != nil })
        let end = try await studio.end()
        #expect(end.status == 0, "\(end.errorText)")
        let received = try #require(end.lines.last { $0.contains("\"summary\"") }.flatMap(jsonLine))
        let sent = try await CameraChain.stop(producer)
        print("studio: \(received)\nproducer: \(sent)")
        #expect(received["framesReceived"] as? Int == seconds * 25)
        for name in ["framesLost", "framesDropped"] { #expect(received[name] as? Int == 0) }
        for name in ["framesReplaced", "framesSkipped"] { #expect(sent[name] as? Int == 0) }
        #expect((24.9...25.1).contains(try #require(received["fps"] as? Double)))
    }

    /// Which one is meant must be said.
    @Test(.timeLimit(.minutes(5))) func twoProducersOnTwoControllers() async throws {
        let (first, second) = (try CableStage(), try CableStage())
        let producer = try await first.produce()
        let gadget = try await onThread { try TestGadget(controller: TestGadget.controllers[1]) }
        defer { gadget.remove() }
        let other = try second.tool(
            "producer",
            ["run", "test", "--size", "160x120", "--fps", "10", "--port", second.port, "--usb=" + gadget.mount]
                + ["--usb-trust", "tofu"])
        try await other.line(containing: "\"started\"")
        try gadget.bind()
        try await other.line(containing: "\"attached\"")
        let torn = try await first.tool("studio", ["receive", "usb"]).end()
        #expect(torn.status == 2 && torn.errorText.contains("Several producers"), "\(torn.errorText)")
        let key = try #require(jsonLine(try await producer.line(containing: "\"started\""))?["key"] as? String)
        for serial in [String(key.prefix(16)), gadget.serial] {
            _ = try await first.run("studio", ["receive", "usb:" + serial, "-d", "200ms"])
        }
        #expect(try await first.run("studio", ["devices", "list"]).count == 2)
        try await CameraChain.stop(other)
        try await CameraChain.stop(producer)
    }

    // MARK: Dead processes

    @Test(.timeLimit(.minutes(5))) func aProducerThatWasKilledIsReplaced() async throws {
        let stage = try CableStage()
        let first = try await stage.produce()
        let take = stage.folder.file("take.mkv")
        let studio = try stage.tool("studio", ["receive", "usb", "--record", take])
        try await grows(take, studio)
        first.signal(SIGKILL)
        try await studio.line(containing: "\"disconnected\"")
        // It takes over the gadget that the dead one has left.
        let second = try await stage.produce()
        _ = try await CableStage.addresses(studio, 2)
        try await grows(take, studio)
        try await CameraChain.stop(studio)
        try await CameraChain.stop(second)
        #expect(!FileManager.default.fileExists(atPath: "/sys/kernel/config/usb_gadget/gantry"))
    }

    @Test(.timeLimit(.minutes(5))) func aStudioThatWasKilledLeavesTheCableFree() async throws {
        let stage = try CableStage()
        let producer = try await stage.produce()
        let take = stage.folder.file("take.mkv")
        let studio = try stage.tool("studio", ["receive", "usb", "--record", take])
        try await grows(take, studio)
        studio.signal(SIGKILL)
        _ = try await studio.end()
        #expect(try await stage.tool("studio", ["receive", "usb", "-d", "300ms"]).end().status == 0)
        try await CameraChain.stop(producer)
    }

    /// A producer that ends says goodbye over the cable: nobody waits for it.
    @Test(.timeLimit(.minutes(5))) func aGoodbyeEndsTheSession() async throws {
        let stage = try CableStage()
        let producer = try await stage.produce()
        let take = stage.folder.file("take.mkv")
        let studio = try stage.tool("studio", ["receive", "usb", "--record", take])
        try await grows(take, studio)
        try await CameraChain.stop(producer)
        let end = try await studio.end()
        #expect(end.status == 0 && !end.lines.contains { $0.contains("\"disconnected\"") }, "\(end.lines)")
    }

    // MARK: Errors

    @Test(.timeLimit(.minutes(2)), arguments: [["receive", "usb"], ["receive", "usb:NOBODY"]])
    func nothingOnTheCableIsSaid(_ arguments: [String]) async throws {
        let stage = try CableStage()
        let end = try await stage.tool("studio", arguments).end()
        #expect(end.status == 10 && end.errorText.contains("run --usb"), "\(end.errorText)")
    }

    @Test(.timeLimit(.minutes(2))) func aControllerThatIsTakenIsNamed() async throws {
        let (stage, other) = (try CableStage(), try CableStage())
        let producer = try await stage.produce()
        let second = try await other.tool(
            "producer", ["run", "test", "--port", other.port, "--usb-setup", "--usb-controller", "dummy_udc.0"]
        ).end()
        #expect(second.status == 10 && second.errorText.contains("gantry"), "\(second.errorText)")
        try await CameraChain.stop(producer)
    }

    /// Waits until a recording has got more: pictures come.
    private func grows(_ path: String, _ studio: ToolRun) async throws {
        @Sendable func size() -> Int {
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
        }
        let start = size()
        _ = try await onThread { waitUntil { size() >= start + 4000 || studio.state.value.status != nil } }
        #expect(size() >= start + 4000, "\(studio.state.value.lines.suffix(5)) \(studio.state.value.errorText)")
    }
}
