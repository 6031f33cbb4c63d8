package import GantryCore

/// One figure of a running tool, under its name for each reader.
package struct Metric: Sendable {
    package enum Kind: String, Sendable {
        /// Goes up and down.
        case gauge
        /// Only grows.
        case counter
    }

    package struct Label: Sendable, Hashable {
        package let name: String
        package let value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// For Prometheus, without the tool's prefix, in its base units: "decode_seconds", "frames_received_total".
    package let name: String
    package let kind: Kind
    package let help: String
    package let labels: [Label]
    /// For JSON and the heading of a CSV column: "decodeMillisecondsP95".
    package let key: String
    /// In the unit of `key`; nil: not known now.
    package let value: Double?
    /// What makes the unit of `name` of `value`.
    package let scale: Double

    package init(
        _ key: String, _ value: Double?, name: String, kind: Kind = .gauge, help: String, labels: [Label] = [],
        scale: Double = 1
    ) {
        self.key = key
        self.value = value.flatMap { $0.isFinite ? $0 : nil }
        self.name = name
        self.kind = kind
        self.help = help
        self.labels = labels
        self.scale = scale
    }
}

/// The figures of one moment. The order and the keys of a tool's figures are always the same.
package struct MetricSet: Sendable {
    package let metrics: [Metric]

    package init(_ metrics: [Metric]) { self.metrics = metrics }

    /// Nil: not known, or there is no such figure.
    package subscript(key: String) -> Double? { metrics.first { $0.key == key }?.value }

    /// Null for what is not known.
    package var json: [JSONValue.Member] { metrics.map { .init($0.key, Self.json($0.value)) } }

    private static func json(_ value: Double?) -> JSONValue {
        guard let value else { return .null }
        return Int64(exactly: value).map(JSONValue.integer) ?? .number(value)
    }

    // MARK: CSV (RFC 4180; nothing here needs quotes)

    package var csvHeader: String { metrics.map(\.key).joined(separator: ",") + "\r\n" }
    /// Empty for what is not known.
    package var csvRow: String {
        metrics.map { $0.value == nil ? "" : Self.json($0.value).text }.joined(separator: ",") + "\r\n"
    }

    // MARK: Prometheus

    package static let prometheusType = "text/plain; version=0.0.4; charset=utf-8"

    /// In the text format 0.0.4 of Prometheus. Metrics of one name must stand side by side. What is not known is left out.
    package func prometheus(prefix: String) -> String {
        var text = ""
        var last = ""
        for metric in metrics {
            guard let value = metric.value else { continue }
            let name = "\(prefix)_\(metric.name)"
            if name != last {
                text +=
                    "# HELP \(name) \(Self.escape(metric.help, quotes: false))\n# TYPE \(name) \(metric.kind.rawValue)\n"
                last = name
            }
            text += name
            if !metric.labels.isEmpty {
                let labels = metric.labels.map { "\($0.name)=\"\(Self.escape($0.value, quotes: true))\"" }
                text += "{\(labels.joined(separator: ","))}"
            }
            text += " \(Self.json(value * metric.scale).text)\n"
        }
        return text
    }

    private static func escape(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
