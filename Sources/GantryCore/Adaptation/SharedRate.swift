/// The bitrate of one encode that several studios receive, each over a link of its own.
///
/// It follows the slowest link, so that nobody falls behind, but only within reason: a link that takes less than a quarter
/// of what the best one takes is left out. Whoever is behind it gets key frames only, until it has caught up.
package enum SharedRate {
    /// - Parameter rates: what each link has for video; read twice.
    /// - Returns: nil when there is none.
    package static func choose(_ rates: some Sequence<Int>) -> Int? {
        var best: Int?
        for rate in rates { best = max(best ?? rate, rate) }
        guard let best else { return nil }
        var result = best
        for rate in rates where !isHopeless(rate, best: best) { result = min(result, rate) }
        return result
    }

    package static func isHopeless(_ rate: Int, best: Int) -> Bool { rate < best / 4 }
}
