package import Foundation

/// Runs a tool that judges our output: ffprobe, ffmpeg, zbarimg, convert.
package enum Oracle {
    package struct Result: Sendable {
        package let status: Int32
        package let output: Data
        package let errors: String
        package var text: String { String(decoding: output, as: UTF8.self) }
        package var lines: [String] { text.split(separator: "\n").map(String.init) }
    }

    /// Waits on a thread of its own, not on the cooperative pool.
    package static func run(_ arguments: [String], input: Data? = nil) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Swift.Result { try runBlocking(arguments, input: input) })
            }
        }
    }

    /// As `run`, and fails unless the tool says 0.
    package static func check(_ arguments: [String], input: Data? = nil) async throws -> Result {
        let result = try await run(arguments, input: input)
        guard result.status == 0 else {
            throw Failure(text: "\(arguments.joined(separator: " ")): status \(result.status): \(result.errors)")
        }
        return result
    }

    package struct Failure: Error, CustomStringConvertible {
        package let text: String
        package init(text: String) { self.text = text }
        package var description: String { text }
    }

    private static func runBlocking(_ arguments: [String], input: Data?) throws -> Result {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        let (out, err, into) = (folder.file("out"), folder.file("err"), folder.file("in"))
        _ = FileManager.default.createFile(atPath: out, contents: nil)
        _ = FileManager.default.createFile(atPath: err, contents: nil)
        _ = FileManager.default.createFile(atPath: into, contents: input ?? Data())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        // Files instead of pipes: nothing to drain while it runs.
        process.standardOutput = FileHandle(forWritingAtPath: out)
        process.standardError = FileHandle(forWritingAtPath: err)
        process.standardInput = FileHandle(forReadingAtPath: into)
        try process.runUnblocked()
        process.waitUntilExit()
        return Result(
            status: process.terminationStatus, output: try Data(contentsOf: URL(fileURLWithPath: out)),
            errors: try String(contentsOfFile: err, encoding: .utf8))
    }
}

/// A folder that goes away with its owner. An optimised build may let go of it after its last use: then hold it with
/// `withExtendedLifetime`.
package final class TestFolder: Sendable {
    package let path: String

    package init() throws {
        path = NSTemporaryDirectory() + "/gantry-test-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func file(_ name: String) -> String { "\(path)/\(name)" }
}
