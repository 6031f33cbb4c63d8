/// Some of a session's media.
public struct MediaSelection: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The picture.
    public static let video = Self(rawValue: 1 << 0)
    /// The sound.
    public static let audio = Self(rawValue: 1 << 1)
    /// Both.
    public static let all: Self = [.video, .audio]
}
