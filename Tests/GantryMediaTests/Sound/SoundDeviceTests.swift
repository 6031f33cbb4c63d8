import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

/// What needs no sound card. Real ones: Tests/DeviceTests.
@Suite struct SoundDeviceTests {
    @Test(
        arguments: [
            ("default", "default"), ("hw:0,0", "plughw:0,0"), ("hw:CARD=Loopback,DEV=1", "plughw:CARD=Loopback,DEV=1"),
            ("plughw:1", "plughw:1"), ("Loopback", "plughw:CARD=Loopback"), ("1", "plughw:CARD=1"),
            ("pulse", "pulse"), ("dsnoop:0,0", "dsnoop:0,0"), ("plug:{SLAVE=null}", "plug:{SLAVE=null}"),
        ])
    func aNameIsAskedForThroughPlug(name: String, resolved: String) {
        #expect(AlsaName.resolved(name) { ["Loopback", "1", "default"].contains($0) } == resolved)
    }

    @Test(arguments: ["", "a\nb", "a\u{0}b", String(repeating: "x", count: 257)])
    func whatCannotBeANameIsNone(name: String) {
        #expect(AlsaName.resolved(name) { _ in true } == nil)
        #expect(throws: GantryError.self) { _ = try AlsaPCM(name, .capture) }
    }

    @Test func aDeviceOfTheHardwareIsRecognised() {
        func hardware(_ name: String) -> String? { AlsaName.hardware(name).map { "\($0.card) \($0.device)" } }
        #expect(hardware("plughw:1,2") == "1 2")
        #expect(hardware("hw:CARD=PCH,DEV=3,SUBDEV=1") == "PCH 3")
        #expect(hardware("plughw:Loopback,1,0") == "Loopback 1")
        #expect(hardware("hw:") == "0 0")
        #expect(hardware("plughw:,,") == "0 0")
        #expect(hardware("hw:0,99999999999") == "0 0")
        #expect(hardware("default") == nil)
        #expect(hardware("dsnoop:0,0") == nil)
        #expect(AlsaName.renamed("hw:1,2", card: "Loopback") == "hw:Loopback,2")
        #expect(AlsaName.renamed("hw:1,0", card: "Loopback") == "Loopback")
    }

    @Test func theKernelsNodesAreRead() throws {
        let folder = try TestFolder()
        for name in [
            "pcmC1D0p", "pcmC1D0c", "pcmC0D10c", "pcmC0D2c", "controlC0", "timer", "pcmC99999999D0c", "pcmCD", "pcmC1c",
        ] {
            #expect(FileManager.default.createFile(atPath: folder.file(name), contents: nil))
        }
        let nodes = SoundCards.nodes(capture: true, in: folder.path)
        #expect(nodes.map(\.path) == ["/dev/snd/pcmC0D2c", "/dev/snd/pcmC0D10c", "/dev/snd/pcmC1D0c"])
        #expect(SoundCards.nodes(capture: false, in: folder.path).map(\.path) == ["/dev/snd/pcmC1D0p"])
        #expect(SoundCards.nodes(capture: true, in: folder.file("none")).isEmpty)
    }

    @Test func theKernelsCardsAreRead() throws {
        let folder = try TestFolder()
        for (name, id) in [("card1", "PCH\n"), ("card0", "Loopback\n"), ("cards", "x"), ("card77", "")] {
            let path = folder.file(name)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try id.write(toFile: path + "/id", atomically: false, encoding: .utf8)
        }
        #expect(SoundCards.all(in: folder.path).map { "\($0.number) \($0.id)" } == ["0 Loopback", "1 PCH"])
    }

    @Test func theRunningHardwareIsRead() {
        let text = """
            access: MMAP_INTERLEAVED
            format: S16_LE
            subformat: STD
            channels: 1
            rate: 44100 (44100/1)
            period_size: 5513
            buffer_size: 22052
            """
        let native = AlsaPCM.Native(text)
        #expect(native == AlsaPCM.Native(rate: 44100, channels: 1, format: "S16_LE"))
        #expect(native?.codec == "pcm_s16le")
        #expect(AlsaPCM.Native("closed\n") == nil)
        #expect(AlsaPCM.Native("rate: -1\nchannels: 99999999\n") == nil)
        #expect(AlsaPCM.Native("") == nil)
    }

    /// ALSA's "null" device needs no hardware.
    @Test func aDeviceIsOpenedReadAndWritten() throws {
        let stopper = try EventDescriptor()
        let microphone = try AlsaPCM("null", .capture)
        #expect(microphone.periodFrames > 0 && microphone.bufferFrames >= microphone.periodFrames)
        #expect(microphone.cardID == nil && microphone.native == nil)
        try microphone.start()
        #expect(try microphone.wait(until: MonotonicClock.now() + .seconds(5), stopper: stopper) == .ready)
        let block = AudioBlock(capacity: 480)
        #expect(try microphone.read(into: block.samples) == .frames(480))
        let player = try AlsaPCM("null", .playback, wish: .init(periodFrames: 256, bufferFrames: 2048))
        #expect(try player.write(from: UnsafeBufferPointer(block.samples)) == .frames(480))
    }

