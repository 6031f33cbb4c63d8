import Foundation

/// The two release tools as processes, paired, with state folders of their own.
final class ToolPair {
    private let folder: URL
    private let tools: URL
    private let port = Int.random(in: 20_000..<30_000)
    private var running: [Process] = []

    init(_ tools: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("gantry-bench-tools-\(getpid())")
        self.tools = URL(fileURLWithPath: tools)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let code = folder.appendingPathComponent("code")
        _ = FileManager.default.createFile(atPath: code.path, contents: nil)
        let studio = try start(
            "gantry-studio", ["--state-dir", path("studio"), "pair", "--text", "--address", "127.0.0.1"],
            output: FileHandle(forWritingTo: code))
        for _ in 0..<500 where (try? Data(contentsOf: code))?.contains(10) != true {
            Clock.sleep(until: Clock.now() + 10_000)
        }
        let producer = try start(
            "gantry-producer", ["--state-dir", path("producer"), "pair", "-", "--port", "\(port)"],
            input: FileHandle(forReadingFrom: code))
        producer.waitUntilExit()
        studio.waitUntilExit()
        try? FileManager.default.removeItem(at: code)
        guard producer.terminationStatus == 0, studio.terminationStatus == 0 else {
            throw ConnectedPair.Failure(description: "the tools in \(tools) did not pair")
        }
    }

    /// The test pattern, 720p30, with its tone.
    func startProducer(environment: [String: String] = [:]) throws -> Process {
        try start(
            "gantry-producer",
            ["--state-dir", path("producer"), "run", "test", "--port", "\(port)", "--json"],
            environment: environment)
    }

    func startStudio(record: String, environment: [String: String] = [:]) throws -> Process {
        try start(
            "gantry-studio",
            ["--state-dir", path("studio"), "receive", "127.0.0.1:\(port)", "--record", path(record), "--json"],
            environment: environment)
    }

    func close() {
        for process in running.reversed() where process.isRunning {
            process.interrupt()
            process.waitUntilExit()
        }
        try? FileManager.default.removeItem(at: folder)
    }

    /// A file in the folder of this pair, which `close` takes away.
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func start(
        _ name: String, _ arguments: [String], input: FileHandle = .nullDevice, output: FileHandle = .nullDevice,
        environment: [String: String] = [:]
    ) throws -> Process {
        let process = Process()
        process.executableURL = tools.appendingPathComponent(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        running.append(process)
        return process
    }
}

extension Process {
    /// Resident memory now and at most, in kilobytes; nil when the process has ended.
    var residentKilobytes: Int? { status("VmRSS:") }
    var peakKilobytes: Int? { status("VmHWM:") }

    private func status(_ field: String) -> Int? {
        guard let text = try? String(contentsOfFile: "/proc/\(processIdentifier)/status", encoding: .utf8) else {
            return nil
        }
        for line in text.split(separator: "\n") where line.hasPrefix(field) {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int($0) }
        }
        return nil
    }

    /// Processor time of all threads, in microseconds.
    var processorMicroseconds: Int64 {
        let folder = "/proc/\(processIdentifier)/task"
        var sum: Int64 = 0
        for thread in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            let text = try? String(contentsOfFile: "\(folder)/\(thread)/schedstat", encoding: .utf8)
            sum += (text?.split(separator: " ").first).flatMap { Int64($0) } ?? 0
        }
        return sum / 1000
    }
}
