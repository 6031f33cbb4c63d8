import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import ProducerKit

/// What a wish makes of a picture's size and rate.
@Suite struct VideoWishTests {
    private func wish(_ width: Int, _ height: Int) -> VideoWish {
        VideoWish(size: PictureSize(width: width, height: height))
    }

    @Test(arguments: [
        // wished, comes, made
        (640, 480, 1280, 720, 640, 360), (640, 360, 1280, 720, 640, 360), (320, 180, 1920, 1080, 320, 180),
        (100, 8192, 1280, 720, 100, 56), (1920, 1080, 1280, 720, 1280, 720), (1280, 100, 1280, 720, 178, 100),
        (1, 1, 1280, 720, 32, 32), (333, 333, 641, 481, 334, 250), (8192, 8192, 33, 17, 32, 16),
        (16, 16, 20, 20, 20, 20),
    ])
    func thePictureKeepsItsShapeAndNeverGrows(
        _ wished: Int, _ wishedHeight: Int, _ width: Int, _ height: Int, _ made: Int, _ madeHeight: Int
    ) {
        let size = wish(wished, wishedHeight).fit(width: width, height: height)
        #expect(size == (made, madeHeight))
    }

    @Test func whatChangesNothingIsNoWish() {
        var wish = wish(1280, 720)
        wish.frameRate = .fps30
        #expect(wish.narrowed(width: 1280, height: 720, frameRate: .fps30) == VideoWish())
        #expect(wish.narrowed(width: 1920, height: 1080, frameRate: .fps30).size != nil)
        wish.frameRate = FrameRate(15)
        let narrowed = wish.narrowed(width: 640, height: 480, frameRate: .fps30)
        #expect(narrowed == VideoWish(frameRate: FrameRate(15)))
        #expect(narrowed.rate(of: .fps30) == FrameRate(15))
        #expect(VideoWish(frameRate: FrameRate(60)).rate(of: .fps30) == .fps30)
    }

    @Test func whatIsLeftOutStays() {
        var wish = wish(640, 360)
        wish.merge(Prefer(frameRate: FrameRate(10)))
        wish.merge(Prefer(maximumBitrate: 1))
        #expect(wish.size?.width == 640 && wish.frameRate == FrameRate(10) && wish.bitrate == 300_000)
        wish.merge(Prefer(maximumBitrate: .max))
        #expect(wish.bitrate == Int(UInt32.max))
    }

    /// A studio that changes its mind a thousand times a second makes two encodes a second; what it wished for last is made.
    @Test func wishesThatComeFastAreMerged() {
        let made = Watched<[VideoWish]>([])
        let settings = ProducerConfiguration.VideoSettings(frameRate: .fps30, sourceName: "test")
        let set = RenditionSet(settings) { wish, sequence in
            made.change { $0.append(wish) }
            return VideoRendition(
                settings: settings, wish: wish, sequence: sequence, wantedBitrate: WantedBitrate(nil),
                epochs: EpochCounter(),
                pauseGate: PauseGate(), counters: VideoCounters(), events: { _ in })
        }
        let (busy, calm) = (Receiver(), Receiver())
        set.add(busy)
        set.add(calm)
        func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }
        for ms in 0..<10_000 as Range<Int64> {
            set.prefer(wish(Int(320 + ms % 300 * 2), 360), busy, now: at(ms))
            if ms % 33 == 0 { _ = set.current(width: 1280, height: 720, now: at(ms)) }
        }
        #expect(15...22 ~= made.value.count)
        set.prefer(wish(160, 90), busy, now: at(10_000))
        set.prefer(wish(320, 180), calm, now: at(10_000))
        // The other one's wish does not wait.
        #expect(set.current(width: 1280, height: 720, now: at(10_001)).map { $0.wish }.contains(wish(320, 180)))
        let last = set.current(width: 1280, height: 720, now: at(11_000)).map { $0.wish }
        #expect(Set(last) == [VideoWish(), wish(160, 90), wish(320, 180)])
    }

    private final class Receiver: MediaSubscriber {
        func formatChanged(_ format: StreamFormat, epoch: UInt16) {}
        var videoBacklog: VideoBacklog { VideoBacklog() }
        var videoRate: Int? { nil }
        var takesVideo: Bool { true }
        func videoBegins(maximum: Int) {}
        func videoHeldUp() {}
        func rateChanged(_ rate: Rate) {}
        func send(_ packet: MediaPacket) -> Bool { true }
    }
}
