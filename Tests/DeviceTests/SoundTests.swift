import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// snd-aloop in the virtual machine of `scripts/vm --tests`: what is played into `hw:Loopback,0,0` is recorded from
/// `hw:Loopback,1,0`. `GANTRY_SOUND_SECONDS` makes the tests of the clocks longer.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct SoundTests {
    private static let device = "hw:Loopback,0,0"
    /// The machine is 20 times slower: much more than the usual delay, so that its slowness makes no gap.
    private static let delay = MediaDuration.milliseconds(400)
    /// Time follows the code there: no gap is the machine's.
    private static let isSteady = ProcessInfo.processInfo.environment["GANTRY_VM_STEADY"] == "1"
    private static let clockSeconds =
        ProcessInfo.processInfo.environment["GANTRY_SOUND_SECONDS"].flatMap { Int($0) } ?? 24

    /// A tone of 997 Hz in blocks of 10 ms by the clock of this machine, as a session gives it.
    private final class Tone: Sendable {
        private let isOver = Watched(false)
        private let player: SoundPlayer

        init(_ player: SoundPlayer) {
            self.player = player
            Thread.detachNewThread { [self] in run() }
        }

        func stop() { isOver.change { $0 = true } }

        private func run() {
            let start = MonotonicClock.now()
            let block = AudioBlock(capacity: 480)
            var number: Int64 = 0
            while !isOver.value {
                for index in 0..<480 {
                    let time = Double(number * 480 % 48_000 + Int64(index)) / 48_000
                    let value = Float(0.5 * sin(2 * .pi * 997 * time))
                    block.samples[index * 2] = value
                    block.samples[index * 2 + 1] = value
                }
                block.count = 480
                block.presentationTime = MediaTimestamp(microseconds: 44_000_000 + number * 10_000)
                number += 1
                MonotonicClock.sleep(until: start + .milliseconds(number * 10))
                player.play(block)
            }
        }
    }

    private func wait(_ seconds: Int64) async throws {
        try await onThread { MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(seconds)) }
    }

    private func wait(until isSo: @escaping @Sendable () -> Bool) async throws -> Bool {
        try await onThread {
            let deadline = MonotonicClock.now() + patience
            while MonotonicClock.now() < deadline, !isSo() {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
            }
            return isSo()
        }
    }

    /// A virtual microphone: another program joins and hears the tone, without a gap.
    @Test(.enabled(if: isSteady, "for scripts/vm --tests --steady"), .timeLimit(.minutes(5)))
    func anotherProgramRecordsIt() async throws {
        let folder = try TestFolder()
        let player = try SoundPlayer(device: Self.device, delay: Self.delay)
        let tone = Tone(player)
        #expect(try await wait { player.figures.isPlaying })
        try await wait(2)
        let before = player.figures
        _ = try await Oracle.check([
            "arecord", "-q", "-D", "hw:Loopback,1,0", "-f", "FLOAT_LE", "-r", "48000", "-c", "2", "-d", "5", "-t",
            "raw", folder.file("take"),
        ])
        let figures = player.figures
        tone.stop()
        player.stop()
        print(figures)
        let left = try Self.left(folder.file("take"))
        #expect(left.count == 5 * 48_000)
        #expect(figures.underruns == before.underruns, "\(figures)")
        #expect((toneFrequency(left) - 997).magnitude < 0.2, "\(toneFrequency(left)) Hz")
        #expect(Self.quiet(left, 0.11...0.14).isEmpty, "\(Self.quiet(left, 0.11...0.14))")
        // It is never bent more than a tone of that height is.
        let bends = left.indices.dropFirst(2).filter { (left[$0] - 2 * left[$0 - 1] + left[$0 - 2]).magnitude > 0.02 }
        #expect(bends.isEmpty, "\(bends.map { $0 / 48 }) ms")
        withExtendedLifetime(folder) {}
    }

    private static func left(_ file: String) throws -> [Float] {
        try Data(contentsOf: URL(fileURLWithPath: file)).withUnsafeBytes { bytes in
            let samples = bytes.bindMemory(to: Float.self)
            return (0..<(samples.count / 2)).map { samples[$0 * 2] }
        }
    }

    /// Where 10 ms are not as loud as they should be, in ms.
    private static func quiet(_ left: [Float], _ power: ClosedRange<Float>) -> [Int] {
        stride(from: 0, to: left.count - 480, by: 480).filter { start in
            !power.contains(left[start..<(start + 480)].reduce(0) { $0 + $1 * $1 } / 480)
        }.map { $0 / 48 }
    }

    /// The clock of the loopback's cable, which is that of its device 1; 100000 is the right one.
    private func setClock(_ value: Int) async throws {
        _ = try await Oracle.check([
            "amixer", "-q", "-c", "Loopback", "cset",
            "iface=PCM,name='PCM Rate Shift 100000',device=1,subdevice=0", "\(value)",
        ])
    }

    @Test(.enabled(if: isSteady, "for scripts/vm --tests --steady"), .timeLimit(.minutes(10)), arguments: [200, -200])
    func aClockThatDiffersMakesNoGap(_ ppm: Int) async throws {
        try await setClock(100_000 + ppm / 10)
        let player = try SoundPlayer(device: Self.device, delay: Self.delay)
        let tone = Tone(player)
        #expect(try await wait { player.figures.isPlaying })
        var deviations: [Double] = []
        for _ in 0..<Self.clockSeconds {
            try await wait(1)
            deviations.append(player.figures.deviation.milliseconds)
        }
        let figures = player.figures
        tone.stop()
        player.stop()
        try await setClock(100_000)
        print("\(ppm) ppm: \(figures)\n\(deviations.map { Int($0.rounded()) })")
        #expect(figures.underruns == 0 && figures.realignments == 0)
        #expect(figures.largestDeviation.microseconds.magnitude <= 20_000)
        #expect(deviations.suffix(deviations.count / 2).allSatisfy { $0.magnitude <= 5 })
        // Learned in a minute or two.
        if Self.clockSeconds >= 100 { #expect((figures.correctionPartsPerMillion.magnitude - 200).magnitude < 100) }
    }

    @Test(.timeLimit(.minutes(5))) func wrongDevicesAreSaidAtOnce() async throws {
        let missing = #expect(throws: GantryError.self) { _ = try SoundPlayer(device: "hw:7,0") }
        #expect(missing?.code == .outputNotFound)
        let first = try SoundPlayer(device: Self.device)
        let busy = #expect(throws: GantryError.self) { _ = try SoundPlayer(device: Self.device) }
        #expect(busy?.code == .outputBusy, "\(String(describing: busy))")
        first.stop()
        // It is free again, and by the name of its card and as the usual one as well.
        for name in [Self.device, "Loopback", "default"] { try SoundPlayer(device: name).stop() }
    }

    /// Unplugged as a USB card is, and plugged in again.
    @Test(.timeLimit(.minutes(5))) func anUnpluggedDeviceComesBack() async throws {
        let player = try SoundPlayer(device: Self.device, delay: Self.delay)
        let tone = Tone(player)
        #expect(try await wait { player.figures.isPlaying })
        try await onThread {
            let driver = "/sys/bus/platform/drivers/snd_aloop"
            // Comes back when all have let go of the card.
            try "snd_aloop.0".write(toFile: driver + "/unbind", atomically: false, encoding: .utf8)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(700))
            try "snd_aloop.0".write(toFile: driver + "/bind", atomically: false, encoding: .utf8)
        }
        let back = MonotonicClock.now()
        #expect(try await wait { player.figures.isPlaying && player.figures.deviceLosses == 1 })
        let after = MonotonicClock.now() - back
        print("heard again \(after.milliseconds) ms after the device")
        #expect(after < .seconds(4))
        try await wait(2)
        #expect(player.figures.isPlaying && player.figures.deviceLosses == 1)
        tone.stop()
        player.stop()
    }

    /// From a producer's test tone to another program, through both tools.
    @Test(.enabled(if: isSteady, "for scripts/vm --tests --steady"), .timeLimit(.minutes(5))) func theToolsPlay()
        async throws
    {
        let folder = try TestFolder()
        let port = String(try LoopbackSocket.freePort())
        func tool(_ name: String, _ arguments: [String], input: ToolRun.Input = .none) throws -> ToolRun {
            try ToolRun(["gantry-" + name, "--state-dir", folder.file(name), "--json"] + arguments, input: input)
        }
        let window = try tool("studio", ["pair", "--text", "--address", "127.0.0.1"])
        let code = try #require(jsonLine(try await window.line(containing: "\"code\""))?["code"] as? String)
        #expect(try await tool("producer", ["pair", "-", "--port", port], input: .text(code)).end().status == 0)
        #expect(try await window.end().status == 0)
        let producer = try tool("producer", ["run", "test", "--port", port, "--size", "320x180", "--fps", "5"])
        try await producer.line(containing: "\"started\"")
        let studio = try tool(
            "studio",
            ["receive", "--play", Self.device, "--play-delay", "600ms", "--no-video", "--duration", "14s"])
        try await studio.line(containing: "\"connected\"")
        try await wait(3)
        _ = try await Oracle.check([
            "arecord", "-q", "-D", "hw:Loopback,1,0", "-f", "FLOAT_LE", "-r", "48000", "-c", "2", "-d", "5", "-t",
            "raw", folder.file("take"),
        ])
        let end = try await studio.end()
        producer.signal(SIGTERM)
        _ = try await producer.end()
        #expect(end.status == 0, "\(end.errorText)")
        let summary = end.lines.last { $0.contains("\"summary\"") }.flatMap(jsonLine)
        let sound = try #require(summary?["sound"] as? [String: Any])
        print(sound)
        #expect(sound["underruns"] as? Int == 0)
        let left = try Self.left(folder.file("take"))
        // Besides the tone of −26 dB there is a click each second, which adds crossings: 443 Hz.
        #expect((toneFrequency(left) - 443).magnitude < 2, "\(toneFrequency(left)) Hz")
        #expect(Self.quiet(left, 0.0008...1).isEmpty, "\(Self.quiet(left, 0.0008...1)) ms")
        withExtendedLifetime(folder) {}
    }

    @Test(.timeLimit(.minutes(5))) func nothingIsLeftBehind() async throws {
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        try SoundPlayer(device: Self.device).stop()
        let before = try descriptors()
        try await onThread { for _ in 0..<30 { try SoundPlayer(device: Self.device).stop() } }
        #expect(try descriptors() <= before + 2)
    }
}
