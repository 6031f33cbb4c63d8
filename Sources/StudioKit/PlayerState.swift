/// What a session does with its media just now: any combination.
public struct PlayerState: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Started, and not yet ended.
    public static let open = Self(rawValue: 1 << 0)
    /// A connection stands.
    public static let active = Self(rawValue: 1 << 1)
    /// Media come, or a replay is shown.
    public static let playing = Self(rawValue: 1 << 2)
    /// Nothing has come yet on this connection, or there is none: it plays as soon as something comes.
    public static let buffering = Self(rawValue: 1 << 3)
    /// All of it is paused, here or at the producer.
    public static let paused = Self(rawValue: 1 << 4)
    /// The picture is wanted: neither left out, hidden, nor paused here. Sound goes on without it.
    public static let visible = Self(rawValue: 1 << 5)
    /// What was received has gone at the producer: playback has stopped by itself. It goes on when such a stream comes again.
    public static let stopped = Self(rawValue: 1 << 6)
}

extension PlayerState: CustomStringConvertible {
    /// For logs: "open, active, playing"; "none" for none.
    public var description: String {
        let names: [(PlayerState, String)] = [
            (.open, "open"), (.active, "active"), (.playing, "playing"), (.buffering, "buffering"), (.paused, "paused"),
            (.visible, "visible"), (.stopped, "stopped"),
        ]
        let set = names.filter { contains($0.0) }.map(\.1)
        return set.isEmpty ? "none" : set.joined(separator: ", ")
    }
}
