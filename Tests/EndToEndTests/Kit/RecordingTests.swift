import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

/// One take of the test pattern from the producer's picture to the file at the studio, judged in many ways.
private struct Take: Sendable {
    static let width = 640
    static let height = 360
    static let seconds: Int64 = 4
    static let kept: Set<UInt32> = [10, 40, 80]

    let stage: Stage
    let source: SourceRun.State
    let producer: ProducerStatistics
    let studio: StudioStatistics
    let skew: (microseconds: Int, count: Int)?
    let latency: LatencyMeter.Result?
    let summary: RecordingSummary?
    let error: GantryError?
    let facts: Judge.Facts
    let pictures: [Picture]

    /// Made once for all tests.
    static let shared = Task { try await make() }

    private static func make() async throws -> Take {
        let stage = try Stage()
        try await stage.pair()
        let (skew, latency) = (SkewMeter(), LatencyMeter())
        let path = stage.file("take.mp4")
        let recording = try MuxOutput.recording(path: path, overwrite: false) { Issue.record("\($0)") }
        var configuration = StudioSessionConfiguration()
        configuration.packetOutputs = [recording]
        configuration.videoOutputs = [latency, skew]
        configuration.audioOutputs = [skew]
        let run = try await stage.connect(configuration)
        #expect(try await stage.waitForReceivers(1))
        let source = SourceRun(stage.producer, keep: kept)
        try await source.play(try TestPatternSource.small(seconds: seconds, width: width, height: height))
        let producer = stage.producer.statistics
        try await stage.stop()
        let error = try await run.end()
        let pictures = try await Judge.pictures(path, width: width, height: height)
        return Take(
            stage: stage, source: source.state.value, producer: producer, studio: run.session.statistics,
            skew: skew.median, latency: latency.result, summary: recording.summary, error: error,
            facts: try await Judge.probe(path), pictures: pictures)
    }
}

extension EndToEnd {
    @Suite struct RecordingTests {
        @Test func theProducersStopEndsTheSessionInOrder() async throws {
            let take = try await Take.shared.value
            #expect(take.error == nil)
            #expect(take.studio.framesLost == 0)
            #expect(take.studio.framesDropped == 0)
            #expect(take.studio.audioPacketsLost == 0)
        }

        @Test func theFileHasPictureAndSound() async throws {
            let facts = try await Take.shared.value.facts
            #expect(facts.video["codec_name"] == "h264")
            #expect(facts.video["pix_fmt"] == "yuv420p")
            #expect(facts.video["color_space"] == "bt709")
            #expect(facts.width == Take.width)
            #expect(facts.height == Take.height)
            #expect(facts.audio["codec_name"] == "opus")
            #expect(facts.audio["sample_rate"] == "48000")
            #expect(facts.audio["channels"] == "2")
        }

        @Test func theFileIsAsLongAsTheTake() async throws {
            let take = try await Take.shared.value
            #expect(abs(take.facts.duration - Double(Take.seconds)) < 0.1)
            #expect(abs((take.summary?.duration.seconds ?? 0) - Double(Take.seconds)) < 0.1)
        }

        @Test func everyFrameIsInTheFile() async throws {
            let take = try await Take.shared.value
            let numbers = Judge.frameNumbers(take.pictures)
            #expect(numbers.count == take.facts.frames)
            #expect(numbers.count == take.summary?.frames)
            #expect(numbers.allSatisfy { $0 != nil })
            // A stalled machine may make the source or the gate leave frames out: then the producer says so.
            let leftOut = take.producer.framesReplaced + take.producer.framesSkipped
            if leftOut == 0 {
                #expect(numbers == take.source.numbers.map { $0 })
            } else {
                #expect(numbers.count == take.source.numbers.count - leftOut)
            }
            #expect(take.source.numbers.count > Int(Take.seconds) * 15)
            #expect(take.producer.framesSent == numbers.count)
        }

        @Test func theMetersReadWhatTheFileHolds() async throws {
            let take = try await Take.shared.value
            let latency = try #require(take.latency)
            #expect(latency.framesRead == take.studio.framesDecoded)
            #expect(latency.p50 > 0)
            #expect(latency.p50 <= latency.p95 && latency.p95 <= latency.p99 && latency.p99 <= latency.maximum)
            // Both ways of measuring look at the same thing.
            #expect(abs(latency.p50 - take.studio.latency.p50) < 50_000)
        }

