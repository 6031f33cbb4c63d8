import CommandLineKit
import GantryCore
import StudioKit

/// What `latency` has found, for people, for programs and as a plot. A value.
struct LatencyResult {
    private struct Stage {
        let name: String
        let key: String
        let times: StudioStatistics.Percentiles
        /// Told by the producer, or made of such: no p99; only the median of what is a difference.
        var hasP95 = true
        var hasP99 = true
    }

    private let report: LatencyReport
    private let clock: LatencyReport.Clock
    private let stages: [Stage]
    private let name: String
    private let address: String
    private let size: PixelSize?
    private let frameRate: FrameRate?
    private let hasCamera: Bool

    /// - Parameter camera: what was read from a virtual camera; nil: there is none.
    /// - Throws: `sourceHasNoMedia` when nothing was measured, `peerLost` when nothing is known of the producer's clock.
    init(
        _ statistics: StudioStatistics, _ entries: [LatencyLog.Entry], camera: [LatencyLog.Entry]?, _ from: LatencyPeer
    ) throws(GantryError) {
        let offset = MediaDuration(microseconds: Int64(statistics.clockOffset))
        guard !(camera ?? entries).isEmpty else {
            throw GantryError(.sourceHasNoMedia, "It ended before anything was measured. Let it run for some seconds.")
        }
        guard
            let clock = LatencyReport.Clock(
                offset: offset, roundTrip: MediaDuration(microseconds: Int64(statistics.roundTrip)))
        else {
            throw GantryError(.peerLost, "\(from.name) did not tell its clock in that time. Measure for longer.")
        }
        self.clock = clock
        (name, address, size, frameRate) = (from.name, from.address, from.size, from.frameRate)
        hasCamera = camera != nil
        let decoded = LatencyReport(entries, clock: clock)
        report =
            camera.map { camera in
                LatencyReport(
                    camera.map { entry in
                        var entry = entry
                        entry.clockOffset = offset
                        return entry
                    }, clock: clock)
            } ?? decoded
        var network = StudioStatistics.Percentiles()
        let (ready, queue) = (statistics.producerReadyTime, statistics.producerQueueTime)
        if decoded.transit.count > 0, ready.count > 0, queue.count > 0 {
            network.count = decoded.transit.count
            network.p50 = max(0, decoded.transit.p50 - ready.p50 - queue.p50)
        }
        stages =
            [
                Stage(name: "until encoding", key: "capture", times: statistics.producerCaptureTime, hasP99: false),
                Stage(name: "encoding", key: "encode", times: statistics.producerEncodeTime, hasP99: false),
                Stage(name: "waiting to be sent", key: "queue", times: queue, hasP99: false),
                Stage(name: "network", key: "network", times: network, hasP95: false, hasP99: false),
                Stage(name: "decoding", key: "decode", times: decoded.decode),
                Stage(name: "outputs", key: "output", times: decoded.output),
            ]
            + (camera.map {
                [
                    Stage(
                        name: "virtual camera", key: "virtualCamera", times: LatencyReport.delay(from: entries, to: $0))
                ]
            } ?? [])
    }

    private var what: String { "capture to \(hasCamera ? "what is read from the virtual camera" : "decoded")" }

    private var picture: String {
        (size.map { "\($0.width)x\($0.height)" } ?? "-") + (frameRate.map { " at \($0) fps" } ?? "")
    }

    // MARK: For people

    var text: String {
        let total = report.total
        func ms(_ microseconds: Int) -> String { Figures.milliseconds(microseconds) }
        var table = Table(["ms", "p50", "p95", "p99"], alignments: [.left, .right, .right, .right])
        for stage in stages where stage.times.count > 0 {
            table.add([
                stage.name, ms(stage.times.p50), stage.hasP95 ? ms(stage.times.p95) : "",
                stage.hasP99 ? ms(stage.times.p99) : "",
            ])
        }
        return """
            Latency of \(name) (\(address)), \(picture), \(what):
              p50 \(ms(total.p50))  p95 \(ms(total.p95))  p99 \(ms(total.p99))  least \(ms(report.least))  most \(ms(total.maximum)) ms
              \(Figures.count(total.count, "picture")), \(report.missing) missing, \(report.duplicates) twice, \(report.late) late
            \(clockText)

            \(table.text)
            """
    }

    private var clockText: String {
        switch clock {
        case .same: "Both ends read the same clock, that of this machine: nothing is estimated."
        case .estimated(let offset, let error):
            "Two clocks: the producer's is estimated to be \(Figures.decimal(abs(offset.seconds), places: 3)) s "
                + "\(offset > .zero ? "ahead of" : "behind") this machine's. Each time above may be wrong by \(Figures.milliseconds(Int(clamping: error.microseconds))) ms."
        }
    }

    // MARK: For programs

    var json: JSONValue {
        func number(_ name: String, _ value: Int) -> JSONValue.Member { .init(name, .integer(Int64(value))) }
        var members: [JSONValue.Member] = [
            .init("event", "latency"), .init("name", .string(name)), .init("address", .string(address)),
            .init("width", size.map { .integer(Int64($0.width)) } ?? .null),
            .init("height", size.map { .integer(Int64($0.height)) } ?? .null),
            .init("fps", frameRate.map { .number($0.framesPerSecond) } ?? .null),
            .init("virtualCamera", .bool(hasCamera)),
            .init(
                "latencyMicroseconds",
                .object([
                    number("p50", report.total.p50), number("p95", report.total.p95), number("p99", report.total.p99),
                    number("min", report.least), number("max", report.total.maximum),
                ])),
            number("count", report.total.count), number("missing", report.missing),
            number("duplicates", report.duplicates), number("late", report.late),
        ]
        switch clock {
        case .same: members.append(.init("clock", "same"))
        case .estimated(let offset, let error):
            members += [
                .init("clock", "estimated"), .init("clockOffsetMicroseconds", .integer(offset.microseconds)),
                .init("clockErrorMicroseconds", .integer(error.microseconds)),
            ]
        }
        members.append(.init("stagesMicroseconds", .object(stages.map { .init($0.key, Self.json($0)) })))
        return .object(members)
    }

    private static func json(_ stage: Stage) -> JSONValue {
        let isKnown = stage.times.count > 0
        func value(_ microseconds: Int, _ has: Bool) -> JSONValue {
            isKnown && has ? .integer(Int64(microseconds)) : .null
        }
        return .object([
            .init("p50", value(stage.times.p50, true)), .init("p95", value(stage.times.p95, stage.hasP95)),
            .init("p99", value(stage.times.p99, stage.hasP99)),
        ])
    }

    // MARK: As a plot

    var plot: LatencyPlot {
        LatencyPlot(
            title: "\(name), \(picture), \(what)",
            points: report.points.map {
                .init(seconds: $0.time.seconds, milliseconds: Double($0.latency.microseconds) / 1000)
            },
            marks: [("p50", report.total.p50), ("p95", report.total.p95), ("p99", report.total.p99)].map {
                ($0.0, Double($0.1) / 1000)
            })
    }
}
