import GantryCore
import GantryMedia
import Testing

@testable import ProducerKit

@Suite struct VideoQualityTests {
    private func at(_ milliseconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: milliseconds * 1000) }

    /// Of the pictures of two seconds, 30 a second, those that are taken at the rate that the links take.
    private func taken(_ quality: inout VideoQuality, from start: Int64, shared: Int) -> Int {
        var count = 0
        for index in 0..<60 {
            let time = MediaTimestamp(microseconds: start * 1000 + Int64(index) * 33_333)
            quality.update(shared: shared, now: time)
            if quality.takesPicture(at: time) { count += 1 }
        }
        return count
    }

    @Test func aPoorLinkGetsFewerPictures() {
        var quality = VideoQuality(.init(bitrate: 6_000_000), VideoWish())
        let isNew = [quality.begin(width: 1280, height: 720), quality.begin(width: 1280, height: 720)]
        #expect(isNew == [true, false])
        #expect(taken(&quality, from: 0, shared: 6_000_000) == 60)
        _ = taken(&quality, from: 2000, shared: 1_000_000)
        #expect(39...41 ~= taken(&quality, from: 4000, shared: 1_000_000))
        _ = taken(&quality, from: 6000, shared: 700_000)
        #expect(29...31 ~= taken(&quality, from: 8000, shared: 700_000))
        // Up again after three seconds for each step.
        for second in stride(from: 10, to: 20, by: 2) {
            _ = taken(&quality, from: Int64(second) * 1000, shared: 6_000_000)
        }
        #expect(taken(&quality, from: 20_000, shared: 6_000_000) == 60)
    }

    @Test("S9: another bitrate counts while pictures come")
    func anotherBitrate() {
        var quality = VideoQuality(.init(bitrate: 6_000_000), VideoWish())
        _ = quality.begin(width: 1280, height: 720)
        quality.want(bitrate: 1_000_000)
        let isNew = [quality.begin(width: 1280, height: 720), quality.begin(width: 1280, height: 720)]
        #expect(isNew == [true, false])
        #expect(quality.maximum == 1_000_000)
        // It is what the user wants: full quality.
        #expect(taken(&quality, from: 0, shared: 1_000_000) == 60)
        quality.want(bitrate: nil)
        let isNewAgain = quality.begin(width: 1280, height: 720)
        #expect(isNewAgain)
        #expect(quality.maximum == 8_000_000)
    }

    @Test func whatTheUserWantsIsFullQuality() {
        var quality = VideoQuality(.init(bitrate: 400_000), VideoWish())
        _ = quality.begin(width: 1280, height: 720)
        #expect(taken(&quality, from: 0, shared: 400_000) == 60)
        #expect(quality.step.index == 0)
    }

    @Test func sizesComeLast() throws {
        var quality = VideoQuality(.init(bitrate: 6_000_000), VideoWish())
        _ = quality.begin(width: 1280, height: 720)
        let picture = try #require(Picture(format: .i420, width: 1280, height: 720))
        #expect(quality.size(of: picture) == (1280, 720))
        for second in 0..<10 { _ = taken(&quality, from: Int64(second) * 2000, shared: 300_000) }
        #expect(quality.size(of: picture) == (640, 360))
    }

    @Test func studiosAreToldOfChangesAndNotTooOften() {
        var quality = VideoQuality(.init(bitrate: 6_000_000), VideoWish())
        _ = quality.begin(width: 1280, height: 720)
        #expect(quality.news(now: at(0))?.bitrate == 6_000_000)
        #expect(quality.news(now: at(1000)) == nil)
        quality.update(shared: 5_900_000, now: at(1000))
        #expect(quality.news(now: at(1000)) == nil)
        quality.update(shared: 3_000_000, now: at(1050))
        #expect(quality.news(now: at(1050))?.bitrate == 3_000_000)
        quality.update(shared: 2_000_000, now: at(1100))
        #expect(quality.news(now: at(1100)) == nil)
        #expect(quality.news(now: at(1250))?.bitrate == 2_000_000)
    }
}
