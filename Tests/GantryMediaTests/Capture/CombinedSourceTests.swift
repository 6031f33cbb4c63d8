import GantryCore
import GantryPlatform
import GantryTestSupport
import Synchronization
import Testing

@testable import GantryMedia

@Suite(.timeLimit(.minutes(5))) struct CombinedSourceTests {
    /// Makes pictures or sound until it is told to end.
    private final class Part: MediaSource {
        let info: MediaSourceInfo
        let calls = Watched<[String]>([])
        private let ending = Watched<MediaSourceEnd?>(nil)
        private let makesSound: Bool

        init(_ info: MediaSourceInfo) {
            self.info = info
            makesSound = info.audio != nil
        }

        func end(_ end: MediaSourceEnd) { ending.change { $0 = $0 ?? end } }
        func stop() {
            calls.change { $0.append("stop") }
            end(.stopped)
        }
        func pause() { calls.change { $0.append("pause") } }
        func resume() { calls.change { $0.append("resume") } }

        func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
            if makesSound {
                let block = AudioBlock(capacity: 480)
                block.count = 480
                sink.audio(block)
            } else if let picture = Picture(format: .i420, width: 16, height: 16) {
                sink.video(picture)
            }
            ending.waitBlocking { $0 != nil }
            return ending.value ?? .finished
        }
    }

    private static func parts() -> (video: Part, audio: Part) {
        let video = MediaSourceInfo.Video(width: 16, height: 16, frameRate: .fps30, color: .bt601, codec: "raw")
        let audio = MediaSourceInfo.Audio(sampleRate: 44_100, channels: 1, codec: "pcm")
        return (
            Part(MediaSourceInfo(video: video, duration: .seconds(5), isLive: true)),
            Part(MediaSourceInfo(audio: audio, isLive: true))
        )
    }

    private static func waitForBoth(_ sink: CollectingSink) async throws -> Bool {
        try await onThread {
            let deadline = MonotonicClock.now() + patience
            while sink.video.isEmpty || sink.audio.isEmpty, MonotonicClock.now() < deadline {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2))
            }
            return !sink.video.isEmpty && !sink.audio.isEmpty
        }
    }

    @Test func bothRunAndThePicturesEndIt() async throws {
        let (video, audio) = Self.parts()
        let source = CombinedSource(video: video, audio: audio)
        #expect(source.info.video == video.info.video)
        #expect(source.info.audio == audio.info.audio)
        #expect(source.info.duration == .seconds(5) && source.info.isLive)
        let sink = CollectingSink()
        async let end = source.collect(start: MonotonicClock.now(), into: sink)
        #expect(try await Self.waitForBoth(sink))
        source.pause()
        source.resume()
        video.end(.finished)
        guard case .finished = await end else {
            Issue.record("not the end of the pictures")
            return
        }
        #expect(video.calls.value == ["pause", "resume"])
        #expect(audio.calls.value == ["pause", "resume", "stop"])
    }

    @Test func soundThatFailsDoesNotStopThePictures() async throws {
        let (video, audio) = Self.parts()
        let source = CombinedSource(video: video, audio: audio)
        let sink = CollectingSink()
        async let end = source.collect(start: MonotonicClock.now(), into: sink)
        #expect(try await Self.waitForBoth(sink))
        audio.end(.endedEarly(GantryError(.sourceLost, "The microphone was unplugged.")))
        #expect(try await onThread { waitUntil { sink.soundChanges == [false] } })
        // The end of a combined source is that of its pictures, with their reason.
        video.end(.endedEarly(GantryError(.sourceSilent, "The camera gives no picture.")))
        guard case .endedEarly(let error) = await end else {
            Issue.record("it did not end early")
            return
        }
        #expect(error.code == .sourceSilent)
    }

    @Test func stopEndsBoth() async throws {
        let (video, audio) = Self.parts()
        let source = CombinedSource(video: video, audio: audio)
        source.stop()
        guard case .stopped = await source.collect(start: MonotonicClock.now(), into: CollectingSink()) else {
            Issue.record("not stopped")
            return
        }
        #expect(video.calls.value == ["stop"])
        #expect(audio.calls.value == ["stop", "stop"])
    }
}
