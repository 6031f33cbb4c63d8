import GantryCore
import GantryMedia

/// Which entropy coding fits the bits that a picture may have: the fast one where there are enough, the dense one on a link
/// that is narrow for longer. A plain value of the encoding thread; a change costs a key frame, so it is slow to change.
///
/// Measured with `scripts/bench front` on a street scene, 1280x720: with 0.2 bits a pixel CAVLC costs 0.3 dB and takes 1 ms
/// of 6.5 off encoding and decoding, with 0.07 it costs 0.7 dB and takes 0.4 ms off.
struct EntropyChoice {
    private static let denseBelow = 0.06
    private static let fastFrom = 0.12
    private static let denseAfter = MediaDuration.seconds(2)
    private static let fastAfter = MediaDuration.seconds(10)

    private(set) var coding = H264EncoderConfiguration.EntropyCoding.cavlc
    /// Since when the other one would fit better.
    private var since: MediaTimestamp?

    /// For pictures of a new size: at once.
    mutating func begin(bitsPerPixel: Double) {
        coding = bitsPerPixel < Self.fastFrom * 0.75 ? .cabac : .cavlc
        since = nil
    }

    mutating func update(bitsPerPixel: Double, now: MediaTimestamp) {
        let fitsOther = coding == .cavlc ? bitsPerPixel < Self.denseBelow : bitsPerPixel >= Self.fastFrom
        guard fitsOther else {
            since = nil
            return
        }
        let begin = since ?? now
        since = begin
        guard now - begin >= (coding == .cavlc ? Self.denseAfter : Self.fastAfter) else { return }
        coding = coding == .cavlc ? .cabac : .cavlc
        since = nil
    }
}
