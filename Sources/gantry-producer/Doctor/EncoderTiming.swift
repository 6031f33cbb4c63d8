import GantryCore
import GantryMedia
import GantryPlatform

/// Encodes what it gets, for a while, and measures each picture. The source's thread.
final class EncoderTiming: MediaSink, @unchecked Sendable {  // The source's thread, and the owner's behind its end.
    private let encoder: H264Encoder
    private let deadline: MediaTimestamp
    private let packet = MediaPacket(capacity: 256 * 1024)
    private let enough: () -> Void
    private var times: [Int] = []
    private var failure: GantryError?

    /// The first pictures fill caches.
    private static let warmUp = 5
    private static let most = 300

    init(_ encoder: H264Encoder, until deadline: MediaTimestamp, enough: @escaping () -> Void) {
        self.encoder = encoder
        self.deadline = deadline
        self.enough = enough
        times.reserveCapacity(Self.most)
    }

    func video(_ picture: Picture) {
        let start = MonotonicClock.now()
        do throws(GantryError) {
            try encoder.encode(picture, forceKey: false, into: packet)
        } catch {
            failure = error
            return enough()
        }
        let now = MonotonicClock.now()
        times.append(Int((now - start).microseconds))
        // At least one is measured, however slow the machine is.
        if times.count >= Self.most || now >= deadline && times.count > Self.warmUp { enough() }
    }

    func audio(_ block: AudioBlock) {}
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }

    /// Microseconds of the median picture.
    func median() throws(GantryError) -> Int {
        if let failure { throw failure }
        let sorted = times.dropFirst(Self.warmUp).sorted()
        guard !sorted.isEmpty else { throw GantryError(.encoder, "The encoder could not be measured.") }
        return sorted[sorted.count / 2]
    }
}
