import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct MediaFileSourceTests {
    static let start = MediaTimestamp(microseconds: 7_000_000)
    static let fast = MediaFileOptions(isPaced: false)

    /// One second of moving picture and a tone.
    static func make(_ path: String, _ arguments: [String], rate: String = "30", size: String = "320x180") async throws
    {
        try await FFmpegTool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate):duration=1"]
                + ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=1"] + arguments + [path])
    }

    /// ffmpeg writes the matrix only when it copies.
    static func turn(_ path: String, into turned: String) async throws {
        try await FFmpegTool.ffmpeg(["-i", path, "-c", "copy", "-metadata:s:v:0", "rotate=90", turned])
    }

    static func play(
        _ path: String, _ options: MediaFileOptions = fast, keep: Int = 1
    ) async throws -> (MediaFileSource, CollectingSink, MediaSourceEnd) {
        let source = try MediaFileSource(url: path, options: options)
        let sink = CollectingSink(keep: keep)
        let end = await source.collect(start: start, into: sink)
        return (source, sink, end)
    }

    struct Clip: Sendable, CustomTestStringConvertible {
        var name: String
        var arguments: [String]
        var rate = "30"
        var frames = 30
        var size = "320x180"
        var width = 320
        var height = 180
        /// Stamps of this container are coarser, in microseconds.
        var tolerance: Int64 = 1
        var audioTolerance = 2500
        /// A display matrix that turns by 90 degrees is added.
        var turns = false
        var testDescription: String { name + " " + arguments.joined(separator: " ") }
    }

    static let x264 = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
    static let clips = [
        Clip(
            name: "b.mp4",
            arguments: ["-c:v", "libx264", "-preset", "veryfast", "-bf", "3", "-pix_fmt", "yuv420p", "-c:a", "aac"]),
        Clip(name: "a.mkv", arguments: x264 + ["-c:a", "flac"], tolerance: 1000),
        Clip(
            name: "8.webm", arguments: ["-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus"], tolerance: 1000),
        Clip(
            name: "9.webm",
            arguments: ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libvorbis"],
            tolerance: 1000),
        Clip(name: "m.avi", arguments: ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-c:a", "pcm_s16le"]),
        Clip(name: "t.ts", arguments: x264 + ["-c:a", "mp2"], tolerance: 20),
        Clip(name: "444.mp4", arguments: ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv444p"]),
        Clip(name: "10.mp4", arguments: ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p10le"]),
        Clip(name: "422.mov", arguments: ["-c:v", "prores", "-c:a", "pcm_s24le"]),
        Clip(name: "rgb.mkv", arguments: ["-c:v", "ffv1", "-pix_fmt", "bgr0", "-c:a", "flac"], tolerance: 1000),
        Clip(name: "23.mp4", arguments: x264, rate: "24000/1001", frames: 24),
        Clip(name: "50.mp4", arguments: x264, rate: "50", frames: 50),
        Clip(name: "60.mp4", arguments: x264, rate: "60", frames: 60),
        Clip(name: "mono.mp4", arguments: x264 + ["-ac", "1", "-c:a", "aac"]),
        Clip(name: "51.mp4", arguments: x264 + ["-ac", "6", "-c:a", "aac"]),
        Clip(name: "44.mp4", arguments: x264 + ["-ar", "44100", "-c:a", "aac"]),
        Clip(name: "8k.mkv", arguments: x264 + ["-ar", "8000", "-c:a", "pcm_u8"], tolerance: 1000),
        Clip(
            name: "odd.mkv", arguments: ["-c:v", "ffv1", "-pix_fmt", "yuv420p", "-c:a", "flac"], size: "321x181",
            tolerance: 1000),
        Clip(
            name: "turned.mov", arguments: x264 + ["-c:a", "aac"], width: 180, height: 320, turns: true),
    ]

    @Test(arguments: clips) func everyKindOfFilePlaysWhole(clip: Clip) async throws {
        let folder = try TestFolder()
        try await Self.make(folder.file(clip.name), clip.arguments, rate: clip.rate, size: clip.size)
        var path = folder.file(clip.name)
        if clip.turns {
            try await Self.turn(path, into: folder.file("turned-\(clip.name)"))
            path = folder.file("turned-\(clip.name)")
        }
        let (source, sink, end) = try await Self.play(path)
        guard case .finished = end else {
            Issue.record("\(end)")
            return
        }
        let video = try #require(source.info.video)
        #expect(video.width == clip.width && video.height == clip.height)
        let items = sink.video
        #expect(items.count == clip.frames)
        #expect(items.allSatisfy { $0.width == clip.width && $0.height == clip.height })
        // Every stamp where it belongs, from the first one on.
        let first = try #require(items.first).presentation
        let rate = clip.rate.split(separator: "/").compactMap { Double($0) }
        let step = 1_000_000 / (rate[0] / (rate.count > 1 ? rate[1] : 1))
        #expect((first - Self.start).microseconds >= 0 && (first - Self.start).microseconds < 100_000)
        for (index, item) in items.enumerated() {
            let expected = Int64((Double(index) * step).rounded())
            #expect(abs((item.presentation - first).microseconds - expected) <= clip.tolerance + 1)
        }
        // A second of sound, but for what the codec's frames add.
        #expect(source.info.audio != nil)
        #expect(abs(sink.sampleCount - 48_000) < clip.audioTolerance, "\(sink.sampleCount)")
        #expect(sink.leftSamples.contains { $0.magnitude > 0.02 })
        Self.expectToneOf440Hz(sink.leftSamples)
    }

    /// Counts the periods in the middle half of a second.
    static func expectToneOf440Hz(_ samples: [Float]) {
        guard samples.count > 40_000 else { return }
        let middle = samples[12_000..<36_000]
        var crossings = 0
        for (a, b) in zip(middle, middle.dropFirst()) where a < 0 && b >= 0 { crossings += 1 }
        #expect(abs(crossings - 220) <= 1)
    }

    @Test func rotationTurnsThePixelsClockwise() async throws {
        let folder = try TestFolder()
        // Left half white, right half black.
        try await FFmpegTool.ffmpeg([
            "-f", "lavfi", "-i", "color=black:size=320x180:rate=30:duration=0.2", "-vf",
            "drawbox=x=0:y=0:w=160:h=180:color=white:t=fill", "-c:v", "libx264", "-pix_fmt", "yuv420p",
            folder.file("plain.mov"),
        ])
        try await Self.turn(folder.file("plain.mov"), into: folder.file("a.mov"))
        let (_, sink, _) = try await Self.play(folder.file("a.mov"))
        let picture = try #require(sink.pictures.first)
        try #require(picture.width == 180 && picture.height == 320)
        // What ffmpeg itself shows, turned by its own reading of the matrix.
        let raw = try await FFmpegTool.ffmpeg([
            "-i", folder.file("a.mov"), "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-",
        ])
        try #require(raw.count == 180 * 320)
        for y in [40, 280] {
            #expect(abs(Int(picture.plane(0)[y * picture.stride(0) + 90]) - Int(raw[y * 180 + 90])) <= 20)
        }
        #expect(abs(Int(raw[40 * 180 + 90]) - Int(raw[280 * 180 + 90])) > 150)
    }

    /// Pictures equal ffmpeg's own decoding, and full range is converted once.
    @Test(arguments: [
        (["-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "2"], 0),
        (["-c:v", "mjpeg", "-pix_fmt", "yuvj422p", "-q:v", "2"], 3),
        (["-c:v", "libx264", "-pix_fmt", "yuv444p10le"], 3),
    ]) func picturesAreWhatFFmpegDecodes(arguments: [String], tolerance: Int) async throws {
        let folder = try TestFolder()
        let path = folder.file("a.mkv")
        try await Self.make(path, arguments)
        let (_, sink, _) = try await Self.play(path, keep: 10)
        let raw = try await FFmpegTool.ffmpeg([
            "-i", path, "-frames:v", "10", "-vf", "scale=out_range=tv", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
        ])
        let ours = sink.pictures.map { rawBytes(of: $0) }.reduce(Data(), +)
        try #require(raw.count == ours.count)
        let difference = zip(raw, ours).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(difference) / Double(raw.count) <= Double(tolerance) / 3)
    }

    @Test func soundAloneAndPictureAlonePlay() async throws {
        let folder = try TestFolder()
        try await Self.make(folder.file("v.mp4"), Self.x264 + ["-an"])
        try await Self.make(folder.file("a.ogg"), ["-vn", "-c:a", "libvorbis"])
        let (video, videoSink, _) = try await Self.play(folder.file("v.mp4"))
        #expect(video.info.audio == nil && videoSink.video.count == 30 && videoSink.sampleCount == 0)
        let (audio, audioSink, _) = try await Self.play(folder.file("a.ogg"))
        #expect(audio.info.video == nil && audioSink.video.isEmpty && abs(audioSink.sampleCount - 48_000) < 200)
        var quiet = Self.fast
        quiet.audio = false
        let error = #expect(throws: GantryError.self) { try MediaFileSource(url: folder.file("a.ogg"), options: quiet) }
        #expect(error?.code == .sourceHasNoMedia)
    }

    @Test func variableFrameRateIsKept() async throws {
        let folder = try TestFolder()
        let path = folder.file("vfr.mkv")
        // Every second picture of the first half is left out.
        try await Self.make(
            path, ["-vf", "select=gte(n\\,15)+not(mod(n\\,2))", "-fps_mode", "vfr", "-an"] + Self.x264)
        let (_, sink, _) = try await Self.play(path)
        let steps = zip(sink.video, sink.video.dropFirst()).map { ($1.presentation - $0.presentation).microseconds }
        #expect(steps.count == 22)
        #expect(steps.prefix(7).allSatisfy { abs($0 - 66_667) < 1500 })
        #expect(steps.suffix(13).allSatisfy { abs($0 - 33_333) < 1500 })
    }

    @Test func sizeAndRateCanBeChosen() async throws {
        let folder = try TestFolder()
        try await Self.make(folder.file("a.mp4"), Self.x264)
        let options = MediaFileOptions(
            size: .init(width: 160, height: 160), frameRate: FrameRate(10), isPaced: false)
        let (source, sink, _) = try await Self.play(folder.file("a.mp4"), options)
        #expect(source.info.video?.frameRate == FrameRate(10))
        #expect(sink.video.count == 10)
        let picture = try #require(sink.pictures.first)
        #expect(picture.width == 160 && picture.height == 160)
        // Black above and below, something in the middle.
        #expect(picture.plane(0)[10 * picture.stride(0) + 80] == 16)
        #expect((0..<160).contains { picture.plane(0)[80 * picture.stride(0) + $0] > 60 })
        let odd = MediaFileOptions(size: .init(width: 161, height: 160))
        #expect(throws: GantryError.self) { try MediaFileSource(url: folder.file("a.mp4"), options: odd) }
    }

    @Test(arguments: ["a.mp4", "a.mkv", "a.ts", "a.mov"]) func loopGoesOnWithoutAGap(name: String) async throws {
        let folder = try TestFolder()
        try await Self.make(folder.file(name), Self.x264 + ["-c:a", name == "a.mov" ? "pcm_s16le" : "aac"])
        let source = try MediaFileSource(
            url: folder.file(name), options: MediaFileOptions(loops: true, isPaced: false))
        let sink = CollectingSink(stopAfter: 100) { source.stop() }
        guard case .stopped = await source.collect(start: Self.start, into: sink) else {
            Issue.record("ended by itself")
            return
        }
        let stamps = sink.video.map(\.presentation)
        try #require(stamps.count >= 100)
        for (a, b) in zip(stamps, stamps.dropFirst()) {
            // Longer only by what the sound is longer than the picture.
            #expect((b - a).microseconds > 30_000 && (b - a).microseconds < 100_000)
        }
        let blocks = sink.audio
        for (a, b) in zip(blocks, blocks.dropFirst()) {
            let end = a.presentation.microseconds + Int64(a.count) * 1_000_000 / 48_000
            #expect(abs(b.presentation.microseconds - end) < 60_000)
        }
    }

    @Test func playsInRealTimeWithSoundInStep() async throws {
        let folder = try TestFolder()
        try await Self.make(folder.file("a.mp4"), Self.x264 + ["-c:a", "aac"])
        let source = try MediaFileSource(url: folder.file("a.mp4"))
        let sink = CollectingSink()
        let start = MonotonicClock.now() + .milliseconds(50)
        _ = await source.collect(start: start, into: sink)
        #expect(sink.video.count == 30)
        // Never early, and in the median hardly late, however busy the machine.
        #expect(sink.video.allSatisfy { $0.arrival >= $0.presentation && $0.capture <= $0.arrival })
        #expect(sink.audio.allSatisfy { $0.arrival >= $0.presentation })
        let delays = sink.video.map { ($0.arrival - $0.presentation).microseconds }.sorted()
        #expect(delays[delays.count / 2] < 100_000)
    }
}
