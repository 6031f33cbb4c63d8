/// When the picture is given up so that sound goes on, and when it comes back.
///
/// A warning below 300 kbit/s for 2 s; off below 150 kbit/s for 3 s; on again above 400 kbit/s for 5 s, for twice as long
/// each time that it had to go off again within half a minute (a minute at most). Owned by one thread.
package struct VideoFallback: Sendable {
    private static let warningRate = 300_000
    private static let offRate = 150_000
    private static let onRate = 400_000
    /// Bits a second with which the picture begins again: more than it takes to come back, and no more than sound has shown to
    /// be there.
    static let firstRate = 500_000
    private static let warningTime = MediaDuration.seconds(2)
    private static let offTime = MediaDuration.seconds(3)
    private static let onTime = MediaDuration.seconds(5)
    private static let longestOnTime = MediaDuration.seconds(60)
    private static let relapse = MediaDuration.seconds(30)

    package private(set) var isOn = true
    private var isWarned = false
    private var warningSince: MediaTimestamp?
    private var offSince: MediaTimestamp?
    private var onSince: MediaTimestamp?
    private var onTime = Self.onTime
    private var lastOn: MediaTimestamp?

    package init() {}

    /// - Parameter bitrate: bits a second that the link has for video.
    /// - Returns: what to tell the studio, if anything.
    package mutating func update(bitrate: Int, now: MediaTimestamp) -> VideoState.State? {
        guard isOn else { return updateOff(bitrate, now) }
        if Self.lasted(bitrate < Self.offRate, &offSince, Self.offTime, now) {
            isOn = false
            isWarned = false
            let isRelapse = lastOn.map { now - $0 < Self.relapse } ?? false
            onTime = isRelapse ? min(onTime + onTime, Self.longestOnTime) : Self.onTime
            forget()
            return .disabled
        }
        if !isWarned, Self.lasted(bitrate < Self.warningRate, &warningSince, Self.warningTime, now) {
            isWarned = true
            warningSince = nil
            return .warning
        }
        // Well above it, so that it does not come and go.
        if isWarned, Self.lasted(bitrate > Self.warningRate * 6 / 5, &onSince, Self.warningTime, now) {
            isWarned = false
            onSince = nil
            return .warningLifted
        }
        return nil
    }

    private mutating func updateOff(_ bitrate: Int, _ now: MediaTimestamp) -> VideoState.State? {
        guard Self.lasted(bitrate > Self.onRate, &onSince, onTime, now) else { return nil }
        isOn = true
        lastOn = now
        forget()
        return .enabled
    }

    private mutating func forget() {
        warningSince = nil
        offSince = nil
        onSince = nil
    }

    private static func lasted(
        _ isSo: Bool, _ since: inout MediaTimestamp?, _ time: MediaDuration, _ now: MediaTimestamp
    ) -> Bool {
        guard isSo else {
            since = nil
            return false
        }
        let start = since ?? now
        since = start
        return now - start >= time
    }
}
