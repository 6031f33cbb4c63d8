import GantryCore

/// Lays the stamps of a producer's sessions on one time line that starts at 0 and never turns back.
///
/// Within a session positions follow the stamps exactly, for picture and sound alike. A new session may come with
/// another clock (the producer was restarted): then its first packet is placed by the time that passed here, and the
/// rest follows its new stamps. Pure; all times in microseconds.
struct RecordingTimeline {
    private var offset: Int64?
    private var lastStamp: Int64 = 0
    private var lastPosition: Int64 = 0
    private var lastArrival: Int64 = 0
    /// Where the furthest packet so far ends.
    private(set) var end: Int64 = 0
    private var isRestarting = false

    /// Stamps this far behind the last one are from another clock.
    private static let backwardJump: Int64 = 1_000_000
    /// The same forwards: longer than any pause of a session.
    private static let forwardJump: Int64 = 60_000_000
    /// What network delay may add to the time between two packets of one clock.
    private static let arrivalTolerance: Int64 = 1_000_000
    /// More than this is not taken for a pause.
    private static let longestPause: Int64 = 24 * 3600 * 1_000_000

    /// A new session or stream begins with the next packet.
    mutating func restart() { isRestarting = offset != nil }

    /// The position of a packet.
    ///
    /// - Parameters:
    ///   - stamp: its presentation time on the producer's clock.
    ///   - arrival: when it arrived on our clock; 0 when unknown.
    ///   - duration: how long it lasts; 0 when unknown.
    mutating func place(stamp: Int64, arrival: Int64, duration: Int64) -> Int64 {
        guard let known = offset else {
            offset = 0 &- stamp
            return note(0, stamp, arrival, duration)
        }
        let step = stamp &- lastStamp
        if isRestarting || step < -Self.backwardJump || step > Self.forwardJump {
            let passed =
                arrival > 0 && lastArrival > 0 ? min(max(0, arrival &- lastArrival), Self.longestPause) : 0
            let sameClock = isRestarting && step >= 0 && abs(clamped(step) - passed) < Self.arrivalTolerance
            if !sameClock { offset = max(end, lastPosition + passed) &- stamp }
            isRestarting = false
            return note(stamp &+ (offset ?? known), stamp, arrival, duration)
        }
        return note(stamp &+ known, stamp, arrival, duration)
    }

    private mutating func note(_ position: Int64, _ stamp: Int64, _ arrival: Int64, _ duration: Int64) -> Int64 {
        lastStamp = stamp
        lastPosition = position
        if arrival > 0 { lastArrival = arrival }
        end = max(end, position &+ min(max(0, duration), 1_000_000))
        return position
    }

    private func clamped(_ value: Int64) -> Int64 { min(max(value, -Self.longestPause), Self.longestPause * 2) }
}
