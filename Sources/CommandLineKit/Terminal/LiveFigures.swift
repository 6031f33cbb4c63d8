package import GantryCore
import GantryPlatform

/// What a live view keeps from one drawing to the next: the figures of the last second, one of them over a minute, and the
/// last warning. A value.
package struct LiveFigures: Sendable {
    private static let second = MediaDuration.seconds(1)
    /// How long a warning stays.
    private static let warningLife = MediaDuration.seconds(60)

    package private(set) var now = MetricSet([])
    package private(set) var curve = MinuteCurve()
    private var next: MediaTimestamp?
    private var warning: (text: String, time: MediaTimestamp)?
    /// Of the figure that the curve shows.
    private let key: String

    /// - Parameter key: of the figure that the curve shows.
    package init(curve key: String) { self.key = key }

    /// Takes figures when a second is over.
    package mutating func sample(at time: MediaTimestamp, _ figures: () -> MetricSet) {
        guard time >= next ?? time else { return }
        next = max(time, (next ?? time) + Self.second)
        now = figures()
        curve.add(now[key])
    }

    /// Something that a person should know.
    package mutating func warn(_ text: String) { warning = (text, MonotonicClock.now()) }

    /// The last warning, as long as it is fresh.
    package func warnings(at time: MediaTimestamp) -> [LivePanel.Row] {
        guard let warning, time - warning.time < Self.warningLife else { return [] }
        return [LivePanel.Row("warning", .text([warning.text]), isWarning: true)]
    }

    /// "-" for what is not known.
    package func number(_ key: String, _ places: Int = 1) -> String {
        now[key].map { Figures.decimal($0, places: places) } ?? "-"
    }

    /// How far the quality is lowered; empty where that is not known.
    package var step: String {
        now["qualityStep"].map { $0 > 0 ? "step \(Figures.decimal($0, places: 0)) down" : "full quality" } ?? ""
    }
}
