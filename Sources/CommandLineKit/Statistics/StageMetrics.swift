/// The time that a stage takes, as three figures.
package enum StageMetrics {
    /// - Parameter times: percentiles in microseconds; nil: not known.
    package static func metrics(_ stage: String, _ times: (p50: Int, p95: Int?, p99: Int?)?) -> [Metric] {
        let values = [
            ("P50", "0.5", times?.p50), ("P95", "0.95", times?.p95 ?? nil), ("P99", "0.99", times?.p99 ?? nil),
        ]
        return values.map { suffix, quantile, microseconds in
            Metric(
                "\(stage)Milliseconds\(suffix)", microseconds.map { Double($0) / 1000 }, name: "stage_seconds",
                help: "Time of a picture in each stage, over the last second.",
                labels: [.init("stage", stage), .init("quantile", quantile)], scale: 1e-3)
        }
    }
}
