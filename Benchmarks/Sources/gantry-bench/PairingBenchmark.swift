import Foundation

/// From a scanned code, and from `receive`, to the first decoded picture, between the two tools in a lab.
struct PairingBenchmark {
    /// Milliseconds at the median.
    private static let pairingLimit = 1500.0
    private static let receivingLimit = 500.0
    /// For Avahi to make its announcements of a new address.
    private static let settling: Int64 = 2_500_000

    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    private struct Row {
        let name: String
        let key: String
        let limit: Double
        var samples = Samples()
        /// Milliseconds from the start to a step on the way.
        var steps: [(name: String, samples: Samples)] = []

        var isMet: Bool { samples.median <= limit }

        /// A step that did not come is left out.
        mutating func add(_ name: String, _ time: Int64?, since start: Int64) {
            guard let time else { return }
            if !steps.contains(where: { $0.name == name }) { steps.append((name, Samples())) }
            for index in steps.indices where steps[index].name == name { steps[index].samples.add(time - start) }
        }
    }

    func run() throws -> Bool {
        let lab = try PairingLab(options.tools)
        defer { lab.close() }
        let rows = [
            try pairing(lab, .address, "code with address"), try pairing(lab, .discovery, "code without address"),
            try receiving(lab), try receivingMoved(lab),
        ]
        report(rows)
        if let path = options.json { try write(rows, to: path) }
        return rows.allSatisfy(\.isMet)
    }

    // MARK: Rounds

    /// From the start of `gantry-producer pair` to the first picture of `gantry-studio receive --pair`.
    private func pairing(_ lab: PairingLab, _ way: PairingLab.Way, _ name: String) throws -> Row {
        var row = Row(name: "scan to first picture, \(name)", key: "pairing-\(way.rawValue)", limit: Self.pairingLimit)
        for _ in 0..<options.count {
            let state = lab.freshStudio()
            let studio = try lab.studio(state, ["receive", "--pair", "--text", "--json"])
            defer { studio.end() }
            let scan = try lab.scan(studio, way)
            let first = try studio.wait(for: "firstFrame")
            row.samples.add(first.time - scan.started)
            row.add("searching", scan.time(of: "searching"), since: scan.started)
            row.add("studio answered", scan.time(of: "studioAnswered"), since: scan.started)
            row.add("paired", scan.time(of: "paired"), since: scan.started)
            row.add("connected", studio.time(of: "connected"), since: scan.started)
            try scan.finish()
            studio.end()
            lab.lab.remove(state)
        }
        return row
    }

    /// From the start of `gantry-studio receive` to its first picture, the producer being where it was last.
    private func receiving(_ lab: PairingLab) throws -> Row {
        var row = Row(
            name: "receive to first picture, last address", key: "receive-address", limit: Self.receivingLimit)
        let state = try pairedStudio(lab)
        for _ in 0..<options.count { _ = try receive(lab, state, &row) }
        return row
    }

    /// The same when the producer has moved: the last address answers no more.
    private func receivingMoved(_ lab: PairingLab) throws -> Row {
        var row = Row(name: "receive to first picture, moved", key: "receive-discovery", limit: Self.receivingLimit)
        let state = try pairedStudio(lab)
        var unused = row
        var last = try receive(lab, state, &unused)
        for round in 0..<options.count {
            let number = 20 + round % 2
            try lab.lab.setAddresses(1, ["10.77.0.\(number)/24", "fd77::\(number)/64"])
            Clock.sleep(until: Clock.now() + Self.settling)
            let address = try receive(lab, state, &row)
            guard address != last else { throw Lab.Failure(description: "the producer has not moved: \(address)") }
            last = address
        }
        return row
    }

    private func pairedStudio(_ lab: PairingLab) throws -> String {
        let state = lab.freshStudio()
        let studio = try lab.studio(state, ["pair", "--text", "--json"])
        defer { studio.end() }
        try lab.scan(studio, .address).finish()
        try studio.finish()
        return state
    }

    /// The address that answered.
    private func receive(_ lab: PairingLab, _ state: String, _ row: inout Row) throws -> String {
        let studio = try lab.studio(state, ["receive", "--json"])
        defer { studio.end() }
        let first = try studio.wait(for: "firstFrame")
        row.samples.add(first.time - studio.started)
        row.add("connecting", studio.time(of: "connecting"), since: studio.started)
        row.add("connected", studio.time(of: "connected"), since: studio.started)
        return try studio.wait(for: "connected").fields["address"] as? String ?? ""
    }

    // MARK: What it gave

    private func report(_ rows: [Row]) {
        print("milliseconds                                          p50    p95    max   limit of p50")
        for row in rows {
            print(
                Self.line(row.name, row.samples) + "   \(fixed(row.limit, 0, width: 6)) \(row.isMet ? "MET" : "MISSED")"
            )
            for step in row.steps { print(Self.line("  … \(step.name)", step.samples)) }
        }
        print("\(options.count) rounds of each")
    }

    private static func line(_ name: String, _ samples: Samples) -> String {
        name + String(repeating: " ", count: max(1, 50 - name.count))
            + [50, 95, 100].map { fixed(samples.percentile($0), 0, width: 7) }.joined()
    }

    private func write(_ rows: [Row], to path: String) throws {
        func figures(_ samples: Samples) -> [String: Any] {
            [
                "p50": samples.percentile(50), "p95": samples.percentile(95), "max": samples.percentile(100),
                "count": samples.count,
            ]
        }
        let list = rows.map { row -> [String: Any] in
            var fields = figures(row.samples)
            fields["name"] = row.key
            fields["limit"] = row.limit
            fields["met"] = row.isMet
            fields["steps"] = row.steps.map { step in
                figures(step.samples).merging(["name": step.name]) { $1 }
            }
            return fields
        }
        try JSONFile.write(["unit": "milliseconds", "rows": list], to: path)
    }
}
