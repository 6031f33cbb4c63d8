/// What stands in front of every video and audio payload on the wire.
public struct MediaHeader: Hashable, Sendable {
    /// Counts the packets of a channel from 0, wraps around; a gap is a loss.
    public var sequence: UInt32
    /// Presentation time stamp on the producer's clock.
    public var presentationTime: MediaTimestamp
    /// When the frame was captured, or the first sample of a packet, on the producer's clock.
    public var captureTime: MediaTimestamp
    /// Which FORMAT this packet belongs to; wraps around.
    public var epoch: UInt16
    /// The packet can be decoded without any other before it.
    public var isKey: Bool

    /// What is left out is 0, or false.
    public init(
        sequence: UInt32 = 0, presentationTime: MediaTimestamp = .init(microseconds: 0),
        captureTime: MediaTimestamp = .init(microseconds: 0), epoch: UInt16 = 0, isKey: Bool = false
    ) {
        self.sequence = sequence
        self.presentationTime = presentationTime
        self.captureTime = captureTime
        self.epoch = epoch
        self.isKey = isKey
    }
}
