public import GantryCore

/// How much a replay holds.
public struct ReplaySettings: Hashable, Sendable {
    /// 1 s to 10 min.
    public static let durations = MediaDuration.seconds(1)...MediaDuration.seconds(600)
    /// 1 MiB to 2 GiB.
    public static let byteLimits = 1 << 20...1 << 31

    /// Picture and sound of the last so many seconds. A little more is held: it begins with a key frame.
    public var duration: MediaDuration
    /// Coded bytes at most; beyond it the oldest goes early. While a file is saved, what it is made of comes on top.
    public var byteLimit: Int

    /// The default is for 30 seconds of up to 35 Mbit/s.
    public init(duration: MediaDuration = .seconds(30), byteLimit: Int = 128 << 20) {
        self.duration = duration
        self.byteLimit = byteLimit
    }

    func check() throws(GantryError) {
        guard Self.durations.contains(duration) else {
            throw GantryError(.invalidArgument, "A replay holds 1 second to 10 minutes.")
        }
        guard Self.byteLimits.contains(byteLimit) else {
            throw GantryError(.invalidArgument, "A replay holds 1 MiB to 2 GiB.")
        }
    }
}
