package import Foundation

/// ffmpeg and ffprobe as makers of clips and as independent judges of what we make.
package enum FFmpegTool {
    /// Runs `arguments[0]` from the search path and returns its standard output; throws when its status is not 0.
    @discardableResult
    package static func run(_ arguments: [String], input: Data? = nil) async throws -> Data {
        try await Oracle.check(arguments, input: input).output
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
}
