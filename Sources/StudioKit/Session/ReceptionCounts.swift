import GantryCore
import GantryPlatform

/// What a connection of a studio counts. A value of its owner's lock.
struct ReceptionCounts: ~Copyable {
    var clock = ClockEstimator()
    var video = StreamCounter()
    var audio = StreamCounter()
    /// What the producer has said last.
    var producer = Stats()
    /// What the producer said first: it counts from its own start.
    var first: Stats?
    var qualityStep: Int?

    func fill(_ result: inout StudioStatistics) {
        result.framesReceived = video.received
        result.framesLost = video.lost
        result.videoBytes = video.bytes
        result.framesPerSecond = video.packetsPerSecond
        result.videoBitrate = video.bitrate
        result.mediaSeconds = (video.received > 0 ? video : audio).seconds
        result.jitter = Int(clamping: video.jitter.microseconds)
        result.audioPacketsReceived = audio.received
        result.audioPacketsLost = audio.lost
        result.audioBytes = audio.bytes
        if let first {
            result.producerFramesSent = Self.grown(producer.framesSent, since: first.framesSent)
            result.producerFramesDropped = Self.grown(producer.framesDropped, since: first.framesDropped)
        }
        result.roundTrip = Int(clamping: clock.roundTrip?.microseconds ?? 0)
        result.clockOffset = Int(clamping: clock.offset(at: MonotonicClock.now())?.microseconds ?? 0)
        result.clockDrift = clock.driftPartsPerMillion
        result.producerEncodeTime = .init(producer, .encode)
        result.qualityStep = qualityStep
        result.producerCaptureTime = .init(producer, .capture)
        result.producerReadyTime = .init(producer, .ready)
        result.producerQueueTime = .init(producer, .queue)
    }

    /// Counts of a peer: they may be anything.
    private static func grown(_ now: UInt64, since first: UInt64) -> Int {
        now > first ? Int(clamping: now - first) : 0
    }
}
