package import Foundation

/// ffmpeg and ffprobe as makers of clips and as independent judges of what we make. The process runs on a Dispatch
/// thread, never on the cooperative pool.
package enum FFmpegTool {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs `arguments[0]` from the search path and returns its standard output; throws when its status is not 0.
    @discardableResult
    package static func run(_ arguments: [String], input: Data? = nil) async throws -> Data {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { try runBlocking(arguments, input: input) })
            }
        }
    }

    /// `ffmpeg` quiet, without a terminal, overwriting its output.
    @discardableResult
    package static func ffmpeg(_ arguments: [String], input: Data? = nil) async throws -> Data {
        try await run(["ffmpeg", "-v", "error", "-nostdin", "-y"] + arguments, input: input)
    }

    /// What ffprobe says about the first video or audio stream ("v:0", "a:0"): one value a key.
    package static func probe(
        _ path: String, stream: String = "v:0", arguments: [String] = []
    ) async throws -> [String: String] {
        let text = try await run(
            ["ffprobe", "-v", "error", "-select_streams", stream, "-show_streams", "-of", "default=noprint_wrappers=1"]
                + arguments + [path])
        var values: [String: String] = [:]
        for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2, values[parts[0]] == nil { values[parts[0]] = parts[1] }
        }
        return values
    }

    private static func runBlocking(_ arguments: [String], input: Data?) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let (output, errors, feed) = (Pipe(), Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        if input == nil { process.standardInput = FileHandle.nullDevice } else { process.standardInput = feed }
        try process.run()
        if let input {
            let handle = feed.fileHandleForWriting
            DispatchQueue.global().async {
                try? handle.write(contentsOf: input)
                try? handle.close()
            }
        }
        let text = ErrorText()
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) { text.data = errors.fileHandleForReading.readDataToEndOfFile() }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        group.wait()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(
                description: "\(arguments.joined(separator: " ")): status \(process.terminationStatus): "
                    + String(decoding: text.data, as: UTF8.self))
        }
        return data
    }

    // Written by one Dispatch thread, read after the group's wait.
    private final class ErrorText: @unchecked Sendable {
        var data = Data()
    }
}

/// A folder of its own under /tmp, removed with the object.
package final class ScratchFolder: Sendable {
    package let path: String

    package init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("gantry-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { path + "/" + name }
}
