package import Foundation
import GantryCore
import GantryPlatform
import Glibc

/// One of our tools as a running process, the real executable.
///
/// Its lines can be waited for while it runs. Every process is killed with its object at the latest.
package final class ToolRun: @unchecked Sendable {  // `process` is safe after `init`; the rest is in `state`.
    package struct State: Sendable {
        package var output = Data()
        package var errors = Data()
        package var outputEnded = false
        package var errorsEnded = false
        /// The exit status; 128 + number for a signal.
        package var status: Int32?

        package var lines: [String] { Self.lines(output) }
        package var errorText: String { String(decoding: errors, as: UTF8.self) }

        private static func lines(_ data: Data) -> [String] {
            String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    package enum Input {
        case none
        case text(String)
        case data(Data)
        /// The output of another program, as a shell's pipe would have it.
        case pipe(FileHandle)
    }

    package enum Output {
        case collect
        /// The caller reads: see `reader`.
        case pipe
    }

    package let state = Watched(State())
    /// The reading end of standard output, with `Output.pipe`.
    package let reader: FileHandle?
    private let process = Process()

    /// The folder of the tools: `GANTRY_TOOLS`, or that of the test bundle.
    package static let folder: String = {
        if let named = ProcessInfo.processInfo.environment["GANTRY_TOOLS"], !named.isEmpty {
            return URL(fileURLWithPath: named).path
        }
        let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if FileManager.default.isExecutableFile(atPath: folder + "/gantry-studio") { return folder }
        return CoreVectors.repository.appending(path: ".build/debug").path
    }()

    /// `$XDG_RUNTIME_DIR` of the tools: sockets of producers that were killed do not fill that of the user.
    package static let runtimeFolder: String = {
        let path = NSTemporaryDirectory() + "gantry-test-runtime-\(geteuid())"
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }()

    /// Starts `arguments[0]`, one of our tools, or another program where it holds a slash or is found on the path.
    ///
    /// - Parameter configuration: `$XDG_CONFIG_HOME`; without it tools find no configuration file.
    package init(
        _ arguments: [String], input: Input = .none, output: Output = .collect, configuration: String? = nil
    ) throws {
        let name = arguments.first ?? ""
        let own = Self.folder + "/" + name
        if name.hasPrefix("gantry-") {
            process.executableURL = URL(fileURLWithPath: own)
            process.arguments = Array(arguments.dropFirst())
        } else {
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = arguments
        }
        var environment = ProcessInfo.processInfo.environment
        environment["GANTRY_STATE_DIR"] = nil
        // A folder that is not there, whoever the tool runs as (the home of Debian's user nobody).
        environment["XDG_CONFIG_HOME"] = configuration ?? "/nonexistent"
        environment["DBUS_SYSTEM_BUS_ADDRESS"] = Isolation.noMessageBus
        environment["XDG_RUNTIME_DIR"] = Self.runtimeFolder
        process.environment = environment
        let (out, err) = (Pipe(), Pipe())
        process.standardOutput = out
        process.standardError = err
        reader = output == .pipe ? out.fileHandleForReading : nil
        let feed = Self.connect(input, to: process)
        let state = state
        process.terminationHandler = { process in
            let status = process.terminationStatus
            let isSignal = process.terminationReason == .uncaughtSignal
            state.change { $0.status = isSignal ? 128 + status : status }
        }
        try process.runUnblocked()
        if let feed { Self.write(feed.1, to: feed.0) }
        if output == .collect {
            Self.read(out.fileHandleForReading) { piece in
                state.change { if let piece { $0.output += piece } else { $0.outputEnded = true } }
            }
        } else {
            state.change { $0.outputEnded = true }
        }
        Self.read(err.fileHandleForReading) { piece in
            state.change { if let piece { $0.errors += piece } else { $0.errorsEnded = true } }
        }
    }

    deinit { signal(SIGKILL) }

    package var processID: Int32 { process.processIdentifier }

    package func signal(_ number: Int32) {
        if state.value.status == nil { kill(process.processIdentifier, number) }
    }

    // MARK: Waiting

    /// The first line of standard output that holds `text`. Throws when the process ends without one.
    @discardableResult
    package func line(containing text: String) async throws -> String {
        _ = try await state.wait { $0.outputEnded || $0.lines.contains { $0.contains(text) } }
        let now = state.value
        guard let line = now.lines.first(where: { $0.contains(text) }) else { throw missing(text, now) }
        return line
    }

    /// Waits until standard error holds `text`.
    package func errors(containing text: String) async throws {
        _ = try await state.wait { $0.errorsEnded || $0.errorText.contains(text) }
        guard state.value.errorText.contains(text) else { throw missing(text, state.value) }
    }

    /// Waits for the end, and for all that was written. Kills what does not end.
    @discardableResult
    package func end() async throws -> State {
        let hasEnded = try await state.wait { $0.status != nil && $0.outputEnded && $0.errorsEnded }
        guard hasEnded else {
            signal(SIGKILL)
            throw missing("the end", state.value)
        }
        return state.value
    }

    /// Starts a tool and waits for its end.
    package static func run(_ arguments: [String], input: Input = .none) async throws -> State {
        try await ToolRun(arguments, input: input).end()
    }

    private func missing(_ what: String, _ now: State) -> Oracle.Failure {
        Oracle.Failure(
            text: "\((process.arguments ?? []).joined(separator: " ")): \(what) did not come. Output:\n"
                + String(decoding: now.output.prefix(4000), as: UTF8.self) + "\nErrors:\n" + now.errorText)
    }

    // MARK: Streams

    private static func connect(_ input: Input, to process: Process) -> (FileHandle, Data)? {
        switch input {
        case .none:
            process.standardInput = FileHandle.nullDevice
            return nil
        case .pipe(let handle):
            process.standardInput = handle
            return nil
        case .text(let text): return connect(.data(Data(text.utf8)), to: process)
        case .data(let data):
            let pipe = Pipe()
            process.standardInput = pipe
            return (pipe.fileHandleForWriting, data)
        }
    }

    private static func write(_ data: Data, to handle: FileHandle) {
        Thread.detachNewThread {
            try? handle.write(contentsOf: data)
            try? handle.close()
        }
    }

    /// Calls `took` with each piece, and with nil at the end.
    private static func read(_ handle: FileHandle, _ took: @escaping @Sendable (Data?) -> Void) {
        Thread.detachNewThread {
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = Glibc.read(handle.fileDescriptor, &buffer, buffer.count)
                if count > 0 {
                    took(Data(buffer.prefix(count)))
                } else if count == 0 || errno != EINTR {
                    break
                }
            }
            try? handle.close()
            took(nil)
        }
    }
}

/// A JSON line as a dictionary; nil when it is none.
package func jsonLine(_ line: String) -> [String: Any]? {
    (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any]
}