        @Test func theSoundIsInStepWithThePicture() async throws {
            let skew = try #require(try await Take.shared.value.skew)
            #expect(skew.count >= 2)
            #expect(abs(skew.microseconds) <= 20_000)
        }

        /// In the file too, by the file's own stamps: flashes of the picture, clicks of the sound.
        @Test func theFileIsInStepAsWell() async throws {
            let take = try await Take.shared.value
            let times = try await Oracle.check([
                "ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time",
                "-of", "csv=p=0", take.stage.file("take.mp4"),
            ]).lines.compactMap { Double($0.split(separator: ",").first ?? "") }
            #expect(times.count == take.pictures.count)
            let flashes = zip(times, take.pictures).filter { FlashDetector.isLit(in: $0.1) }.map(\.0)
            let clicks = try await Self.clicks(take.stage.file("take.mp4"))
            #expect(flashes.count >= 2)
            // The first second may have begun before the sound did.
            for flash in flashes.dropFirst() {
                let nearest = clicks.map { abs($0 - flash) }.min() ?? 1
                #expect(nearest <= 0.020)
            }
        }

        /// Seconds on the file's time line, by ffmpeg's decoder.
        private static func clicks(_ path: String) async throws -> [Double] {
            let sound = try await Oracle.check([
                "ffmpeg", "-v", "error", "-i", path, "-map", "0:a:0", "-af", "aresample=async=1:first_pts=0", "-ac",
                "1",
                "-f", "f32le", "-",
            ]).output
            let samples = sound.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
            var clicks: [Double] = []
            for (index, sample) in samples.enumerated() where abs(sample) > 0.25 {
                let time = Double(index) / 48_000
                if time - (clicks.last ?? -1) > 0.5 { clicks.append(time) }
            }
            return clicks
        }

        @Test func theBarsHaveTheirColours() async throws {
            let take = try await Take.shared.value
            let layout = try #require(TestPatternLayout(width: Take.width, height: Take.height))
            let picture = try #require(take.pictures.dropFirst(30).first)
            for (index, color) in ColorBars.colors.enumerated() {
                let bar = layout.bar(index)
                let (x, y) = (bar.x + bar.width / 2, bar.y + bar.height / 2)
                let found = [
                    picture.plane(0)[y * picture.stride(0) + x],
                    picture.plane(1)[y / 2 * picture.stride(1) + x / 2],
                    picture.plane(2)[y / 2 * picture.stride(2) + x / 2],
                ]
                for (value, wanted) in zip(found, [color.y, color.cb, color.cr]) {
                    #expect(abs(Int(value) - Int(wanted)) <= 4, "bar \(index)")
                }
            }
        }

        @Test func thePictureIsTheSourcesPicture() async throws {
            let take = try await Take.shared.value
            var compared = 0
            for (number, picture) in zip(Judge.frameNumbers(take.pictures), take.pictures) {
                guard let number, let source = take.source.kept[number] else { continue }
                compared += 1
                #expect(Judge.psnr(source, picture) >= 35, "frame \(number)")
            }
            #expect(compared >= 1)
        }

        @Test func aClipKeepsItsQuality() async throws {
            let stage = try Stage(video: .init(frameRate: .fps30), audio: nil)
            try await stage.pair()
            let clip = stage.file("clip.mkv")
            // Motion, detail and some noise, kept without loss.
            try await FFmpegTool.ffmpeg([
                "-f", "lavfi", "-i", "mandelbrot=size=640x360:rate=30", "-t", "2", "-vf", "noise=alls=3:allf=t",
                "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
                "-color_range", "tv", "-c:v", "ffv1", clip,
            ])
            let take = try await FileTake.record(clip, on: stage, as: "quality.mkv")
            #expect(take.error == nil)
            #expect(take.facts.frames == 60)
            #expect(try await Judge.psnr(stage.file("quality.mkv"), against: clip) >= 35)
        }
    }
}
