import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

/// Configuration files of the real tools.
@Suite struct ToolConfigurationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Writes `$XDG_CONFIG_HOME/gantry/NAME.json`.
    private func write(_ name: String, _ json: String) throws -> String {
        let parent = folder.file("config") + "/gantry"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        let path = "\(parent)/\(name).json"
        try Data(json.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o644)
        return path
    }

    private func run(_ words: [String]) async throws -> ToolRun.State {
        try await ToolRun(words, configuration: folder.file("config")).end()
    }

    @Test("S9: a file sets options of a tool, and the command line counts before")
    func fileAndCommandLine() async throws {
        let port = try LoopbackSocket.freePort()
        _ = try write(
            "producer",
            """
            {
              "name": "From the file", "port": \(port), "state-dir": "\(folder.file("state"))",
              "run": { "source": "test", "size": "320x180", "duration": "100ms" },
              "pair": { "port": 7799 }
            }
            """)
        let first = try await run(["gantry-producer", "--json", "run"])
        #expect(first.status == 0, "\(first.errorText)")
        #expect(first.event("started")?["port"] as? Int == Int(port))
        #expect(first.event("started")?["source"] as? String == "test pattern")
        #expect(FileManager.default.fileExists(atPath: folder.file("state")))
        // A source as an argument stands for --source.
        let other = try await run(["gantry-producer", "--json", "run", "test", "--name", "Typed", "--port", "0"])
        #expect(other.status == 0, "\(other.errorText)")
        #expect(other.event("started")?["port"] as? Int != Int(port))
        let all = try await run(["gantry-producer", "--json", "config"])
        #expect(all.lines.count == 7, "\(all.outputText)")
        let without = try await run(["gantry-producer", "--json", "--no-config", "config"])
        #expect(without.status == 0 && without.lines.isEmpty, "\(without.outputText)")
    }

    @Test("S9: errors name file, line and key, and the nearest option")
    func faults() async throws {
        let path = try write("studio", "{\n  \"receive\": {\n    \"recrod\": \"x.mp4\"\n  }\n}")
        expectFailure(
            try await run(["gantry-studio", "devices", "list"]), status: 2,
            saying: ["\(path):3:", "\"recrod\"", "Did you mean record?"])
        let other = folder.file("other.json")
        try Data("{\n\"no-video\": true,\n\"no-audio\": true}".utf8).write(to: URL(fileURLWithPath: other))
        chmod(other, 0o600)
        // What only the command finds out says where it comes from, too.
        expectFailure(
            try await run(["gantry-studio", "--config", other, "receive"]), status: 2,
            saying: ["--no-audio is set in \(other), line 3.", "--no-video is set in \(other), line 2."])
        expectFailure(
            try await run(["gantry-studio", "--config", folder.file("none"), "receive"]), status: 2,
            saying: ["no configuration file", "none"])
        expectFailure(
            try await run(["gantry-studio", "--config", other, "--no-config", "receive"]), status: 2,
            saying: ["exclude each other"])
    }

    @Test func aFileThatOthersCanWriteIsRefused() async throws {
        let path = try write("studio", "{}")
        chmod(path, 0o666)
        expectFailure(
            try await run(["gantry-studio", "devices", "list"]), status: 2, saying: [path, "chmod go-w"])
        unlink(path)
        mkfifo(path, 0o600)
        expectFailure(
            try await run(["gantry-studio", "devices", "list"]), status: 2, saying: [path, "not a plain file"])
    }

    @Test("S9: config shows what is in force, and whence")
    func show() async throws {
        let path = try write("studio", "{\n\"name\": \"Desk\",\n\"receive\": {\"replay\": \"1m\", \"stats\": false}\n}")
        let lines = try await run(["gantry-studio", "--json", "config"]).lines.compactMap(jsonLine)
        #expect(lines.compactMap { $0["option"] as? String } == ["name", "replay"])
        #expect(lines.first?["line"] as? Int == 2)
        #expect(lines.first?["file"] as? String == path)
        #expect(lines.first?["commands"] as? [String] == ["pair", "receive", "relay"])
        #expect(lines.last?["value"] as? String == "1m")
        let table = try await run(["gantry-studio", "config", "receive"]).outputText
        #expect(table.contains("replay") && table.contains("\(path):3"))
        #expect(table.contains("transport"))
        let nothing = try await run(["gantry-producer", "config"])
        #expect(nothing.status == 0 && nothing.outputText.contains("producer.json"))
        expectFailure(
            try await run(["gantry-studio", "config", "recieve"]), status: 2, saying: ["Did you mean receive?"])
    }

    @Test("S9: the file of the documentation is well")
    func documentedFile() async throws {
        let page = try String(
            contentsOf: CoreVectors.repository.appending(path: "docs/configuration.md"), encoding: .utf8)
        let example = try #require(page.components(separatedBy: "```json").dropFirst().first)
        let path = try write("producer", try #require(example.components(separatedBy: "```").first))
        let state = try await run(["gantry-producer", "--json", "config", "check"])
        #expect(state.event("checked")?["file"] as? String == path, "\(state.errorText)")
        #expect(state.event("checked")?["options"] as? Int == 7)
        // What belongs to its camera is nothing to another source, but only as long as nobody types it.
        let pattern = ["gantry-producer", "--state-dir", folder.file("state"), "run", "test"]
        let played = try await run(pattern + ["--port", "0", "--duration", "100ms"])
        #expect(played.status == 0, "\(played.errorText)")
        let typed = try await run(pattern + ["--control", "focus_absolute=30"])
        #expect(typed.status == 2)
        #expect(typed.errorText.contains("--control does not go with a source that is no camera"), "\(typed.errorText)")
    }

    @Test("S9: config check says what is wrong before it is used")
    func check() async throws {
        let path = try write("producer", "{\"run\": {\"bitrate\": \"6M\", \"control\": [\"focus_auto=0\"]}}")
        let well = try await run(["gantry-producer", "--json", "config", "check"])
        #expect(well.event("checked")?["file"] as? String == path)
        #expect(well.event("checked")?["options"] as? Int == 2)
        let bad = folder.file("bad.json")
        try Data("{\"run\":\n{\"bitrate\": \"6 megabits\"}}".utf8).write(to: URL(fileURLWithPath: bad))
        chmod(bad, 0o600)
        expectFailure(
            try await run(["gantry-producer", "config", "check", bad]), status: 2,
            saying: ["\(bad):2:", "bitrate cannot be \"6 megabits\"", "30k to 200M"])
    }
}
