/// A point on the producer's monotonic clock, in microseconds (`CLOCK_MONOTONIC`; its zero is arbitrary).
public struct MediaTimestamp: Hashable, Comparable, Sendable {
    /// Since the beginning of its clock.
    public var microseconds: Int64

    /// Microseconds since the beginning of its clock.
    public init(microseconds: Int64) { self.microseconds = microseconds }

    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }

    /// Wraps around instead of trapping: stamps come from peers.
    public static func - (a: Self, b: Self) -> MediaDuration {
        MediaDuration(microseconds: a.microseconds &- b.microseconds)
    }
    /// So much later; wraps around instead of trapping.
    public static func + (a: Self, d: MediaDuration) -> Self { Self(microseconds: a.microseconds &+ d.microseconds) }
    /// How much later the first is; wraps around instead of trapping.
    public static func - (a: Self, d: MediaDuration) -> Self { Self(microseconds: a.microseconds &- d.microseconds) }

    /// The one that comes first; nil when there is neither. Takes no memory, as a list of them would.
    package static func earlier(_ a: MediaTimestamp?, _ b: MediaTimestamp?) -> MediaTimestamp? {
        guard let a else { return b }
        guard let b else { return a }
        return min(a, b)
    }
}

/// A signed span of time in microseconds.
public struct MediaDuration: Hashable, Comparable, Sendable {
    /// Its length; below zero for the way back.
    public var microseconds: Int64

    /// That many microseconds.
    public init(microseconds: Int64) { self.microseconds = microseconds }
    /// That many microseconds.
    public static func microseconds(_ n: Int64) -> Self { Self(microseconds: n) }
    /// That many milliseconds.
    public static func milliseconds(_ n: Int64) -> Self { Self(microseconds: n &* 1000) }
    /// That many seconds.
    public static func seconds(_ n: Int64) -> Self { Self(microseconds: n &* 1_000_000) }

    /// No time.
    public static let zero = Self(microseconds: 0)

    /// In milliseconds, for people.
    public var milliseconds: Double { Double(microseconds) / 1000 }
    /// In seconds, for people.
    public var seconds: Double { Double(microseconds) / 1_000_000 }

    public static func < (a: Self, b: Self) -> Bool { a.microseconds < b.microseconds }
    /// The sum; wraps around instead of trapping.
    public static func + (a: Self, b: Self) -> Self { Self(microseconds: a.microseconds &+ b.microseconds) }
    /// The difference; wraps around instead of trapping.
    public static func - (a: Self, b: Self) -> Self { Self(microseconds: a.microseconds &- b.microseconds) }
}
