import GantryCore

/// When a device that nobody wants is let go of. A plain value of the source's thread.
struct DeviceDemand {
    /// A studio that loses its connection is back within that time as a rule.
    private static let patience = MediaDuration.seconds(1)

    private var unwantedSince: MediaTimestamp?

    /// False when nobody has wanted anything for a while.
    mutating func keeps(_ isWanted: Bool, now: MediaTimestamp) -> Bool {
        guard !isWanted else {
            unwantedSince = nil
            return true
        }
        let since = unwantedSince ?? now
        unwantedSince = since
        return now - since < Self.patience
    }

    mutating func begin() { unwantedSince = nil }
}
