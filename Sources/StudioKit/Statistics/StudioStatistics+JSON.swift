import GantryCore

extension StudioStatistics {
    /// One JSON object on one line: the counts, what the picture is, and for each stage its percentiles in milliseconds;
    /// null for what is not known. The names are those of docs/statistics.md.
    public var json: String { JSONValue.object(members).text }

    var members: [JSONValue.Member] {
        func count(_ key: String, _ value: Int) -> JSONValue.Member { .init(key, .integer(Int64(value))) }
        func number(_ key: String, _ value: Double, isKnown: Bool = true) -> JSONValue.Member {
            .init(key, isKnown ? .number(value) : .null)
        }
        let hasClock = roundTrip > 0
        return [
            number("mediaSeconds", mediaSeconds), count("framesReceived", framesReceived),
            count("framesDecoded", framesDecoded), count("framesSkippedByProducer", producerFramesDropped),
            count("framesLost", framesLost), count("framesDropped", framesDropped), count("videoBytes", videoBytes),
            count("audioPacketsReceived", audioPacketsReceived), count("audioPacketsLost", audioPacketsLost),
            count("audioBytes", audioBytes), count("width", width), count("height", height),
            count("udpUnits", udp.units), count("udpRepaired", udp.repaired), count("udpRequested", udp.requested),
        ] + Self.stage("total", latency) + Self.stage("decode", decodeTime)
            + Self.stage("encode", producerEncodeTime, hasTail: false)
            + Self.stage("ready", producerReadyTime, hasTail: false)
            + Self.stage("queue", producerQueueTime, hasTail: false)
            + [
                number("jitterMilliseconds", Double(jitter) / 1000, isKnown: hasClock),
                number("roundTripMilliseconds", Double(roundTrip) / 1000, isKnown: hasClock),
                number("clockOffsetMilliseconds", Double(clockOffset) / 1000, isKnown: hasClock),
                number("clockDriftPartsPerMillion", clockDrift, isKnown: hasClock),
            ]
    }

    private static func stage(_ name: String, _ times: Percentiles, hasTail: Bool = true) -> [JSONValue.Member] {
        let values = [("P50", times.p50), ("P95", times.p95)] + (hasTail ? [("P99", times.p99)] : [])
        return values.map { suffix, microseconds in
            .init("\(name)Milliseconds\(suffix)", times.count > 0 ? .number(Double(microseconds) / 1000) : .null)
        }
    }
}

extension AnnouncementStatistics {
    var json: JSONValue {
        .object([
            .init("name", .string(name)), .init("appeared", .integer(Int64(appeared))),
            .init("changed", .integer(Int64(changed))), .init("lost", .integer(Int64(lost))),
            .init("here", .bool(isHere)),
        ])
    }
}
