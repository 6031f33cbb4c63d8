import Foundation

/// Pairings in a row of one running producer with a fresh studio each, by the address in the code and by discovery in turn:
/// none may fail, and the producer may not grow.
struct PairingsBenchmark {
    /// Pairings after which it counts as warm.
    private static let warm = 20
    /// Megabytes from warm to the end. Each paired studio stays in the store, not in memory.
    private static let growth = 2.0

    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    private struct Usage {
        var megabytes = 0.0
        var threads = 0
        var descriptors = 0

        init(_ process: Process) {
            let folder = "/proc/\(process.processIdentifier)"
            megabytes = Double(process.residentKilobytes ?? 0) / 1024
            threads = ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/task")) ?? []).count
            descriptors = ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/fd")) ?? []).count
        }

        var fields: [String: Any] { ["megabytes": megabytes, "threads": threads, "descriptors": descriptors] }
    }

    func run() throws -> Bool {
        let lab = try PairingLab(options.tools)
        defer { lab.close() }
        let process = lab.producer.process
        var usages = [Usage(process)]
        var failures: [String] = []
        var times: [PairingLab.Way: Samples] = [:]
        for round in 1...options.count {
            let way = round % 2 == 1 ? PairingLab.Way.address : .discovery
            do {
                times[way, default: Samples()].add(try pair(lab, way))
            } catch {
                failures.append("\(round) (\(way.rawValue)): \(error)")
            }
            guard process.isRunning else { throw Lab.Failure(description: "the producer ended in round \(round)") }
            usages.append(Usage(process))
        }
        // What a pairing leaves for a moment is gone by then.
        Clock.sleep(until: Clock.now() + 2_000_000)
        usages.append(Usage(process))
        return try report(usages, failures, times)
    }

    /// Microseconds from the start of `gantry-producer pair` to its success; the studio must have been let in as well.
    private func pair(_ lab: PairingLab, _ way: PairingLab.Way) throws -> Int64 {
        let state = lab.freshStudio()
        defer { lab.lab.remove(state) }
        let studio = try lab.studio(state, ["pair", "--text", "--json"])
        defer { studio.end() }
        let scan = try lab.scan(studio, way)
        defer { scan.end() }
        let time = try scan.wait(for: "paired").time - scan.started
        let paired = try studio.wait(for: "paired")
        guard paired.fields["connected"] as? Bool == true else {
            throw Lab.Failure(description: "paired, but not let in: \(paired.fields["error"] ?? "")")
        }
        try scan.finish()
        try studio.finish()
        return time
    }

    private func report(_ usages: [Usage], _ failures: [String], _ times: [PairingLab.Way: Samples]) throws -> Bool {
        let (start, end) = (usages[0], usages[usages.count - 1])
        let warm = usages[min(Self.warm, options.count)]
        print("gantry-producer        MB  threads  descriptors")
        for (name, usage) in [("start", start), ("after \(min(Self.warm, options.count))", warm), ("end", end)] {
            print(
                name + String(repeating: " ", count: 16 - name.count) + fixed(usage.megabytes, 1, width: 9)
                    + fixed(Double(usage.threads), 0, width: 9) + fixed(Double(usage.descriptors), 0, width: 13))
        }
        for way in [PairingLab.Way.address, .discovery] {
            guard let samples = times[way] else { continue }
            print(
                "by \(way.rawValue): \(samples.count) paired, ms p50 \(fixed(samples.median, 0)), p95 "
                    + "\(fixed(samples.percentile(95), 0)), max \(fixed(samples.percentile(100), 0))")
        }
        for failure in failures.prefix(10) { print("FAILED \(failure)") }
        // The last pairing's descriptors and threads must be gone, not only bounded.
        let met =
            failures.isEmpty && end.megabytes - warm.megabytes <= Self.growth && end.threads <= warm.threads
            && end.descriptors <= warm.descriptors
        print(
            "\(met ? "MET" : "MISSED"): \(failures.count) of \(options.count) failed; at most \(fixed(Self.growth, 0)) MB, "
                + "no thread and no descriptor more than after \(min(Self.warm, options.count))")
        if let path = options.json {
            try JSONFile.write(
                [
                    "pairings": options.count, "failures": failures, "met": met, "start": start.fields,
                    "warm": warm.fields, "end": end.fields,
                ], to: path)
        }
        return met
    }
}
