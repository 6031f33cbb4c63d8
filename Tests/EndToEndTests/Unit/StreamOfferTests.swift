import GantryCore
import Testing

@testable import ProducerKit

/// Which streams a producer offers.
@Suite struct StreamOfferTests {
    private func time(_ seconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: seconds * 1_000_000) }

    @Test func streamsEndAndBeginAsNewOnes() {
        var offer = StreamOffer(ProducerConfiguration(), ended: [], now: time(1))
        #expect(offer.streams.map(\.kind) == [.video, .audio, .data])
        #expect(offer.set(.audio, isOffered: true, now: time(2)) == nil)
        #expect(offer.set(.audio, isOffered: false, now: time(2)) == Streams(removed: [2]))
        #expect(offer.set(.audio, isOffered: false, now: time(2)) == nil)
        #expect(!offer.offers(.audio) && offer.streams.map(\.channel) == [1, 3])
        let added = offer.set(.audio, isOffered: true, now: time(3))
        #expect(added?.removed == [])
        #expect(added?.added.map(\.channel) == [2] && added?.added.first?.created == time(3))
        #expect(offer.streams.first?.created == time(1))
    }

    @Test func whatIsNotConfiguredIsNotOffered() {
        var offer = StreamOffer(ProducerConfiguration(video: nil), ended: [.audio], now: time(1))
        #expect(offer.streams.map(\.kind) == [.data])
        #expect(offer.all.map(\.kind) == [.audio, .data])
        #expect(offer.set(.video, isOffered: true, now: time(2)) == nil && !offer.offers(.video))
        #expect(offer.set(.audio, isOffered: true, now: time(2))?.added.count == 1)
    }
}
