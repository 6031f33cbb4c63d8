import GantryCore

/// What the producer knows of the session's wishes, and when it may be told more: it takes no
/// flood, however often they change. A plain value.
struct ToldWishes {
    private static let interval = MediaDuration.milliseconds(50)

    /// Nil until START.
    private var told: ReceptionWishes?
    private var next = MediaTimestamp(microseconds: 0)
    private var isWaiting = false

    /// What wishes that wait are due at; nil: none wait.
    var due: MediaTimestamp? { isWaiting ? next : nil }

    /// START has told them.
    mutating func started(_ wishes: ReceptionWishes) { told = wishes }

    /// - Returns: What the producer knew until now, when it is to be told; else nil, and whether somebody must look again when it is
    ///   due, which is said once.
    mutating func take(_ wishes: ReceptionWishes, now: MediaTimestamp) -> (former: ReceptionWishes?, mustWait: Bool) {
        guard let former = told else { return (nil, false) }
        guard now >= next else {
            defer { isWaiting = true }
            return (nil, !isWaiting)
        }
        next = now + Self.interval
        isWaiting = false
        told = wishes
        return (former, false)
    }
}
