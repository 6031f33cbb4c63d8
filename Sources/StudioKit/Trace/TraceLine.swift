import GantryCore

/// One JSON object on one line.
struct TraceLine {
    private(set) var text: String

    init(_ kind: String) { text = "{\"line\":\"\(kind)\"" }

    mutating func add(_ name: String, _ value: Int) { add(name, literal: String(value)) }
    mutating func add(_ name: String, _ value: Bool) { add(name, literal: value ? "true" : "false") }
    /// Microseconds.
    mutating func add(_ name: String, _ time: MediaTimestamp?) {
        add(name, literal: time.map { String($0.microseconds) } ?? "null")
    }
    /// Microseconds.
    mutating func add(_ name: String, _ duration: MediaDuration?) {
        add(name, literal: duration.map { String($0.microseconds) } ?? "null")
    }

    /// Escaped as RFC 8259 section 7 asks for.
    mutating func add(_ name: String, _ value: String) {
        var escaped = "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                escaped += "\\"
                escaped.unicodeScalars.append(scalar)
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        add(name, literal: escaped + "\"")
    }

    private mutating func add(_ name: String, literal: String) { text += ",\"\(name)\":\(literal)" }

    /// With its end.
    var line: String { text + "}\n" }
}
