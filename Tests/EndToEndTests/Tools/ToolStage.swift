import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// Both tools as processes, with a state folder each.
final class ToolStage: Sendable {
    let folder: TestFolder
    /// A port that was free; `pair` and `run` of the producer are told the same.
    let port: String

    init() throws {
        folder = try TestFolder()
        port = String(try LoopbackSocket.freePort())
    }

    func file(_ name: String) -> String { folder.file(name) }

    // MARK: Starting

    func producer(
        _ arguments: [String], json: Bool = true, input: ToolRun.Input = .none
    ) throws -> ToolRun {
        try ToolRun(
            ["gantry-producer", "--state-dir", file("producer")] + (json ? ["--json"] : []) + arguments, input: input)
    }

    func studio(
        _ arguments: [String], json: Bool = true, output: ToolRun.Output = .collect
    ) throws -> ToolRun {
        try ToolRun(
            ["gantry-studio", "--state-dir", file("studio")] + (json ? ["--json"] : []) + arguments, output: output)
    }

    /// Shows a code, and gives the code and the studio that waits.
    func showCode() async throws -> (code: String, studio: ToolRun) {
        let studio = try studio(["pair", "--text", "--address", "127.0.0.1"])
        let line = try await studio.line(containing: "\"code\"")
        let code = try #require(jsonLine(line)?["code"] as? String)
        return (code, studio)
    }

    /// Pairs the two.
    func pair() async throws {
        let (code, studio) = try await showCode()
        let producer = try await producer(["pair", "-", "--port", port, "--name", "Camera"], input: .text(code)).end()
        #expect(producer.status == 0, "\(producer.errorText)")
        #expect(try await studio.end().status == 0)
    }

    /// A producer that runs with a small pattern.
    func startPattern(_ more: [String] = [], size: String = "320x180") async throws -> ToolRun {
        let producer = try producer(["run", "test", "--port", port, "--size", size] + more)
        try await producer.line(containing: "\"started\"")
        return producer
    }

    /// A studio that has its first picture.
    func startReceiving(_ arguments: [String]) async throws -> ToolRun {
        let studio = try studio(["receive"] + arguments)
        try await studio.line(containing: "\"firstFrame\"")
        return studio
    }
}

extension ToolRun.State {
    /// The last line of an event of that name.
    func event(_ name: String) -> [String: Any]? {
        lines.last { $0.contains("\"event\":\"\(name)\"") }.flatMap(jsonLine)
    }

    var outputText: String { String(decoding: output, as: UTF8.self) }
}

/// Asserts how a tool has failed: the status, that the message names what mends it, and that nothing else was written
/// to standard output.
func expectFailure(
    _ state: ToolRun.State, status: Int32, saying words: [String], isJSON: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    #expect(state.status == status, "\(state.errorText)", sourceLocation: sourceLocation)
    for word in words {
        #expect(
            state.errorText.contains(word), "\"\(word)\" in: \(state.errorText)", sourceLocation: sourceLocation)
    }
    #expect(state.errorText.hasPrefix("gantry-"), "\(state.errorText)", sourceLocation: sourceLocation)
    #expect(!state.errorText.contains("Fatal error"), sourceLocation: sourceLocation)
    if !isJSON { #expect(state.output.isEmpty, "\(state.outputText)", sourceLocation: sourceLocation) }
}
