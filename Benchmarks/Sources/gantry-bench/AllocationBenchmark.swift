import CAllocations
import Foundation

/// What Swift code takes from the heap for a frame in steady state: both kits in this process, then the two tools with
/// the test pattern, sound, a recording and all measurements.
///
/// The control channel (PING and statistics each second) and the status line allocate a little by time, not by frame. The
/// two are told apart by counting in windows of 100 ms, each with 3 frames and 10 packets of sound: what the media take
/// is in every window, the rest only in some. The median window therefore shows the media alone.
struct AllocationBenchmark {
    /// For a frame.
    static let threshold = 0.05
    private static let windowMicroseconds: Int64 = 100_000
    private static let framesInWindow = 3
    private let options: BenchOptions
    private let seconds: Int

    init(_ options: BenchOptions) {
        self.options = options
        seconds = options.seconds ?? 10
    }

    /// Heap calls in each window.
    private struct Windows {
        var swift: [Int] = []
        var other: [Int] = []

        /// Of the median window, for a frame.
        static func perFrame(_ counts: [Int]) -> Double {
            counts.isEmpty ? 0 : Double(counts.sorted()[counts.count / 2]) / Double(framesInWindow)
        }

        /// All of them, in a second.
        static func perSecond(_ counts: [Int]) -> Double {
            let duration = Double(counts.count) * Double(windowMicroseconds) / 1_000_000
            return counts.isEmpty ? 0 : Double(counts.reduce(0, +)) / duration
        }
    }

    func run() throws -> Bool {
        guard Self.counts() else {
            print("MISSED: the counter does not count")
            return false
        }
        print("Heap calls of          Swift, for   Swift, control channel   C libraries,")
        print("                          a frame   included, each second    for a frame")
        var met = try kits()
        met = try tools() && met
        print("\(met ? "MET" : "MISSED"): Swift at most \(fixed(Self.threshold)) for a frame")
        return met
    }

    private func report(_ name: String, _ windows: Windows) -> Bool {
        let swift = Windows.perFrame(windows.swift)
        print(
            name + String(repeating: " ", count: 20 - name.count) + fixed(swift, width: 13)
                + fixed(Windows.perSecond(windows.swift), 1, width: 25)
                + fixed(Windows.perFrame(windows.other), 1, width: 15))
        return swift <= Self.threshold && !windows.swift.isEmpty
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
        var windows = Windows()
        var due = Clock.now()
        // The first two seconds fill the pools and do not count.
        for window in 0..<(2 + seconds) * 10 {
            var (swift, other) = (0, 0)
            allocations_watch(options.trace && window >= 20 ? 1 : 0)
            for frame in 0..<Self.framesInWindow {
                Clock.sleep(until: due)
                _ = try pair.send(picture, window * Self.framesInWindow + frame)
                due += Self.windowMicroseconds / Int64(Self.framesInWindow)
            }
            Clock.sleep(until: due)
            allocations_stop(&swift, &other)
            guard window >= 20 else { continue }
            windows.swift.append(swift)
            windows.other.append(other)
        }
        if options.trace { allocations_print_stacks(2) }
        return report("both kits", windows)
    }

    // MARK: The tools

    private func tools() throws -> Bool {
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
        let producer = try pair.startProducer(environment: environment(reports[0]))
        Clock.sleep(until: Clock.now() + 500_000)
        let studio = try pair.startStudio(record: "bench.mp4", environment: environment(reports[1]))
        Clock.sleep(until: Clock.now() + 3_000_000)
        var windows = [Windows(), Windows()]
        for _ in 0..<seconds * 10 {
            for process in [producer, studio] { kill(process.processIdentifier, SIGUSR1) }
            Clock.sleep(until: Clock.now() + Self.windowMicroseconds)
            for process in [producer, studio] { kill(process.processIdentifier, SIGUSR2) }
            Clock.sleep(until: Clock.now() + 20_000)
            for (index, path) in reports.enumerated() { try read(path, into: &windows[index]) }
        }
        if options.trace {
            for path in reports {
                FileHandle.standardError.write((try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data())
            }
        }
        let met = report("gantry-producer", windows[0])
        return report("gantry-studio", windows[1]) && met
    }

    private func read(_ path: String, into windows: inout Windows) throws {
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let counts = text.prefix { $0 != "\n" }.split(separator: " ").compactMap { Int($0) }
        guard counts.count == 2 else {
            throw ConnectedPair.Failure(description: "no counts in \(path) from the tools")
        }
        windows.swift.append(counts[0])
        windows.other.append(counts[1])
    }
}
