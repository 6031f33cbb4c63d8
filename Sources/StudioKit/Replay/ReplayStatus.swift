public import GantryCore

/// What a replay holds, and what is shown.
public struct ReplayStatus: Hashable, Sendable {
    /// Whether it holds what comes.
    public var isArmed = false
    /// From the oldest picture that can be shown to the newest.
    public var held = MediaDuration.zero
    /// Coded bytes.
    public var bytes = 0
    /// How far behind the newest picture the outputs are; nil: they are live.
    public var behind: MediaDuration?
    /// How often the oldest picture was overtaken by the end of the memory while it was shown.
    public var overtakes = 0

    /// Nothing held.
    public init() {}
}
