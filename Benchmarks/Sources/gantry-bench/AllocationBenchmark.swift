import CAllocations
import Foundation

/// What Swift code takes from the heap, and what is copied, for a frame in steady state: both kits in this process, then the
/// two tools with the test pattern, sound, a recording and all measurements.
///
/// The control channel (PING and statistics each second, reports of UDP) takes a little by time, not by frame. The two are
/// told apart by counting in windows of 100 ms, each with 3 frames and 10 packets of sound: what the media take is in every
/// window, the rest in some. The window that a quarter of them do not exceed therefore shows the media alone; all windows
/// together have a threshold of their own.
struct AllocationBenchmark {
    /// Heap calls of Swift code: for a frame, and in a second in all.
    static let heap = (frame: 0.05, second: 150.0)
    /// Bytes copied for a frame, in pictures of 4:2:0 (one and a half bytes a pixel), by Swift code and by C libraries: the
    /// coded picture, 0.02 of one at 6 Mbit/s, some times over. x264 has a third of a picture of its own.
    static let kits = (swift: 0.1, libraries: 0.55)
    static let producer = (swift: 0.04, libraries: 0.4)
    static let studio = (swift: 0.03, libraries: 0.06)
    private static let windowMicroseconds: Int64 = 100_000
    private static let framesInWindow = 3
    /// Of 1280x720, which all of them have.
    private static let pictureBytes = Double(1280 * 720 * 3 / 2)
    private let options: BenchOptions
    private let seconds: Int

    init(_ options: BenchOptions) {
        self.options = options
        seconds = options.seconds ?? 10
    }

    /// What was counted in each window.
    private struct Windows {
        var counts: [allocations_counts] = []

        /// Of the window that a quarter do not exceed, for a frame.
        func perFrame(_ count: KeyPath<allocations_counts, Int>) -> Double {
            let sorted = counts.map { $0[keyPath: count] }.sorted()
            return sorted.isEmpty ? 0 : Double(sorted[sorted.count / 4]) / Double(framesInWindow)
        }

        /// As `perFrame`, of bytes, in pictures.
        func pictures(_ count: KeyPath<allocations_counts, Int>) -> Double { perFrame(count) / pictureBytes }

        /// All of them, in a second.
        func perSecond(_ count: KeyPath<allocations_counts, Int>) -> Double {
            let duration = Double(counts.count) * Double(windowMicroseconds) / 1_000_000
            return counts.isEmpty ? 0 : Double(counts.reduce(0) { $0 + $1[keyPath: count] }) / duration
        }
    }

    func run() throws -> Bool {
        guard Self.counts() else {
            print("MISSED: the counter does not count")
            return false
        }
        print("                 heap calls of Swift        of C libraries   pictures copied by   copied by C")
        print("                   a frame  a second               a frame          Swift code     libraries")
        var met = try kits()
        met = try tools() && met
        print(
            "\(met ? "MET" : "MISSED"): at most \(fixed(Self.heap.frame)) heap calls of Swift for a frame, "
                + "\(fixed(Self.heap.second, 0)) a second; copied for a frame at most what stands behind each")
        return met
    }

    private func report(_ name: String, _ windows: Windows, _ limit: (swift: Double, libraries: Double)) -> Bool {
        let frame = windows.perFrame(\.swift)
        let second = windows.perSecond(\.swift)
        let copied = (swift: windows.pictures(\.swift_copied), libraries: windows.pictures(\.other_copied))
        print(
            name + String(repeating: " ", count: 16 - name.count) + fixed(frame, width: 10)
                + fixed(second, 1, width: 10)
                + fixed(windows.perFrame(\.other), 1, width: 22) + fixed(copied.swift, 3, width: 15)
                + " of \(fixed(limit.swift))" + fixed(copied.libraries, 3, width: 9) + " of \(fixed(limit.libraries))")
        return frame <= Self.heap.frame && second <= Self.heap.second && copied.swift <= limit.swift
            && copied.libraries <= limit.libraries && copied.swift > 0
    }

    /// Whether an object and a copy are seen at all.
    private static func counts() -> Bool {
        final class Probe {
            var value = 0
        }
        let size = 100_000
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * size, alignment: 16)
        defer { memory.deallocate() }
        allocations_watch(0)
        var probes: [Probe] = []
        for _ in 0..<100 { probes.append(Probe()) }
        UnsafeMutableRawBufferPointer(rebasing: memory[size...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: memory[..<size]))
        let seen = allocations_stop()
        return seen.swift >= 100 && probes.count == 100 && seen.swift_copied >= size
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
            allocations_watch(options.trace && window >= 20 ? 1 : 0)
            for frame in 0..<Self.framesInWindow {
                Clock.sleep(until: due)
                _ = try pair.send(picture, window * Self.framesInWindow + frame)
                due += Self.windowMicroseconds / Int64(Self.framesInWindow)
            }
            Clock.sleep(until: due)
            let counts = allocations_stop()
            if window >= 20 { windows.counts.append(counts) }
        }
        if options.trace { allocations_print_stacks(2) }
        return report("both kits", windows, Self.kits)
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
            for path in reports { unlink(path) }
            for process in [producer, studio] { kill(process.processIdentifier, SIGUSR1) }
            Clock.sleep(until: Clock.now() + Self.windowMicroseconds)
            for process in [producer, studio] { kill(process.processIdentifier, SIGUSR2) }
            for (index, path) in reports.enumerated() { try read(path, into: &windows[index]) }
        }
        if options.trace {
            for path in reports {
                FileHandle.standardError.write((try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data())
            }
        }
        let met = report("gantry-producer", windows[0], Self.producer)
        return report("gantry-studio", windows[1], Self.studio) && met
    }

    /// What a tool has counted, once its file is there.
    private func read(_ path: String, into windows: inout Windows) throws {
        let deadline = Clock.now() + 10_000_000
        while access(path, F_OK) != 0 && Clock.now() < deadline { Clock.sleep(until: Clock.now() + 1000) }
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        let counts = text.prefix { $0 != "\n" }.split(separator: " ").compactMap { Int($0) }
        guard counts.count == 4 else {
            throw ConnectedPair.Failure(description: "no counts in \(path) from the tools")
        }
        windows.counts.append(
            .init(swift: counts[0], other: counts[1], swift_copied: counts[2], other_copied: counts[3]))
    }
}
