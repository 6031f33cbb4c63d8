import CFloor

/// What Swift code takes from the heap for a frame, both ends together, in steady state.
///
/// The control channel (PING and statistics each second) allocates a little by time, not by frame. The two are told
/// apart by running at 30 and at 60 frames a second: the difference is what the frames cost.
struct AllocationBenchmark {
    static let threshold = 0.05
    private let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    func run() throws -> Bool {
        let picture = MovingPicture()
        let pair = try ConnectedPair()
        defer { pair.close() }
        guard Self.counts() else {
            print("MISSED: the counter does not count")
            return false
        }
        _ = try measure(pair, picture, rate: 60, seconds: 2)
        let slow = try measure(pair, picture, rate: 30, seconds: options.seconds)
        let fast = try measure(pair, picture, rate: 60, seconds: options.seconds)
        if options.trace { allocations_print_stacks() }
        let swift = (fast.swift - slow.swift) / 30
        let other = (fast.other - slow.other) / 30
        print(
            """
            Heap calls a second: Swift \(fixed(slow.swift, 1)) at 30 frames a second, \(fixed(fast.swift, 1)) at 60; \
            C libraries \(fixed(slow.other, 1)) and \(fixed(fast.other, 1))
            For a frame: Swift \(fixed(swift)), C libraries \(fixed(other)); by time: Swift \
            \(fixed(slow.swift - 30 * swift, 1)) a second
            """)
        let met = swift <= Self.threshold
        print("\(met ? "MET" : "MISSED"): \(fixed(swift)) for a frame, threshold \(fixed(Self.threshold))")
        return met
    }

    /// Whether an object is seen at all.
    private static func counts() -> Bool {
        final class Probe {
            var value = 0
        }
        var (swift, other) = (0, 0)
        allocations_watch(0)
        var probes: [Probe] = []
        for _ in 0..<100 { probes.append(Probe()) }
        allocations_stop(&swift, &other)
        return swift >= 100 && probes.count == 100
    }

    /// Calls a second.
    private func measure(
        _ pair: ConnectedPair, _ picture: MovingPicture, rate: Int, seconds: Int
    ) throws -> (swift: Double, other: Double) {
        let period = Int64(1_000_000 / rate)
        var due = Clock.now() + period
        allocations_watch(options.trace ? 1 : 0)
        for index in 0..<rate * seconds {
            Clock.sleep(until: due)
            _ = try pair.send(picture, index)
            due += period
        }
        var (swift, other) = (0, 0)
        allocations_stop(&swift, &other)
        return (Double(swift) / Double(seconds), Double(other) / Double(seconds))
    }
}