    @Test func aWaitIsStopped() throws {
        let stopper = try EventDescriptor()
        let microphone = try AlsaPCM("null", .capture)
        stopper.signal()
        #expect(try microphone.wait(until: MonotonicClock.now() + .seconds(50), stopper: stopper) == .stopped)
    }

    /// Sizes of nonsense end in what the device grants, or in an error.
    @Test(arguments: [(Int.min, Int.max), (Int.max, 1), (0, 0), (-5, 1 << 40)])
    func anyWishIsBounded(period: Int, buffer: Int) throws {
        do throws(GantryError) {
            let device = try AlsaPCM("null", .capture, wish: .init(periodFrames: period, bufferFrames: buffer))
            #expect(device.bufferFrames <= 480_000)
        } catch {
            #expect(error.code == .sourceUnreadable)
        }
    }

    /// "null" gives as many samples as are asked for: that is no microphone, and nothing behind it may be filled.
    @Test(.timeLimit(.minutes(1))) func aDeviceThatRunsAwayIsHeld() async throws {
        let source = try MicrophoneSource(name: "null")
        let sink = CollectingSink()
        let start = MonotonicClock.now()
        async let end = source.collect(start: start, into: sink)
        _ = try await onThread { () -> Bool in
            let deadline = MonotonicClock.now() + patience
            while sink.sampleCount < 48_000, MonotonicClock.now() < deadline {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(5))
            }
            return true
        }
        let count = sink.sampleCount
        let seconds = (MonotonicClock.now() - start).seconds
        source.stop()
        // It is let go when it is a second ahead, and tried again after a quarter of one.
        #expect(count >= 48_000 && Double(count) < 100_000 * (1 + 4 * seconds))
        guard case .stopped = await end else {
            Issue.record("it ended by itself")
            return
        }
        let stamps = sink.audio.map(\.presentation)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test(
        .enabled(if: !FileManager.default.fileExists(atPath: "/dev/snd"), "this machine has sound cards"))
    func noSoundCardIsSaid() throws {
        #expect(MicrophoneList.all().isEmpty)
        for name in ["default", "hw:0,0", "Loopback", "nonsense"] {
            let error = #expect(throws: GantryError.self) { _ = try AlsaPCM(name, .capture) }
            #expect(error?.code == .sourceNotFound)
            #expect(error?.message.contains("no microphone") == true, "\(String(describing: error))")
            let output = #expect(throws: GantryError.self) { _ = try AlsaPCM(name, .playback) }
            #expect(output?.code == .outputNotFound)
        }
        let none = #expect(throws: GantryError.self) { _ = try MicrophoneSource() }
        #expect(none?.code == .sourceNotFound)
    }

    private func microphone(
        _ name: String, isDefault: Bool = false, isVirtual: Bool = false, problem: GantryError.Code? = nil
    ) -> MicrophoneInfo {
        MicrophoneInfo(
            name: name, cardID: nil, description: name, isDefault: isDefault, isVirtual: isVirtual,
            problem: problem.map { GantryError($0, name) })
    }

    @Test func theBestMicrophoneIsChosen() throws {
        let real = microphone("USB")
        let loopback = microphone("Loopback", isVirtual: true)
        let standard = microphone("default", isDefault: true)
        let hollow = microphone("default", isDefault: true, isVirtual: true)
        #expect(try MicrophoneList.best(of: [standard, loopback, real]).name == "default")
        #expect(try MicrophoneList.best(of: [hollow, loopback, real]).name == "USB")
        #expect(try MicrophoneList.best(of: [loopback, real]).name == "USB")
        #expect(try MicrophoneList.best(of: [hollow, loopback]).name == "default")
        func failure(_ all: [MicrophoneInfo]) -> GantryError? {
            #expect(throws: GantryError.self) { _ = try MicrophoneList.best(of: all) }
        }
        #expect(failure([])?.code == .sourceNotFound)
        #expect(failure([loopback])?.message.contains("Loopback") == true)
        #expect(failure([microphone("USB", problem: .sourceBusy)])?.code == .sourceBusy)
    }

    @Test func whoHasAFileOpenIsFound() async throws {
        let folder = try TestFolder()
        let path = folder.file("device")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let holder = try ToolRun(["bash", "-c", "exec 9<\(path); echo ready; exec sleep 300"])
        try await holder.line(containing: "ready")
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let found = DeviceHolders.names(of: real)
        #expect(["bash", "sleep"].map { "\($0) (process \(holder.processID))" }.contains(found.first), "\(found)")
        #expect(found.count == 1)
        #expect(DeviceHolders.names(of: real + "x").isEmpty)
        holder.signal(SIGKILL)
        _ = try await holder.end()
        #expect(DeviceHolders.names(of: real).isEmpty)
        withExtendedLifetime(folder) {}
    }
}
