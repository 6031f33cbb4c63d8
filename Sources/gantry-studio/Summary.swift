import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import GantryPreview
import StudioKit

/// The figures at the end of `receive`.
enum Summary {
    static func text(
        _ result: StudioStatistics, _ outputs: ReceiveOutputs, processor: Double, isFull: Bool, failed: Bool
    ) -> String {
        guard result.framesReceived + result.audioPacketsReceived > 0 else { return "Nothing was received.\n" }
        var lines: [String] = []
        if result.framesReceived > 0 {
            // None was decoded: nobody knows.
            let size = result.width > 0 ? "of \(result.width)x\(result.height) " : ""
            lines.append(
                "Received \(Figures.count(result.framesReceived, "frame")) (\(result.framesLost) lost, \(result.framesDropped) left out) "
                    + "\(size)at \(Figures.decimal(result.framesPerSecond, places: 2)) fps, "
                    + "\(Figures.decimal(result.videoBitrate / 1e6, places: 2)) Mbit/s.")
            // Nobody says when what comes by URL was captured.
            if result.latency.count > 0 {
                let end = result.framesDecoded > 0 ? "decoded" : "arrival"
                lines.append("Latency, capture to \(end): \(percentiles(result.latency)).")
            }
        }
        if result.audioPacketsReceived > 0 {
            lines.append("Sound: \(result.audioPacketsReceived) packets, \(result.audioPacketsLost) lost.")
        }
        if isFull { lines += details(result, outputs, processor: processor) }
        if let recorded = outputs.recorded {
            let seconds = Figures.decimal(recorded.duration.seconds, places: 2)
            lines.append(
                "Recorded \(Figures.count(recorded.frames, "frame")), \(seconds) s, in \(recorded.paths.joined(separator: ", "))."
            )
        }
        if let relay = outputs.relay { lines.append(RelayOptions.line(relay)) }
        if !failed { lines += outputs.unwritten(result) }
        if outputs.recordingDropped > 0 && !failed {
            lines.append("The disk was too slow: \(outputs.recordingDropped) packets are missing in the recording.")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func details(
        _ result: StudioStatistics, _ outputs: ReceiveOutputs, processor: Double
    ) -> [String] {
        var lines = [
            "Round trip \(Figures.milliseconds(result.roundTrip)) ms, jitter \(Figures.milliseconds(result.jitter)) ms. "
                + "Processor \(Figures.decimal(processor, places: 1)) %."
        ]
        if result.framesDecoded > 0 {
            lines.insert("Decoding, arrival to decoded: \(percentiles(result.decodeTime)).", at: 0)
        }
        if result.udp.units > 0 {
            lines.append(
                "Over UDP: \(result.udp.repaired) lost datagrams repaired by parity, \(result.udp.requested) asked for again, "
                    + "\(result.udp.refused) refused.")
        }
        if let code = outputs.latency.result {
            lines.append(
                "By the time code in the picture: p50 \(Figures.milliseconds(code.p50)), p95 "
                    + "\(Figures.milliseconds(code.p95)), p99 \(Figures.milliseconds(code.p99)) ms; "
                    + "\(code.framesRead) read, \(code.framesMissing) missing.")
        }
        if let camera = outputs.virtualCamera?.camera {
            let counts = camera.statistics
            lines.append(
                "Virtual camera \(camera.path): \(Figures.count(counts.written, "picture")) shown, \(counts.dropped) left out."
            )
        }
        if let window = outputs.preview?.statistics {
            let latency =
                window.latencyCount > 0
                ? " Latency, capture to window: p50 \(Figures.milliseconds(window.p50)), p95 "
                    + "\(Figures.milliseconds(window.p95)), p99 \(Figures.milliseconds(window.p99)) ms." : ""
            lines.append(
                "Window: \(Figures.count(window.shown, "picture")) shown, \(window.notShown) left out.\(latency)")
        }
        if let sound = outputs.sound { lines += SoundOptions.lines(sound) }
        if let skew = outputs.skew.median {
            lines.append(
                "Sound against picture: \(Figures.milliseconds(skew.microseconds)) ms over \(skew.count) clicks.")
        }
        return lines
    }

    private static func percentiles(_ times: StudioStatistics.Percentiles) -> String {
        "p50 \(Figures.milliseconds(times.p50)), p95 \(Figures.milliseconds(times.p95)), "
            + "p99 \(Figures.milliseconds(times.p99)) ms"
    }

    static func json(
        _ result: StudioStatistics, _ outputs: ReceiveOutputs, usage: ProcessUsage, processor: Double
    ) -> [JSONValue.Member] {
        func number(_ name: String, _ value: Int) -> JSONValue.Member { .init(name, .integer(Int64(value))) }
        func times(_ name: String, _ value: StudioStatistics.Percentiles) -> JSONValue.Member {
            .init(
                name,
                .object([
                    number("p50", value.p50), number("p95", value.p95), number("p99", value.p99),
                    number("max", value.maximum),
                ]))
        }
        var fields = [
            number("framesReceived", result.framesReceived), number("framesDecoded", result.framesDecoded),
            number("framesLost", result.framesLost), number("framesDropped", result.framesDropped),
            .init("fps", .number(result.framesPerSecond)), .init("videoBitrate", .number(result.videoBitrate)),
            number("audioPacketsReceived", result.audioPacketsReceived),
            number("audioPacketsLost", result.audioPacketsLost), number("width", result.width),
            number("height", result.height), times("latencyMicroseconds", result.latency),
            times("decodeMicroseconds", result.decodeTime), times("audioLatencyMicroseconds", result.audioLatency),
            number("roundTripMicroseconds", result.roundTrip), number("jitterMicroseconds", result.jitter),
            .init("cpuPercent", .number(processor)), .init("cpuSeconds", .number(usage.processorTime.seconds)),
            number("residentBytes", usage.residentBytes),
        ]
        if result.udp.units > 0 {
            fields.append(
                .init(
                    "udp",
                    .object([
                        number("units", result.udp.units), number("repaired", result.udp.repaired),
                        number("requested", result.udp.requested), number("refused", result.udp.refused),
                    ])))
        }
        if let sound = outputs.sound { fields.append(SoundOptions.json(sound)) }
        if let code = outputs.latency.result {
            fields.append(
                .init(
                    "timeCode",
                    .object([
                        number("p50", code.p50), number("p95", code.p95), number("p99", code.p99),
                        number("max", code.maximum), number("read", code.framesRead),
                        number("missing", code.framesMissing),
                    ])))
        }
        if let skew = outputs.skew.median {
            fields += [number("skewMicroseconds", skew.microseconds), number("skewCount", skew.count)]
        }
        if let camera = outputs.virtualCamera?.camera {
            let counts = camera.statistics
            fields.append(
                .init(
                    "virtualCamera",
                    .object([
                        .init("path", .string(camera.path)), number("written", counts.written),
                        number("repeated", counts.repeated), number("dropped", counts.dropped),
                        number("losses", counts.losses),
                    ])))
        }
        if let window = outputs.preview?.statistics {
            fields.append(
                .init(
                    "preview",
                    .object([
                        number("shown", window.shown), number("notShown", window.notShown),
                        number("p50", window.p50), number("p95", window.p95), number("p99", window.p99),
                    ])))
        }
        if let relay = outputs.relay { fields.append(RelayOptions.json(relay)) }
        if let recorded = outputs.recorded {
            fields.append(
                .init(
                    "recording",
                    .object([
                        number("frames", recorded.frames), .init("seconds", .number(recorded.duration.seconds)),
                        .init("bytes", .integer(recorded.bytes)),
                        .init("paths", .array(recorded.paths.map { .string($0) })),
                    ])))
        }
        return fields
    }
}
