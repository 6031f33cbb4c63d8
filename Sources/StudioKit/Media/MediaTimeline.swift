import GantryCore

/// Lays the stamps of a session's connections on one line without holes: what came before a pause or a lost connection is
/// followed directly by what came after it. A plain value; all times in microseconds.
///
/// Picture and sound share the line, so that they stay together.
struct MediaTimeline {
    /// A longer step, or a longer one back, is a hole or another clock.
    private static let longestStep: Int64 = 5_000_000
    private static let longestStepBack: Int64 = 1_000_000
    /// What stands in place of a hole: about a picture.
    private static let seam: Int64 = 33_000

    /// Position minus stamp.
    private var offset: Int64?
    private var lastStamp: Int64 = 0
    private var isRestarting = false
    /// The furthest position so far.
    private(set) var end: Int64 = 0

    /// Another connection: its clock may be another one.
    mutating func restart() { isRestarting = true }

    /// The position of what has that stamp. Stamps come from a peer: any number is taken.
    mutating func place(_ stamp: Int64) -> Int64 {
        let step = stamp &- lastStamp
        if offset == nil {
            offset = 0 &- stamp
        } else if isRestarting || step > Self.longestStep || step < -Self.longestStepBack {
            offset = (end &+ Self.seam) &- stamp
        }
        isRestarting = false
        lastStamp = stamp
        let position = stamp &+ (offset ?? 0)
        end = max(end, position)
        return position
    }
}
