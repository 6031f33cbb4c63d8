import Foundation

/// Resident memory of the two tools while the producer's test pattern (720p30 with sound) is received and recorded.
struct MemoryBenchmark {
    static let limit = 80.0
    static let growth = 2.0
    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    private struct Series {
        let name: String
        var megabytes: [Double] = []
    }

    func run() throws -> Bool {
        let pair = try ToolPair(options.tools)
        defer { pair.close() }
        let producer = try pair.startProducer()
        Clock.sleep(until: Clock.now() + 500_000)
        let studio = try pair.startStudio(record: "bench.mp4")
        var series = [Series(name: "gantry-producer"), Series(name: "gantry-studio")]
        var due = Clock.now()
        for second in 1...options.minutes * 60 {
            due += 1_000_000
            Clock.sleep(until: due)
            for (index, process) in [producer, studio].enumerated() {
                guard process.isRunning, let kilobytes = process.residentKilobytes else {
                    throw ConnectedPair.Failure(description: "\(series[index].name) ended after \(second) s")
                }
                series[index].megabytes.append(Double(kilobytes) / 1024)
            }
        }
        print("                 start  warm    end   max MB   MB a minute   peak MB")
        let peaks = [producer, studio].map { Double($0.peakKilobytes ?? 0) / 1024 }
        var met = true
        for (one, peak) in zip(series, peaks) { met = report(one, peak) && met }
        print(
            "\(met ? "MET" : "MISSED"): below \(fixed(Self.limit, 0)) MB, at most \(fixed(Self.growth, 0)) MB of growth"
        )
        return met
    }

    /// Warm is after the first quarter, but at most a minute.
    private func report(_ series: Series, _ peak: Double) -> Bool {
        let values = series.megabytes
        let warmIndex = min(values.count / 4, 60)
        let (start, warm, end) = (values[0], values[warmIndex], values[values.count - 1])
        let columns = [start, warm, end, values.max() ?? 0].map { fixed($0, 1, width: 7) }.joined()
        let slope = Self.slope(Array(values[warmIndex...])) * 60
        let name = series.name + String(repeating: " ", count: 15 - series.name.count)
        print("\(name)\(columns)   \(fixed(slope, 3, width: 10))   \(fixed(peak, 1, width: 7))")
        return (values.max() ?? 0) < Self.limit && end - warm <= Self.growth
    }

    /// Least squares, for each step.
    private static func slope(_ values: [Double]) -> Double {
        let count = Double(values.count)
        let meanX = (count - 1) / 2
        let meanY = values.reduce(0, +) / count
        var (above, below) = (0.0, 0.0)
        for (index, value) in values.enumerated() {
            above += (Double(index) - meanX) * (value - meanY)
            below += (Double(index) - meanX) * (Double(index) - meanX)
        }
        return below > 0 ? above / below : 0
    }
}
