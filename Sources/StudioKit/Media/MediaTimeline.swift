import GantryCore

/// Lays stamps on one line without holes: what came before a pause or a lost connection is followed directly by what came
/// after it. A plain value; all times in microseconds.
///
/// Picture and sound may share the line, so that they stay together.
struct MediaTimeline {
    private static let longestStepBack: Int64 = 1_000_000
    /// After a pause, a longer step is the pause: more than any source with five pictures a second leaves between two.
    private static let longestStepAfterPause: Int64 = 200_000
    /// What stands in place of a hole: about a picture.
    private static let seam: Int64 = 33_000

    /// A longer step, or one of more than a second back, is a hole or another clock; nil: only what is told is one.
    private let longestStep: Int64?
    /// Position minus stamp.
    private var offset: Int64?
    private var lastStamp: Int64 = 0
    private var isRestarting = false
    private var mayHavePaused = false
    /// The furthest position so far.
    private(set) var end: Int64 = 0

    init(longestStep: MediaDuration? = nil) { self.longestStep = longestStep?.microseconds }

    /// Another connection: its clock may be another one.
    mutating func restart() { isRestarting = true }

    /// All of it, or a part, is stopped or goes on: the next step may be a pause. What is still under way may come first.
    mutating func paused() { mayHavePaused = true }

    /// The position of what has that stamp. Stamps come from a peer: any number is taken.
    mutating func place(_ stamp: Int64) -> Int64 {
        let step = stamp &- lastStamp
        if offset == nil {
            offset = 0 &- stamp
        } else if isRestarting || isHole(step) {
            offset = (end &+ Self.seam) &- stamp
            mayHavePaused = false
        }
        isRestarting = false
        lastStamp = stamp
        let position = stamp &+ (offset ?? 0)
        end = max(end, position)
        return position
    }

    private func isHole(_ step: Int64) -> Bool {
        if mayHavePaused && step > Self.longestStepAfterPause { return true }
        guard let longestStep else { return false }
        return step > longestStep || step < -Self.longestStepBack
    }
}
