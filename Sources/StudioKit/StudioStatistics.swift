/// What a session has received so far. Times in microseconds.
public struct StudioStatistics: Sendable, Equatable {
    /// Seconds of media so far, by the producer's stamps.
    public var mediaSeconds = 0.0
    /// Pictures that came.
    public var framesReceived = 0
    /// Pictures that were decoded.
    public var framesDecoded = 0
    /// Gaps in the sequence numbers: what the producer encoded and we never got.
    public var framesLost = 0
    /// Pictures that were let go here, because decoding was behind, or an output that has a thread from the session: once for
    /// each such output. Outputs that return at once count for themselves, as `RecordingOutput.droppedCount`.
    public var framesDropped = 0
    /// What the producer says that it has sent since this session began, to all, and left out; 0 until it has said so.
    public var producerFramesSent = 0
    /// What the producer says that it has left out in that time.
    public var producerFramesDropped = 0
    /// Of coded picture.
    public var videoBytes = 0
    /// Packets of sound that came.
    public var audioPacketsReceived = 0
    /// Gaps in the sequence numbers of sound.
    public var audioPacketsLost = 0
    /// Of coded sound.
    public var audioBytes = 0
    /// Of the last picture, in pixels; 0 before the first.
    public var width = 0
    /// Of the last picture, in pixels; 0 before the first.
    public var height = 0
    /// Pictures a second over the whole session, by the stamps of the producer.
    public var framesPerSecond = 0.0
    /// Bits a second of video over the whole session.
    public var videoBitrate = 0.0
    /// From capture to decoded (to arrival, where no output takes pictures), with the producer's clock estimated by PING and PONG.
    public var latency = Percentiles()
    /// From the last byte's arrival to decoded.
    public var decodeTime = Percentiles()
    /// As `latency`, of sound.
    public var audioLatency = Percentiles()
    /// The producer's clock minus ours; 0 before the first estimate.
    public var clockOffset = 0
    /// How much faster the producer's clock runs, in parts per million; 0 in the first 10 seconds.
    public var clockDrift = 0.0
    /// What the producer says of its stages; p99 and maximum are not told. The count is 0 until it has said so.
    public var producerEncodeTime = Percentiles()
    /// From capture until the encoder takes the picture.
    public var producerCaptureTime = Percentiles()
    /// From capture to encoded.
    public var producerReadyTime = Percentiles()
    /// From encoded until the link has taken it.
    public var producerQueueTime = Percentiles()
    /// How much the time from capture to arrival changes from frame to frame (RFC 3550 section 6.4.1).
    public var jitter = 0
    /// Smallest of the last 16.
    public var roundTrip = 0
    /// Step of the ladder of qualities that the producer has told last: 0 is full quality. Nil: it has told none.
    public var qualityStep: Int?
    /// Media that came over UDP; all 0 where it came over TCP.
    public var udp = UDPCounts()

    /// What came over UDP.
    public struct UDPCounts: Sendable, Equatable {
        /// Pictures and packets of sound.
        public var units = 0
        /// Datagrams that should have come.
        public var expected = 0
        /// Those of them that did not come by themselves.
        public var lost = 0
        /// Datagrams that parity gave back.
        public var repaired = 0
        /// Datagrams that were asked for again.
        public var requested = 0
        /// Datagrams that were not the producer's, or came twice: refused by SRTP.
        public var refused = 0

        /// Nothing.
        public init() {}

        static func + (a: Self, b: Self) -> Self {
            var sum = a
            sum.units += b.units
            sum.expected += b.expected
            sum.lost += b.lost
            sum.repaired += b.repaired
            sum.requested += b.requested
            sum.refused += b.refused
            return sum
        }
    }

    /// How long something took, in microseconds.
    public struct Percentiles: Sendable, Equatable {
        /// Of the values that they are taken from.
        public var count = 0
        /// The median.
        public var p50 = 0
        /// 19 of 20 took no longer.
        public var p95 = 0
        /// 99 of 100 took no longer.
        public var p99 = 0
        /// The longest.
        public var maximum = 0

        /// Nothing measured.
        public init() {}
    }

    /// Nothing received.
    public init() {}

    /// With the counts of connections before this one.
    func adding(_ past: StudioStatistics) -> StudioStatistics {
        guard past != StudioStatistics() else { return self }
        var sum = framesReceived + audioPacketsReceived > 0 ? self : past
        sum.mediaSeconds = mediaSeconds + past.mediaSeconds
        sum.framesReceived = framesReceived + past.framesReceived
        sum.framesDecoded = framesDecoded + past.framesDecoded
        sum.framesLost = framesLost + past.framesLost
        sum.framesDropped = framesDropped + past.framesDropped
        sum.producerFramesSent = Self.sum(producerFramesSent, past.producerFramesSent)
        sum.producerFramesDropped = Self.sum(producerFramesDropped, past.producerFramesDropped)
        sum.videoBytes = videoBytes + past.videoBytes
        sum.audioPacketsReceived = audioPacketsReceived + past.audioPacketsReceived
        sum.audioPacketsLost = audioPacketsLost + past.audioPacketsLost
        sum.audioBytes = audioBytes + past.audioBytes
        sum.udp = udp + past.udp
        return sum
    }

    /// Of what a peer has counted: it may be anything.
    private static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, isTooMuch) = a.addingReportingOverflow(b)
        return isTooMuch ? .max : sum
    }
}
