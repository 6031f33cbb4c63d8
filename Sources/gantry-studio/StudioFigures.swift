import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// Makes the figures of each second of what a session says. One thread, that of `StatisticsFeed`.
final class StudioFigures: @unchecked Sendable {  // `former` belongs to the thread that samples.
    private let session: StudioSession
    private let outputs: ReceiveOutputs
    private var former: (time: MediaTimestamp, statistics: StudioStatistics)?

    init(_ session: StudioSession, _ outputs: ReceiveOutputs) {
        self.session = session
        self.outputs = outputs
    }

    func sample() -> MetricSet {
        let now = MonotonicClock.now()
        let statistics = session.statistics
        let seconds = former.map { (now - $0.time).seconds } ?? 0
        let before = former?.statistics ?? statistics
        former = (now, statistics)
        /// How much of it came in a second; nil in the first, and where less than half a one has passed.
        func rate(_ count: KeyPath<StudioStatistics, Int>, scale: Double = 1) -> Double? {
            seconds >= StatisticsFeed.shortestSpan
                ? Double(max(0, statistics[keyPath: count] - before[keyPath: count])) / seconds * scale
                : nil
        }
        return MetricSet(
            [
                Metric(
                    "seconds", now.seconds(since: outputs.startTime), name: "uptime_seconds", help: "Since the start."),
                Metric(
                    "fps", rate(\.framesReceived), name: "frames_per_second", help: "Pictures received in a second."),
                Metric(
                    "videoMegabitsPerSecond", rate(\.videoBytes, scale: 8 / 1e6), name: "video_bits_per_second",
                    help: "Coded picture received.", scale: 1e6),
                Metric(
                    "audioPacketsPerSecond", rate(\.audioPacketsReceived), name: "audio_packets_per_second",
                    help: "Packets of sound received in a second."),
            ] + counters(statistics) + link(statistics, before) + stages(statistics) + clocks(statistics)
                + RelayOptions.metrics(outputs.relay))
    }

    private func counters(_ statistics: StudioStatistics) -> [Metric] {
        func dropped(_ key: String, _ cause: String, _ count: Int) -> Metric {
            Metric(
                key, Double(count), name: "frames_dropped_total", kind: .counter,
                help: "Pictures that were not shown, by cause.", labels: [.init("cause", cause)])
        }
        return [
            Metric(
                "framesReceived", Double(statistics.framesReceived), name: "frames_received_total", kind: .counter,
                help: "Pictures that came."),
            Metric(
                "framesDecoded", Double(statistics.framesDecoded), name: "frames_decoded_total", kind: .counter,
                help: "Pictures that were decoded."),
            dropped("framesSkippedByProducer", "producer", statistics.producerFramesDropped),
            dropped("framesLost", "network", statistics.framesLost),
            dropped("framesDropped", "decoder", statistics.framesDropped),
            Metric(
                "audioPacketsReceived", Double(statistics.audioPacketsReceived), name: "audio_packets_received_total",
                kind: .counter, help: "Packets of sound that came."),
            Metric(
                "audioPacketsLost", Double(statistics.audioPacketsLost), name: "audio_packets_lost_total",
                kind: .counter, help: "Packets of sound that are missing."),
        ]
    }

    private func link(_ statistics: StudioStatistics, _ before: StudioStatistics) -> [Metric] {
        let expected = statistics.udp.expected - before.udp.expected
        let lost = max(0, statistics.udp.lost - before.udp.lost)
        return [
            Metric(
                "qualityStep", statistics.qualityStep.map(Double.init), name: "quality_step",
                help: "Step of the ladder of qualities; 0 is full quality."),
            Metric(
                "udpLossPercent", expected > 0 ? min(100, 100 * Double(lost) / Double(expected)) : nil,
                name: "udp_loss_ratio", help: "Datagrams that did not come by themselves.", scale: 0.01),
        ]
    }

