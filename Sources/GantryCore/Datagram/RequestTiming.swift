/// When a missing packet is asked for, and when again. Pure.
struct RequestTiming {
    /// The rest of a unit that has begun to come is expected within this time.
    static let tail = MediaDuration.milliseconds(3)
    private static let leastPatience = MediaDuration.microseconds(500)
    private static let mostPatience = MediaDuration.milliseconds(10)

    /// Smoothed time from request to answer, and its mean deviation (RFC 6298 section 2).
    private var answer = MediaDuration.milliseconds(20)
    private var deviation = MediaDuration.milliseconds(5)
    private var hasAnswer = false
    /// A packet that is this late may still be on its way: the path changes the order of packets.
    private(set) var patience = leastPatience

    mutating func answered(after time: MediaDuration) {
        let time = MediaDuration(microseconds: min(max(time.microseconds, 200), 1_000_000))
        guard hasAnswer else {
            hasAnswer = true
            answer = time
            deviation = MediaDuration(microseconds: time.microseconds / 4)
            return
        }
        let error = time.microseconds - answer.microseconds
        deviation.microseconds += (abs(error) - deviation.microseconds) / 4
        answer.microseconds += error / 8
    }

    mutating func cameLate(by time: MediaDuration) {
        let wanted = MediaDuration(microseconds: time.microseconds + time.microseconds / 4)
        patience = min(Self.mostPatience, max(patience, wanted))
    }

    /// Every report: a path that keeps the order is trusted again in a few seconds.
    mutating func calmDown() {
        patience = max(Self.leastPatience, MediaDuration(microseconds: patience.microseconds * 31 / 32))
    }

    /// From one request for a packet to the next.
    var again: MediaDuration {
        MediaDuration(
            microseconds: min(200_000, answer.microseconds + max(2000, 2 * deviation.microseconds)))
    }
}
