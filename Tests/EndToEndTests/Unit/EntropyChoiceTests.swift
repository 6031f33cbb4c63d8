import GantryCore
import GantryMedia
import Testing

@testable import ProducerKit

@Suite struct EntropyChoiceTests {
    private func at(_ seconds: Double) -> MediaTimestamp { MediaTimestamp(microseconds: Int64(seconds * 1_000_000)) }

    @Test(arguments: [(0.29, H264EncoderConfiguration.EntropyCoding.cavlc), (0.1, .cavlc), (0.07, .cabac), (0, .cabac)])
    func aNewSizeGetsWhatFits(_ density: Double, _ coding: H264EncoderConfiguration.EntropyCoding) {
        var choice = EntropyChoice()
        choice.begin(bitsPerPixel: density)
        #expect(choice.coding == coding)
    }

    @Test func aShortDipChangesNothingAndALongOneDoes() {
        var choice = EntropyChoice()
        choice.begin(bitsPerPixel: 0.2)
        choice.update(bitsPerPixel: 0.05, now: at(0))
        choice.update(bitsPerPixel: 0.05, now: at(1.9))
        choice.update(bitsPerPixel: 0.07, now: at(1.95))
        choice.update(bitsPerPixel: 0.05, now: at(2))
        choice.update(bitsPerPixel: 0.05, now: at(3.9))
        #expect(choice.coding == .cavlc)
        choice.update(bitsPerPixel: 0.05, now: at(4))
        #expect(choice.coding == .cabac)
    }

    @Test func itGoesBackLate() {
        var choice = EntropyChoice()
        choice.begin(bitsPerPixel: 0.05)
        for second in 0..<10 { choice.update(bitsPerPixel: 0.2, now: at(Double(second))) }
        // Between the two bounds either is as good: nothing counts.
        choice.update(bitsPerPixel: 0.1, now: at(10))
        for second in 11...20 { choice.update(bitsPerPixel: 0.2, now: at(Double(second))) }
        #expect(choice.coding == .cabac)
        choice.update(bitsPerPixel: 0.2, now: at(21))
        #expect(choice.coding == .cavlc)
    }
}