    private func stages(_ statistics: StudioStatistics) -> [Metric] {
        var times = outputs.stages.lastSecond
        if statistics.framesDecoded == 0, statistics.latency.count > 0 {
            // Nothing is decoded: the way ends with the arrival.
            times.transit = statistics.latency
            times.total = statistics.latency
        }
        return Self.told("capture", statistics.producerCaptureTime) + Self.told("encode", statistics.producerEncodeTime)
            + Self.told("ready", statistics.producerReadyTime)
            + Self.told("queue", statistics.producerQueueTime) + Self.network(statistics, times.transit)
            + Self.metrics("transit", times.transit) + Self.metrics("decode", times.decode)
            + Self.metrics("output", times.output) + Self.metrics("total", times.total)
    }

    /// By the producer, which tells no p99.
    private static func told(_ stage: String, _ times: StudioStatistics.Percentiles) -> [Metric] {
        StageMetrics.metrics(stage, times.count > 0 ? (times.p50, times.p95, nil) : nil)
    }

    /// What is left of the way from capture to arrival: nobody can measure it alone. Only of medians, since the slowest
    /// pictures of one stage are not those of the other.
    private static func network(_ statistics: StudioStatistics, _ transit: StudioStatistics.Percentiles) -> [Metric] {
        let (ready, queue) = (statistics.producerReadyTime, statistics.producerQueueTime)
        let isKnown = transit.count > 0 && ready.count > 0 && queue.count > 0
        return StageMetrics.metrics("network", isKnown ? (max(0, transit.p50 - ready.p50 - queue.p50), nil, nil) : nil)
    }

    private static func metrics(_ stage: String, _ times: StudioStatistics.Percentiles) -> [Metric] {
        StageMetrics.metrics(stage, times.count > 0 ? (times.p50, times.p95, times.p99) : nil)
    }

    private func clocks(_ statistics: StudioStatistics) -> [Metric] {
        let isKnown = statistics.roundTrip > 0
        func milliseconds(_ value: Int) -> Double? { isKnown ? Double(value) / 1000 : nil }
        let lag = outputs.sound?.medianLag ?? outputs.skew.median
        return [
            Metric(
                "jitterMilliseconds", milliseconds(statistics.jitter), name: "jitter_seconds",
                help: "How much the way of pictures varies (RFC 3550).", scale: 1e-3),
            Metric(
                "roundTripMilliseconds", milliseconds(statistics.roundTrip), name: "round_trip_seconds",
                help: "Smallest of the last 16.", scale: 1e-3),
            Metric(
                "clockOffsetMilliseconds", milliseconds(statistics.clockOffset), name: "clock_offset_seconds",
                help: "The producer's clock minus ours.", scale: 1e-3),
            Metric(
                "clockDriftPartsPerMillion", isKnown ? statistics.clockDrift : nil, name: "clock_drift_ratio",
                help: "How much faster the producer's clock runs.", scale: 1e-6),
            Metric(
                "soundLagMilliseconds", lag.map { Double($0.microseconds) / 1000 }, name: "sound_lag_seconds",
                help: "How much later than its picture sound is heard: with --play, or of a test pattern.", scale: 1e-3),
        ]
    }

    /// The line of `--stats`.
    static func line(_ figures: MetricSet) -> String {
        func number(_ key: String, _ places: Int = 1) -> String {
            figures[key].map { Figures.decimal($0, places: places) } ?? "-"
        }
        func stage(_ name: String) -> String {
            name == "network"
                ? "network \(number("networkMillisecondsP50"))"
                : "\(name) \(number("\(name)MillisecondsP50"))/\(number("\(name)MillisecondsP95"))/\(number("\(name)MillisecondsP99"))"
        }
        return
            "\(number("seconds")) s  \(number("fps")) fps  \(number("videoMegabitsPerSecond", 2)) Mbit/s  ms p50/p95/p99: "
            + ["ready", "queue", "network", "decode", "output", "total"].map(stage).joined(separator: "  ")
            + "  skipped \(number("framesSkippedByProducer", 0)) lost \(number("framesLost", 0)) "
            + "dropped \(number("framesDropped", 0))  step \(number("qualityStep", 0)) udp loss "
            + "\(number("udpLossPercent")) %  jitter \(number("jitterMilliseconds")) ms  clock "
            + "\(number("clockOffsetMilliseconds", 3)) ms \(number("clockDriftPartsPerMillion")) ppm\n"
    }
}

extension MediaTimestamp {
    fileprivate func seconds(since start: MediaTimestamp) -> Double { ((self - start).seconds * 1000).rounded() / 1000 }
}
