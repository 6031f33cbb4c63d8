import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// snd-aloop in the virtual machine of `scripts/vm --tests`: what is played into `hw:Loopback,0,N` is recorded from
/// `hw:Loopback,1,N`. Its two ends share rate, format and channels; who comes first sets them.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct MicrophoneTests {
    private static let microphone = "hw:Loopback,1,0"

    /// Plays a sound over and over as long as it lives, and is there when it plays.
    private func play(_ sound: String, rate: Int, format: String, channels: Int, folder: TestFolder) async throws
        -> ToolRun
    {
        let file = folder.file("sound.wav")
        _ = try await Oracle.check(
            [
                "ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i", sound, "-t", "20", "-ar", "\(rate)", "-ac",
                "\(channels)",
            ]
                + ["-c:a", format, "-y", file])
        let player = try ToolRun(["aplay", "-q", "-D", "hw:Loopback,0,0", file])
        try await running("pcm0p")
        return player
    }

    /// Until the end of the loopback runs.
    private func running(_ end: String) async throws {
        let isRunning = try await onThread { () -> Bool in
            let deadline = MonotonicClock.now() + patience
            while MonotonicClock.now() < deadline {
                let text = try? String(contentsOfFile: "/proc/asound/Loopback/\(end)/sub0/status", encoding: .utf8)
                if text?.contains("state: RUNNING") == true { return true }
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
            }
            return false
        }
        #expect(isRunning)
    }

    /// Runs a source until so many samples have come.
    private func record(_ source: MicrophoneSource, samples: Int, into sink: CollectingSink = CollectingSink())
        async throws
        -> CollectingSink
    {
        async let end = source.collect(start: MonotonicClock.now(), into: sink)
        let hasCome = try await onThread { () -> Bool in
            let deadline = MonotonicClock.now() + patience
            while sink.sampleCount < samples, MonotonicClock.now() < deadline {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
            }
            return sink.sampleCount >= samples
        }
        #expect(hasCome, "only \(sink.sampleCount) samples came")
        source.stop()
        guard case .stopped = await end else {
            Issue.record("it ended by itself")
            return sink
        }
        return sink
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        var rate: Int
        var format: String
        var channels: Int
        var testDescription: String { "\(rate) \(format) \(channels)" }
    }

    private static let kinds = [8000, 44_100, 48_000, 96_000].flatMap { rate in
        [("pcm_s16le", 1), ("pcm_s32le", 2), ("pcm_f32le", 2)].map { Kind(rate: rate, format: $0.0, channels: $0.1) }
    }

    @Test(.timeLimit(.minutes(5)), arguments: kinds) func aToneArrivesAtItsRate(_ kind: Kind) async throws {
        let folder = try TestFolder()
        let player = try await play(
            "sine=frequency=997:sample_rate=\(kind.rate)", rate: kind.rate, format: kind.format,
            channels: kind.channels,
            folder: folder)
        let source = try await onThread { try MicrophoneSource(name: Self.microphone) }
        #expect(source.info.audio?.sampleRate == kind.rate)
        #expect(source.info.audio?.channels == kind.channels)
        #expect(source.info.audio?.codec == kind.format)
        let sink = try await record(source, samples: 48_000)
        player.signal(SIGKILL)
        // Without the beginning.
        let left = Array(sink.leftSamples.dropFirst(4800))
        // A gap of a machine that is too slow moves it by a hertz at most; a wrong rate by 80 or more.
        #expect((toneFrequency(left) - 997).magnitude < 4, "\(toneFrequency(left)) Hz")
        // lavfi's sine has an amplitude of 1/8; a mono sound made stereo by ffmpeg loses 3 dB.
        let power = left.reduce(0.0) { $0 + Double($1 * $1) } / Double(left.count)
        #expect((0.08...0.13).contains((2 * power).squareRoot()), "\((2 * power).squareRoot())")
        #expect(sink.leftSamples == sink.rightSamples)
        _ = try await player.end()
        withExtendedLifetime(folder) {}
    }

    /// Another rate than ours does not make the sound dull or rough: ALSA's linear converter would leave 21 dB at 10 kHz.
    @Test(.timeLimit(.minutes(5)), arguments: [1000, 10_000]) func aConvertedToneIsClean(_ hertz: Int) async throws {
        let folder = try TestFolder()
        let player = try await play(
            "aevalsrc=0.5*sin(2*PI*\(hertz)*t):s=44100", rate: 44_100, format: "pcm_s16le", channels: 2, folder: folder)
        let source = try await onThread { try MicrophoneSource(name: Self.microphone) }
        #expect(source.info.audio?.sampleRate == 44_100)
        let sink = try await record(source, samples: 72_000)
        player.signal(SIGKILL)
        _ = try await player.end()
        // A machine that is too slow leaves gaps: the best of pieces of 100 ms.
        let left = Array(sink.leftSamples.dropFirst(4800))
        let fits = stride(from: 0, to: left.count - 4800, by: 4800).map {
            ToneFit(left[$0..<($0 + 4800)], hertz: Double(hertz))
        }
        let best = fits.max { $0.signalToNoise < $1.signalToNoise }
        print("\(hertz) Hz: \(fits.map { Int($0.signalToNoise) }) dB")
        #expect((best?.signalToNoise ?? 0) >= 60)
        // Mono made stereo by ffmpeg: 3 dB less.
        #expect(((best?.amplitude ?? 0) - 0.3536).magnitude < 0.007)
        withExtendedLifetime(folder) {}
    }

    @Test(.timeLimit(.minutes(5))) func samplesArriveBitByBit() async throws {
        let folder = try TestFolder()
        let player = try await play(
            "anoisesrc=seed=5:sample_rate=48000:amplitude=0.5", rate: 48_000, format: "pcm_s16le", channels: 2,
            folder: folder)
        let source = try await onThread { try MicrophoneSource(name: Self.microphone) }
        let sink = try await record(source, samples: 24_000)
        player.signal(SIGKILL)
        _ = try await player.end()
        let played = try await Oracle.check(
            ["ffmpeg", "-v", "error", "-i", folder.file("sound.wav"), "-af", "pan=mono|c0=c0", "-f", "s16le", "-"]
        ).output
        let original = played.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let recorded = sink.leftSamples.suffix(12_000).map { Int16(($0 * 32_768).rounded()) }
        let start = try #require(original.indices.first { original[$0...].starts(with: recorded.prefix(16)) })
        #expect(Array(original[start...].prefix(recorded.count)) == recorded)
    }

    @Test(.timeLimit(.minutes(5))) func stampsAreSteadyAndOfTheDriver() async throws {
        let folder = try TestFolder()
        let player = try await play(
            "sine=sample_rate=48000", rate: 48_000, format: "pcm_s16le", channels: 2, folder: folder)
        let source = try await onThread { try MicrophoneSource(name: Self.microphone) }
        let sink = try await record(source, samples: 192_000)
        player.signal(SIGKILL)
        _ = try await player.end()
        // Where it was stopped, a block was not full.
        let blocks = sink.audio.dropLast()
        #expect(blocks.allSatisfy { $0.count == 480 })
        let steps = zip(blocks, blocks.dropFirst()).map { ($1.presentation - $0.presentation).microseconds }
        #expect(steps.allSatisfy { $0 > 0 })
        let settled = steps.dropFirst(100)
        print("stamps: steps of \(settled.min() ?? 0)…\(settled.max() ?? 0) µs")
        let delays = blocks.map { ($0.arrival - $0.presentation).milliseconds }
        print("from the recording of a block's first sample to the sink: \(delays.min() ?? 0)…\(delays.max() ?? 0) ms")
        // A loaded machine may stall for longer than the buffer: an overrun, then. A block can be there when its last
        // sample is.
        #expect(settled.count { (9800...10_200).contains($0) } * 100 >= settled.count * 95)
        #expect(delays.count { $0 > 5 && $0 < 1000 } * 100 >= delays.count * 95)
    }

    /// A child of this very test, which records for its own; see below.
    private func probe(_ prefix: [String] = [], _ name: String = microphone) throws -> ToolRun {
        let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return try ToolRun(
            prefix + [
                "env", "GANTRY_PROBE=\(name)", bundle, "--testing-library", "swift-testing", "--filter",
                "MicrophoneProbe",
            ])
    }

    @Test(.timeLimit(.minutes(5))) func anOverrunIsSurvived() async throws {
        let folder = try TestFolder()
        let player = try await play(
            "sine=sample_rate=48000", rate: 48_000, format: "pcm_s16le", channels: 2, folder: folder)
        let child = try probe()
        @Sendable func count(_ state: ToolRun.State) -> Int { state.lines.filter { $0.hasPrefix("second ") }.count }
        #expect(try await child.state.wait { count($0) >= 1 || $0.outputEnded })
        child.signal(SIGSTOP)
        // Longer than the buffer: that is all it takes.
        try await onThread { MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1)) }
        child.signal(SIGCONT)
        let before = count(child.state.value)
        #expect(try await child.state.wait { count($0) >= before + 2 || $0.outputEnded })
        child.signal(SIGTERM)
        player.signal(SIGKILL)
        _ = try await player.end()
        let text = try await child.end()
        let gaps = text.lines.filter { $0.hasPrefix("gap ") }.compactMap { Int64($0.dropFirst(4)) }
        #expect(gaps.contains { $0 > 600_000 }, "\(gaps), \(text.errorText.suffix(2000))")
        #expect(gaps.allSatisfy { $0 > 0 })
    }

    @Test(.timeLimit(.minutes(5))) func aMicrophoneOfOthersIsSaid() async throws {
        let run = try await probe(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]).end()
        #expect(
            run.lines.contains { $0.hasPrefix("error 505") && $0.contains("usermod -aG audio") },
            "\(run.lines.suffix(8))")
        #expect(run.lines.contains { $0.hasPrefix("listed Loopback 505") }, "\(run.lines.suffix(8))")
    }

    @Test(.timeLimit(.minutes(5))) func aBusyMicrophoneIsSaid() async throws {
        let holder = try ToolRun([
            "arecord", "-q", "-D", Self.microphone, "-f", "S16_LE", "-r", "48000", "-c", "2", "/dev/null",
        ])
        try await running("pcm1c")
        let error = #expect(throws: GantryError.self) { _ = try MicrophoneSource(name: Self.microphone) }
        #expect(error?.code == .sourceBusy)
        #expect(
            error?.message.contains("arecord (process \(holder.processID))") == true, "\(String(describing: error))")
        holder.signal(SIGKILL)
        _ = try await holder.end()
    }

    @Test(.timeLimit(.minutes(5))) func microphonesAreListed() async throws {
        let all = try await onThread { MicrophoneList.all() }
        print(all.map { "\($0.name): \($0.description)\($0.isDefault ? ", default" : "")" }.joined(separator: "\n"))
        #expect(all.map(\.name) == ["default", "Loopback", "hw:Loopback,1"])
        #expect(all.map(\.isDefault) == [true, false, false])
        #expect(all.allSatisfy { $0.isVirtual && $0.cardID == "Loopback" && $0.problem == nil })
        #expect(all.allSatisfy { $0.description.contains("Loopback") })
        #expect(try MicrophoneList.best().name == "default")
        let missing = #expect(throws: GantryError.self) { _ = try MicrophoneSource(name: "hw:7,0") }
        #expect(missing?.code == .sourceNotFound)
        #expect(missing?.message.contains("hw:Loopback,1") == true, "\(String(describing: missing))")
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["default", "Loopback", "0"]) func aNameOfACardIsEnough(_ name: String)
        async throws
    {
        let source = try await onThread { try MicrophoneSource(name: name) }
        let sink = try await record(source, samples: 9600)
        #expect(sink.leftSamples.allSatisfy { $0 == 0 })
    }

    @Test(.timeLimit(.minutes(5))) func nothingIsLeftBehind() async throws {
        func descriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        // Let go of on the thread: what is handed over lives a moment longer there.
        try await onThread { for _ in 0..<1 { _ = try MicrophoneSource(name: Self.microphone) } }
        let before = try descriptors()
        try await onThread {
            for _ in 0..<50 { _ = try MicrophoneSource(name: Self.microphone) }
        }
        #expect(try descriptors() <= before + 2)
    }

    /// Unplugged as a USB microphone is, and plugged in again.
    @Test(.timeLimit(.minutes(5))) func anUnpluggedMicrophoneComesBack() async throws {
        let source = try await onThread { try MicrophoneSource(name: Self.microphone) }
        let sink = CollectingSink()
        let warnings = Watched<[String]>([])
        Log.setSink { line in warnings.change { $0.append(line) } }
        defer { Log.setSink(nil) }
        async let recorded = record(source, samples: 96_000, into: sink)
        let (unplugged, back) = try await onThread { () -> (MediaTimestamp, MediaTimestamp) in
            while sink.sampleCount < 24_000 { MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(10)) }
            let driver = "/sys/bus/platform/drivers/snd_aloop"
            let unplugged = MonotonicClock.now()
            // The kernel comes back when all have let go of the card.
            try "snd_aloop.0".write(toFile: driver + "/unbind", atomically: false, encoding: .utf8)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2500))
            try "snd_aloop.0".write(toFile: driver + "/bind", atomically: false, encoding: .utf8)
            return (unplugged, MonotonicClock.now())
        }
        _ = try await recorded
        let first = try #require(sink.audio.first { $0.arrival > back })
        print("back \((first.arrival - back).milliseconds) ms after the device")
        #expect(first.arrival - back < .seconds(2))
        #expect(first.presentation - unplugged > .milliseconds(2500))
        #expect(sink.soundChanges == [false, true], "it is told to be away, and to be back")
        let stamps = sink.audio.map(\.presentation)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        // Told once, and once that it is back.
        #expect(warnings.value.filter { $0.contains("unplugged") }.count == 1, "\(warnings.value)")
        #expect(warnings.value.filter { $0.hasSuffix("hw:Loopback,1,0 is back.\n") }.count == 1, "\(warnings.value)")
    }

    /// `GANTRY_UNPLUGS` says how often, 15 times if it does not: with 1000 a leak of 8 kB each time is seen.
    @Test(.timeLimit(.minutes(10))) func manyUnplugsLeaveNothingBehind() async throws {
        let source = try await onThread { try MicrophoneSource(name: Self.microphone) }
        let sink = CountingSink()
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        let rounds = ProcessInfo.processInfo.environment["GANTRY_UNPLUGS"].flatMap { Int($0) } ?? 15
        let marks = try await onThread { () throws -> [Resources] in
            var marks: [Resources] = []
            for _ in 0..<rounds {
                let count = sink.samples.value
                #expect(sink.samples.waitBlocking { $0 >= count + 2400 })
                marks.append(try Resources())
                for action in ["unbind", "bind"] {
                    try "snd_aloop.0".write(
                        toFile: "/sys/bus/platform/drivers/snd_aloop/" + action, atomically: false, encoding: .utf8)
                }
            }
            let count = sink.samples.value
            #expect(sink.samples.waitBlocking { $0 >= count + 2400 })
            marks.append(try Resources())
            return marks
        }
        source.stop()
        _ = try await end
        let (first, last) = (marks[min(2, marks.count - 1)], marks[marks.count - 1])
        print("\(rounds) unplugs: \(first) → \(last)")
        #expect(last.descriptors <= first.descriptors)
        #expect(last.mappings <= first.mappings + 8)
        // What the tests themselves read is in it, up to 5 MB in 15 rounds.
        #expect(last.kilobytes <= first.kilobytes + 8 * 1024)
    }

    private struct Resources: Sendable {
        let descriptors: Int
        let mappings: Int
        /// Resident.
        let kilobytes: Int

        init() throws {
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            mappings = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").count
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
            kilobytes = (Int(pages[1]) ?? 0) * 4
        }
    }

    private final class CountingSink: MediaSink {
        let samples = Watched(0)

        func video(_ picture: Picture) {}
        func audio(_ block: AudioBlock) { samples.change { $0 += block.count } }
        func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }
    }
}
