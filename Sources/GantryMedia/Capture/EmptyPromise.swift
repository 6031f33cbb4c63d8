import GantryCore

/// A device that says it is ready, again and again, and has nothing good to give: `poll` never finds it silent, and it is.
///
/// Time counts from the first empty promise, not from the last good one, so that a process that stood still meanwhile (a
/// debugger, SIGSTOP) does not give up a device in order. A plain value; times on one clock.
struct EmptyPromise {
    private let patience: MediaDuration
    private var since: MediaTimestamp?

    init(patience: MediaDuration) { self.patience = patience }

    /// It has given something.
    mutating func kept() { since = nil }

    /// It was ready and has given nothing: true when that has gone on for too long.
    mutating func broken(now: MediaTimestamp) -> Bool {
        let first = since ?? now
        since = first
        return now - first >= patience
    }
}
