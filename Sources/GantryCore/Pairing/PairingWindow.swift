/// What all connections of one "pair" at the studio share: the secrets, how long they count, and who has used one.
///
/// Pure. A secret is shown for 120 s and counts 35 s longer. The first key that proves one has used up the window: the same
/// key may try again, another key that proves a secret within 35 s raises the alarm (the code was seen by two).
package struct PairingWindow: Sendable {
    package enum Verdict: Hashable, Sendable {
        /// Go on with the peer.
        case accepted
        /// Another key has used the code.
        case used
        /// Two keys knew the secret: revoke this first one as well, and store neither.
        case alarm(first: KeyID)
        /// After the alarm.
        case shared
    }

    private let times: PairingTimes
    private let closes: MediaTimestamp
    /// Nil once the window is closed.
    private var secret: PairingSecret?
    private var rotates: MediaTimestamp
    private var previous: PairingSecret?
    private var previousEnds = MediaTimestamp(microseconds: .min)
    private var first: KeyID?
    private var isAlarmed = false
    private var firstAt = MediaTimestamp(microseconds: .min)

    /// Until when a second key raises the alarm; nil before the first has finished.
    package var guardEnds: MediaTimestamp? { first == nil ? nil : firstAt + times.grace }

    package init(secret: PairingSecret, now: MediaTimestamp, times: PairingTimes = .standard) {
        self.times = times
        self.secret = secret
        closes = now + PairingLimits.window
        rotates = now + times.rotation
    }

    /// The secret to show; nil once the window is closed.
    package var current: PairingSecret? { secret }

    /// Lets go of the secrets: they are zeroed with their last user.
    package mutating func close() {
        secret = nil
        previous = nil
    }

    package func isOpen(now: MediaTimestamp) -> Bool { now < closes && secret != nil }

    /// Time to call `rotated` with a fresh secret.
    package func needsRotation(now: MediaTimestamp) -> Bool { now >= rotates && isOpen(now: now) && first == nil }

    /// When the next rotation or the end of the window is due.
    package var nextDeadline: MediaTimestamp { first == nil ? min(rotates, closes) : closes }

    /// Seconds that the shown code still lives (`T`).
    package func life(now: MediaTimestamp) -> Int {
        Int(clamping: max(0, min((rotates - now).microseconds, (closes - now).microseconds)) / 1_000_000)
    }

    package mutating func rotated(to fresh: PairingSecret, now: MediaTimestamp) {
        previous = secret
        previousEnds = now + times.grace
        secret = fresh
        rotates = now + times.rotation
    }

    /// The secrets that count now; none when the window is closed.
    package func knownSecrets(now: MediaTimestamp) -> [PairingSecret] {
        guard let secret, isOpen(now: now), !isAlarmed else { return [] }
        if let previous, now < previousEnds { return [secret, previous] }
        return [secret]
    }

    /// A peer has proved a secret.
    mutating func proved(by key: KeyID, now: MediaTimestamp) -> Verdict {
        guard let first, first != key else { return .accepted }
        guard now < firstAt + times.grace else { return .used }
        isAlarmed = true
        return .alarm(first: first)
    }

    /// A peer has finished the handshake and is about to be stored.
    mutating func finished(by key: KeyID, now: MediaTimestamp) -> Verdict {
        guard !isAlarmed else { return .shared }
        let verdict = proved(by: key, now: now)
        if verdict == .accepted, first == nil {
            first = key
            firstAt = now
        }
        return verdict
    }
}
