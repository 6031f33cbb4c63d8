import GantryCore

extension StudioStatistics.Percentiles {
    /// What the producer has told of a stage.
    init(_ told: Stats, _ stage: Stats.Stage) {
        guard let time = told.stages.first(where: { $0.stage == stage }) else { return }
        count = 1
        p50 = Int(time.p50)
        p95 = Int(time.p95)
    }

    init(_ values: PercentileWindow.Percentiles) {
        count = values.count
        p50 = Int(values.p50)
        p95 = Int(values.p95)
        p99 = Int(values.p99)
        maximum = Int(values.maximum)
    }
}
