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
