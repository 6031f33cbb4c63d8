/// The arguments of `gantry-bench`.
struct BenchOptions {
    enum Name: String, CaseIterable {
        case latency, allocations, memory, sources, pairing, pairings
    }

    struct Misuse: Error, CustomStringConvertible {
        let description: String
    }

    var name = Name.latency
    var help = false
    /// Alternating rounds of `latency`.
    var rounds = 6
    /// Seconds of each round, or of a measurement; nil: what suits the benchmark.
    var seconds: Int?
    var minutes = 1
    /// Rounds of `pairing`, or pairings.
    var count = 0
    /// File for the figures of `pairing` and `pairings`.
    var json: String?
    /// Where the release tools are.
    var tools = ".build/release"
    /// Shows who allocates.
    var trace = false

    static let usage = """
        Usage: gantry-bench [latency | allocations | memory | sources | pairing | pairings] [options]

          latency      a 720p30 picture from enqueueVideo to VideoOutput.receive over TLS on loopback, against
                       bare x264 and libavcodec with the same settings, in alternating rounds (default)
          allocations  what Swift code takes from the heap and what is copied per frame, both ends
          memory       resident memory of gantry-producer and gantry-studio while they stream
          sources      milliseconds that each stage takes for a 720p frame
          pairing      from a scanned code to the first picture, and from `receive` to it, between two hosts in network
                       namespaces with Avahi (root; see scripts/lab)
          pairings     many pairings in a row with one running producer, there too

          --rounds N   latency: rounds of each kind (default 6)
          --seconds N  length of a round (default 5) or measurement (default 10)
          --minutes N  memory: how long (default 1)
          --count N    pairing: rounds (default 20); pairings: how many (default 200)
          --json FILE  pairing, pairings: write the figures
          --tools DIR  folder of the release tools (default .build/release)
          --trace      allocations: say who allocates and copies, on standard error
          --help       show this help

        Status 1 when a threshold is missed. Latency: median at most 1.25 times the floor's. Allocations: at most 0.05 for a
        frame and 150 a second; copied for a frame what it prints behind each figure, in pictures. Memory: below 80 MB each, and
        at most 2 MB more at the end than after the first quarter.
        Pairing: medians of 1.5 s from scan to picture, and of 0.5 s from receive to picture. Pairings: no failure; at
        most 2 MB, no thread and no descriptor more than after the first 20.
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        if let first = rest.first, !first.hasPrefix("-") {
            guard let name = Name(rawValue: first) else {
                throw Misuse(description: "no benchmark is called \(first). See: scripts/bench --help")
            }
            self.name = name
            rest = rest.dropFirst()
        }
        while let option = rest.popFirst() {
            switch option {
            case "--help", "-h": help = true
            case "--trace": trace = true
            case "--rounds": rounds = try Self.number(option, rest.popFirst())
            case "--seconds": seconds = try Self.number(option, rest.popFirst())
            case "--minutes": minutes = try Self.number(option, rest.popFirst())
            case "--count": count = try Self.number(option, rest.popFirst())
            case "--tools": tools = try Self.text(option, rest.popFirst(), "a folder")
            case "--json": json = try Self.text(option, rest.popFirst(), "a file")
            default: throw Misuse(description: "unknown argument \(option). See: scripts/bench --help")
            }
        }
        if count == 0 { count = name == .pairings ? 200 : 20 }
    }

    private static func text(_ option: String, _ text: String?, _ what: String) throws -> String {
        guard let text, !text.isEmpty else { throw Misuse(description: "\(option) needs \(what)") }
        return text
    }

    private static func number(_ option: String, _ text: String?) throws -> Int {
        guard let text, let number = Int(text), 1...1440 ~= number else {
            throw Misuse(description: "\(option) needs a number from 1 to 1440")
        }
        return number
    }
}
