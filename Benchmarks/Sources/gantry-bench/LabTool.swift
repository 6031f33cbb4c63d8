import Foundation

/// A tool that runs with `--json`: its events, each with the time at which its line was read.
final class LabTool: @unchecked Sendable {  // `condition` guards events and isOver.
    struct Event {
        let time: Int64
        let name: String
        let fields: [String: Any]
    }

    let started: Int64
    let process = Process()
    private let condition = NSCondition()
    private var events: [Event] = []
    private var isOver = false
    private let errors: String

    /// - Parameter errors: file for its standard error.
    init(_ path: String, _ arguments: [String], environment: [String: String], input: String?, errors: String) throws {
        self.errors = errors
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        let output = Pipe()
        process.standardOutput = output
        _ = FileManager.default.createFile(atPath: errors, contents: nil)
        process.standardError = FileHandle(forWritingAtPath: errors)
        let stdin = input.map { _ in Pipe() }
        process.standardInput = stdin ?? FileHandle.nullDevice
        started = Clock.now()
        try process.run()
        if let input, let stdin {
            stdin.fileHandleForWriting.write(Data(input.utf8))
            try stdin.fileHandleForWriting.close()
        }
        let reading = output.fileHandleForReading
        let thread = Thread { [self] in
            read(reading.fileDescriptor)
            try? reading.close()
        }
        thread.start()
    }

    /// The first event of that name.
    ///
    /// - Throws: with what the tool said, when it ends or the time is over.
    func wait(for name: String, seconds: Double = 40) throws -> Event {
        let limit = Date(timeIntervalSinceNow: seconds)
        condition.lock()
        defer { condition.unlock() }
        while true {
            if let event = events.first(where: { $0.name == name }) { return event }
            if isOver || !condition.wait(until: limit) {
                throw Lab.Failure(
                    description: "no \"\(name)\" from \(process.arguments?.dropFirst(4).first ?? "the tool") "
                        + "(\(isOver ? "it ended" : "time is over")); it told: "
                        + "\(events.map(\.name).joined(separator: ", ")). \(complaint)")
            }
        }
    }

    /// When an event of that name came, if one has.
    func time(of name: String) -> Int64? {
        condition.lock()
        defer { condition.unlock() }
        return events.first { $0.name == name }?.time
    }

    /// Waits for its own end.
    func finish() throws {
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Lab.Failure(description: "a tool ended with status \(process.terminationStatus). \(complaint)")
        }
    }

    /// Ctrl-C, and its end. Any number of times.
    func end() {
        if process.isRunning { process.interrupt() }
        process.waitUntilExit()
    }

    private var complaint: String {
        let text = (try? String(contentsOfFile: errors, encoding: .utf8)) ?? ""
        return String(text.suffix(600)).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func read(_ descriptor: Int32) {
        var rest: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { break }
            let time = Clock.now()
            rest += buffer[..<count]
            while let end = rest.firstIndex(of: 10) {
                add(Data(rest[..<end]), time)
                rest.removeSubrange(...end)
            }
        }
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }

    private func add(_ line: Data, _ time: Int64) {
        guard let fields = (try? JSONSerialization.jsonObject(with: line)) as? [String: Any],
            let name = fields["event"] as? String
        else { return }
        condition.lock()
        events.append(Event(time: time, name: name, fields: fields))
        condition.broadcast()
        condition.unlock()
    }
}
