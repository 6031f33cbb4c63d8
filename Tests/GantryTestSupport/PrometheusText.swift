/// A strict reader of the text format 0.0.4 of Prometheus
/// (github.com/prometheus/docs, content/docs/instrumenting/exposition_formats.md): what promtool would refuse is refused.
package enum PrometheusText {
    package struct Sample: Sendable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    private struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: what is wrong, and in which line.
    package static func read(_ text: String) throws -> [Sample] {
        guard text.isEmpty || text.hasSuffix("\n") else { throw Fault(description: "the last line has no end") }
        var types: [String: String] = [:]
        var helps: Set<String> = []
        var finished: Set<String> = []
        var current = ""
        var seen: Set<String> = []
        var samples: [Sample] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            func fault(_ what: String) -> Fault { Fault(description: "\(what): \(line)") }
            if line.hasPrefix("#") {
                let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
                guard words.count == 4, words[0] == "#", isName(words[2]) else { throw fault("a wrong comment") }
                let name = String(words[2])
                if name != current {
                    guard !finished.contains(name) else { throw fault("metrics of a name do not stand together") }
                    finished.insert(current)
                    current = name
                }
                switch words[1] {
                case "HELP": guard helps.insert(name).inserted else { throw fault("a second HELP") }
                case "TYPE":
                    guard ["counter", "gauge"].contains(words[3]) else { throw fault("an unknown type") }
                    guard types.updateValue(String(words[3]), forKey: name) == nil else { throw fault("a second TYPE") }
                default: throw fault("a wrong comment")
                }
                continue
            }
            let sample = try self.sample(line)
            guard sample.name == current, types[current] != nil, helps.contains(current) else {
                throw fault("no TYPE and HELP before")
            }
            guard types[current] != "counter" || current.hasSuffix("_total") && sample.value >= 0 else {
                throw fault("a counter must end in _total and not be negative")
            }
            let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: ",")
            guard seen.insert("\(sample.name){\(labels)}").inserted else { throw fault("told twice") }
            samples.append(sample)
        }
        return samples
    }

    private static func sample(_ line: Substring) throws -> Sample {
        func fault(_ what: String) -> Fault { Fault(description: "\(what): \(line)") }
        var rest = line
        let name = rest.prefix { $0 != "{" && $0 != " " }
        guard isName(name) else { throw fault("a wrong name") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            repeat {
                rest = rest.dropFirst()
                let key = rest.prefix { $0 != "=" }
                guard isName(key), !key.contains(":") else { throw fault("a wrong label") }
                rest = rest.dropFirst(key.count + 1)
                guard rest.first == "\"" else { throw fault("a value without quotes") }
                rest = rest.dropFirst()
                var value = ""
                while let character = rest.popFirst(), character != "\"" {
                    guard character == "\\" else {
                        value.append(character)
                        continue
                    }
                    switch rest.popFirst() {
                    case "n": value.append("\n")
                    case "\\": value.append("\\")
                    case "\"": value.append("\"")
                    default: throw fault("a wrong escape")
                    }
                }
                guard labels.updateValue(value, forKey: String(key)) == nil else { throw fault("a label twice") }
            } while rest.first == ","
            guard rest.first == "}" else { throw fault("no end of the labels") }
            rest = rest.dropFirst()
        }
        guard rest.first == " ", let value = Double(rest.dropFirst()), value.isFinite else { throw fault("no number") }
        return Sample(name: String(name), labels: labels, value: value)
    }

    private static func isName(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, !(0x30...0x39 ~= first) else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: ":"): true
            default: false
            }
        }
    }
}
