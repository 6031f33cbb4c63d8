import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// Makes the figures of each second of what a producer says. One thread, that of `StatisticsFeed`.
final class ProducerFigures: @unchecked Sendable {  // `former` belongs to the thread that samples.
    private let controller: ProducerController
    private let startTime = MonotonicClock.now()
    private var former: (time: MediaTimestamp, statistics: ProducerStatistics)?

    init(_ controller: ProducerController) { self.controller = controller }

    func sample() -> MetricSet {
        let now = MonotonicClock.now()
        let statistics = controller.statistics
        let seconds = former.map { (now - $0.time).seconds } ?? 0
        let before = former?.statistics ?? statistics
        former = (now, statistics)
        /// How much of it there was in a second; nil in the first, and where less than half a one has passed.
        func rate(_ count: KeyPath<ProducerStatistics, Int>, scale: Double = 1) -> Double? {
            seconds >= StatisticsFeed.shortestSpan
                ? Double(max(0, statistics[keyPath: count] - before[keyPath: count])) / seconds * scale
                : nil
        }
        let uptime = ((now - startTime).seconds * 1000).rounded() / 1000
        return MetricSet(
            [
                Metric("seconds", uptime, name: "uptime_seconds", help: "Since the start."),
                Metric(
                    "studios", Double(statistics.connections), name: "studios",
                    help: "Connections, whatever they are for."),
                Metric(
                    "sourceFps", rate(\.framesEnqueued), name: "source_frames_per_second",
                    help: "Pictures of the source in a second."),
                Metric(
                    "fps", rate(\.framesSent), name: "frames_per_second", help: "Pictures encoded and sent in a second."
                ),
                Metric(
                    "videoMegabitsPerSecond", rate(\.videoBytes, scale: 8 / 1e6), name: "video_bits_per_second",
                    help: "Coded picture.", scale: 1e6),
                Metric(
                    "audioPacketsPerSecond", rate(\.audioPacketsSent), name: "audio_packets_per_second",
                    help: "Packets of sound sent in a second."),
                Metric(
                    "qualityStep", Double(statistics.qualityStep), name: "quality_step",
                    help: "Step of the ladder of qualities, of the slowest link; 0 is full quality."),
                Metric(
                    "udpLossPercent", statistics.udpLoss.map { $0 * 100 }, name: "udp_loss_ratio",
                    help: "Datagrams that are lost, on the worst link.", scale: 0.01),
            ] + counters(statistics)
                + Self.metrics("capture", statistics.captureTime)
                + StageMetrics.metrics(
                    "encode",
                    statistics.framesSent > 0
                        ? (statistics.encodeMicrosecondsP50, statistics.encodeMicrosecondsP95, nil) : nil)
                + Self.metrics("ready", statistics.readyTime) + Self.metrics("queue", statistics.queueTime))
    }

    private static func metrics(_ stage: String, _ times: ProducerStatistics.StageTime) -> [Metric] {
        StageMetrics.metrics(stage, times.count > 0 ? (times.p50, times.p95, times.p99) : nil)
    }

    private func counters(_ statistics: ProducerStatistics) -> [Metric] {
        func counter(_ key: String, _ count: Int, _ name: String, _ help: String, _ labels: [Metric.Label] = [])
            -> Metric
        {
            Metric(key, Double(count), name: name, kind: .counter, help: help, labels: labels)
        }
        let dropped = "Pictures that were left out, by cause."
        return [
            counter("framesEnqueued", statistics.framesEnqueued, "source_frames_total", "Pictures of the source."),
            counter("framesSent", statistics.framesSent, "frames_sent_total", "Pictures encoded and sent."),
            counter(
                "framesReplaced", statistics.framesReplaced, "frames_dropped_total", dropped,
                [.init("cause", "encoder")]),
            counter(
                "framesSkipped", statistics.framesSkipped, "frames_dropped_total", dropped, [.init("cause", "link")]),
            counter("videoBytes", statistics.videoBytes, "video_bytes_total", "Bytes of coded picture."),
            counter(
                "audioPacketsSent", statistics.audioPacketsSent, "audio_packets_sent_total", "Packets of sound sent."),
        ]
    }

    /// The line of `--stats`.
    static func line(_ figures: MetricSet) -> String {
        func number(_ key: String, _ places: Int = 1) -> String {
            figures[key].map { Figures.decimal($0, places: places) } ?? "-"
        }
        return "\(number("seconds")) s  source \(number("sourceFps")) fps  sent \(number("fps")) fps "
            + "\(number("videoMegabitsPerSecond", 2)) Mbit/s  ms p50/p95: encode \(number("encodeMillisecondsP50"))/"
            + "\(number("encodeMillisecondsP95")) ready \(number("readyMillisecondsP50"))/"
            + "\(number("readyMillisecondsP95")) queue \(number("queueMillisecondsP50"))/"
            + "\(number("queueMillisecondsP95"))  left out: encoder \(number("framesReplaced", 0)) link "
            + "\(number("framesSkipped", 0))  step \(number("qualityStep", 0)) udp loss \(number("udpLossPercent")) %\n"
    }
}
