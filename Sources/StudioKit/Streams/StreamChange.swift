/// What has become of the streams of a session.
public struct StreamChange: Sendable, Hashable {
    /// All that there are now, by channel.
    public var streams: [StreamInfo] = []
    /// Those that were not there before.
    public var created: [StreamInfo] = []
    /// As they were last. Where one of them was received, it has ended by itself.
    public var destroyed: [StreamInfo] = []
    /// As they are now: they have begun, or have another format.
    public var changed: [StreamInfo] = []
}
