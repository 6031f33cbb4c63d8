package import GantryCore

/// What the command line says about statistics.
package struct StatisticsOptions: Sendable {
    /// Where `--metrics` listens when it names nothing.
    package static let studioMetrics = Endpoint(host: "127.0.0.1", port: 9751)
    package static let producerMetrics = Endpoint(host: "127.0.0.1", port: 9750)
    private static let reportEvery = MediaDuration.seconds(10)

    /// A line each second.
    package let showsLines: Bool
    package let csvPath: String?
    package let metrics: Endpoint?
    package let reportURL: String?
    package let reportInterval: MediaDuration

    /// - Parameter usual: where `--metrics` listens when it names nothing.
    package static func table(usual: Endpoint) -> [Option] {
        [
            Option("stats", help: "Show figures each second, and in full at the end.", group: "Statistics"),
            Option(
                "stats-csv", value: "FILE", help: "Write figures to this file each second, as CSV.", group: "Statistics"
            ),
            Option(
                "metrics", value: "ADDRESS:PORT",
                help:
                    "Answer Prometheus at http://ADDRESS:PORT/metrics. Whoever reaches it may ask. Default: \(usual), which "
                    + "only this machine reaches.",
                group: "Statistics", optionalValue: ["127.", "localhost:", "0.0.0.0:", "[::"]),
            Option(
                "report-to", value: "URL",
                help: "Send figures there, as JSON, by HTTP POST (http or https).", group: "Statistics",
                form: .url),
            Option(
                "report-every", value: "TIME", help: "How often. Default: 10s; least: 1s.", group: "Statistics",
                form: .duration(MediaDuration.seconds(1)...MediaDuration.seconds(3_600_000))),
        ]
    }

    package init(_ arguments: ParsedArguments, usual: Endpoint) throws(GantryError) {
        showsLines = arguments.has("stats")
        csvPath = arguments.string("stats-csv")
        metrics = try arguments.value("metrics", "an address and a port, as in 127.0.0.1:9750") {
            $0.isEmpty ? usual : Endpoint(text: $0)
        }
        reportURL = try arguments.value("report-to", "a URL, as in https://host:8080/path", parse: Self.reporter)
        let interval = try arguments.duration("report-every")
        if arguments.isTyped("report-every"), reportURL == nil {
            throw GantryError(.invalidArgument, "--report-every says how often --report-to sends: give that as well.")
        }
        guard interval.map({ $0 >= .seconds(1) }) ?? true else {
            throw GantryError(.invalidArgument, "--report-every is 1s at least.")
        }
        reportInterval = interval ?? Self.reportEvery
    }

    /// A URL as libavformat takes it: scheme in small letters, a host, no fragment. Nil for anything else.
    static func reporter(_ text: String) -> String? {
        guard text.utf8.count <= 2000, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { return nil }
        let scheme = text.prefix { $0 != ":" }
        guard ["http", "https"].contains(scheme.lowercased()), text[scheme.endIndex...].hasPrefix("://") else {
            return nil
        }
        let rest = text[scheme.endIndex...].dropFirst(3).prefix { $0 != "#" }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        let place = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        guard Endpoint(text: String(place), defaultPort: 80) != nil else { return nil }
        return "\(scheme.lowercased())://\(rest)"
    }

    /// Whether anything is to be done each second.
    package var isWanted: Bool { showsLines || csvPath != nil || metrics != nil || reportURL != nil }
}
