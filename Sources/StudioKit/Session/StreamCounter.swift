import GantryCore

/// Counts the packets of one stream: how many came, how many are missing, how fast. A plain value.
struct StreamCounter {
    private(set) var received = 0
    private(set) var lost = 0
    private(set) var bytes = 0
    private var next: UInt32?
    /// Of the stamps.
    private var timeline = MediaTimeline()

    /// A step of more than this is a new beginning of the sequence, not a loss.
    private static let longestGap: UInt32 = 1 << 16

    private var spacing = JitterEstimator()

    /// - Parameter arrived: on this machine's clock.
    mutating func add(_ header: MediaHeader, bytes count: Int, arrived: MediaTimestamp) {
        if let next {
            let gap = header.sequence &- next
            if gap < Self.longestGap { lost += Int(gap) }
        }
        next = header.sequence &+ 1
        received += 1
        bytes += count
        _ = timeline.place(header.presentationTime.microseconds)
        spacing.add(sent: header.captureTime, arrived: arrived)
    }

    /// The stream was stopped on purpose: the numbers that are missing then are no loss.
    mutating func interrupted() { next = nil }

    /// The next step of the stamps may be a pause, which does not count.
    mutating func paused() { timeline.paused() }

    /// How much the spacing of packets changes on the way (encoding included), RFC 3550 section 6.4.1.
    var jitter: MediaDuration { spacing.jitter }

    /// From the first stamp to the last, without pauses.
    var span: MediaDuration { MediaDuration(microseconds: timeline.end) }
    /// As `span`, with the last packet taken to be as long as the mean of the others.
    var seconds: Double { received > 1 ? span.seconds * Double(received) / Double(received - 1) : 0 }
    var packetsPerSecond: Double { span > .zero ? Double(received - 1) / span.seconds : 0 }
    /// Bits a second, the last packet not counted: it has no end yet.
    var bitrate: Double { span > .zero ? Double(bytes) * 8 / span.seconds : 0 }
}
