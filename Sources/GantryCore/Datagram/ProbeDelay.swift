/// How long to wait before datagrams are tried again where they have failed. A plain value.
///
/// Where they have passed and then nothing came any more, the network was gone for a moment, or has changed: 1, 2, 4 … 30 s, from the
/// beginning again once they have passed for 30 s. Where they have never passed, or too many were lost, it is 30 s.
package struct ProbeDelay: Sendable {
    private static let first = MediaDuration.seconds(1)
    private static let longest = DatagramLimits.probeAgain

    private var next = ProbeDelay.first
    private var opened: MediaTimestamp?
    private var hasPassed = false

    package init() {}

    /// They pass.
    package mutating func passed(now: MediaTimestamp) {
        hasPassed = true
        opened = now
    }

    /// They do not, or not any more.
    ///
    /// - Parameter isLossy: too many were lost.
    package mutating func failed(isLossy: Bool, now: MediaTimestamp) -> MediaDuration {
        if let opened, now - opened >= Self.longest { next = Self.first }
        opened = nil
        guard hasPassed, !isLossy else { return Self.longest }
        defer { next = min(next + next, Self.longest) }
        return next
    }
}
