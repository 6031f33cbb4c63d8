/// What a producer has done since `start`.
public struct ProducerStatistics: Sendable, Equatable {
    /// Frames given to `enqueueVideo`.
    public var framesEnqueued = 0
    /// Frames encoded and handed to at least one connection.
    public var framesSent = 0
    /// Frames replaced by a newer one before the encoder took them.
    public var framesReplaced = 0
    /// Frames not encoded because a link was behind.
    public var framesSkipped = 0
    /// Bytes of coded video.
    public var videoBytes = 0
    /// Packets of sound, 10 ms each.
    public var audioPacketsSent = 0
    /// Encoding time of a frame over the last 512, in microseconds.
    public var encodeMicrosecondsP50 = 0
    /// As `encodeMicrosecondsP50`, of the slowest twentieth.
    public var encodeMicrosecondsP95 = 0
    /// Of studios, whatever they are for.
    public var connections = 0
    /// Step of the ladder of qualities, of the studio whose link takes least: 0 is full quality.
    public var qualityStep = 0
    /// The part of datagrams that is lost on the way to a studio, 0…1; the largest of all studios. Nil while no media goes over UDP.
    public var udpLoss: Double?
    /// From capture until the encoder takes the picture, over the last second.
    public var captureTime = StageTime()
    /// From capture to encoded, over the last second, for the studio whose link is slowest.
    public var readyTime = StageTime()
    /// From encoded until the link has taken the last byte, over the last second, for the studio whose link is slowest.
    public var queueTime = StageTime()

    /// Microseconds; all 0 when nothing was measured.
    public struct StageTime: Sendable, Equatable {
        /// Pictures in that second.
        public var count = 0
        /// The median, in microseconds.
        public var p50 = 0
        /// In microseconds.
        public var p95 = 0
        /// In microseconds.
        public var p99 = 0

        /// Nothing measured.
        public init() {}
    }
}
