import CAllocations
import Foundation

/// What Swift code takes from the heap for a frame in steady state: both kits in this process, then the two tools with
/// the test pattern, sound, a recording and all measurements.
///
/// The control channel (PING and statistics each second) and the status line allocate a little by time, not by frame. The
/// two are told apart by running at 30 and at 60 frames a second: the difference is what the frames cost.
struct AllocationBenchmark {
    /// For a frame.
    static let threshold = 0.05
    /// What the tools may take besides, each second. Sound comes in 100 packets a second: one for each would be more.
    static let thresholdByTime = 60.0
    private let options: BenchOptions
    private let seconds: Int

    init(_ options: BenchOptions) {
        self.options = options
        seconds = options.seconds ?? 10
    }

    /// Heap calls a second.
    private struct Rate {
        var swift = 0.0
        var other = 0.0
    }

    func run() throws -> Bool {
        guard Self.counts() else {
            print("MISSED: the counter does not count")
            return false
        }
        print("Heap calls by       Swift a second   Swift    Swift beside   C libraries")
        print("                      30 fps  60 fps a frame  them a second       a frame")
        var met = try kits()
        met = try tools() && met
        print(
            "\(met ? "MET" : "MISSED"): Swift at most \(fixed(Self.threshold)) for a frame, "
                + "\(fixed(Self.thresholdByTime, 0)) a second beside")
        return met
    }

    private func report(_ name: String, at30 slow: Rate, at60 fast: Rate) -> Bool {
        let swift = (fast.swift - slow.swift) / 30
        let other = (fast.other - slow.other) / 30
        let beside = slow.swift - 30 * swift
        print(
            name + String(repeating: " ", count: 20 - name.count) + fixed(slow.swift, 1, width: 8)
                + fixed(fast.swift, 1, width: 8) + fixed(swift, width: 8) + fixed(beside, 1, width: 15)
                + fixed(other, 1, width: 14))
        return swift <= Self.threshold && beside <= Self.thresholdByTime
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

    // MARK: The kits in this process

    private func kits() throws -> Bool {
        let picture = MovingPicture()
        let pair = try ConnectedPair()
        defer { pair.close() }
        _ = try measure(pair, picture, rate: 60, seconds: 2)
        let slow = try measure(pair, picture, rate: 30, seconds: seconds)
        let fast = try measure(pair, picture, rate: 60, seconds: seconds)
        if options.trace { allocations_print_stacks(2) }
        return report("both kits", at30: slow, at60: fast)
    }

    private func measure(_ pair: ConnectedPair, _ picture: MovingPicture, rate: Int, seconds: Int) throws -> Rate {
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
        return Rate(swift: Double(swift) / Double(seconds), other: Double(other) / Double(seconds))
    }

    // MARK: The tools

    private func tools() throws -> Bool {
        let slow = try measureTools(fps: 30)
        let fast = try measureTools(fps: 60)
        let producer = report("gantry-producer", at30: slow[0], at60: fast[0])
        return report("gantry-studio", at30: slow[1], at60: fast[1]) && producer
    }

    /// Producer, then studio.
    private func measureTools(fps: Int) throws -> [Rate] {
        let library = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("libgantry-allocations.so").path
        let pair = try ToolPair(options.tools)
        defer { pair.close() }
        let reports = ["producer", "studio"].map { pair.path("\($0).count") }
        func environment(_ report: String) -> [String: String] {
            var result = ["LD_PRELOAD": library, "GANTRY_ALLOCATIONS": report]
            if options.trace { result["GANTRY_ALLOCATIONS_TRACE"] = "1" }
            return result
        }
        let producer = try pair.startProducer(fps: fps, environment: environment(reports[0]))
        Clock.sleep(until: Clock.now() + 500_000)
        let studio = try pair.startStudio(record: "bench.mp4", environment: environment(reports[1]))
        Clock.sleep(until: Clock.now() + 3_000_000)
        for process in [producer, studio] { kill(process.processIdentifier, SIGUSR1) }
        Clock.sleep(until: Clock.now() + Int64(seconds) * 1_000_000)
        for process in [producer, studio] { kill(process.processIdentifier, SIGUSR2) }
        Clock.sleep(until: Clock.now() + 500_000)
        return try reports.map { path in
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            if options.trace { FileHandle.standardError.write(Data(text.utf8)) }
            let counts = text.prefix { $0 != "\n" }.split(separator: " ").compactMap { Double($0) }
            guard counts.count == 2 else {
                throw ConnectedPair.Failure(description: "no counts from the tools; is \(library) there?")
            }
            return Rate(swift: counts[0] / Double(seconds), other: counts[1] / Double(seconds))
        }
    }
}
