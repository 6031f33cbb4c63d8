/// Some of a session's media.
public struct MediaSelection: OptionSet, Hashable, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let video = Self(rawValue: 1 << 0)
    public static let audio = Self(rawValue: 1 << 1)
    public static let all: Self = [.video, .audio]
}
