import Foundation
import GantryCore
import GantryTestSupport
import GantryTrust
import Testing

/// One of our tools in a host of a lab, with a state folder of its own: one installation.
struct LabTool: Sendable {
    let lab: Lab
    let host: Int
    let tool: String
    let name: String

    static func producer(_ lab: Lab, _ host: Int, _ name: String = "Camera") -> LabTool {
        LabTool(lab: lab, host: host, tool: "gantry-producer", name: name)
    }

    static func studio(_ lab: Lab, _ host: Int, _ name: String = "Desk") -> LabTool {
        LabTool(lab: lab, host: host, tool: "gantry-studio", name: name)
    }

    var stateFolder: String { lab.folder(host) + "/\(tool)-\(name)" }

    /// Starts it. JSON lines, unless text is wanted.
    func start(_ arguments: [String], json: Bool = true, input: ToolRun.Input = .none) throws -> ToolRun {
        try lab.start(
            host, [tool, "--state-dir", stateFolder] + (json ? ["--json"] : []) + arguments, input: input)
    }

    /// Runs it to its end.
    @discardableResult
    func run(_ arguments: [String], json: Bool = true, input: ToolRun.Input = .none) async throws -> ToolRun.State {
        try await start(arguments, json: json, input: input).end()
    }

    /// Runs it to its good end.
    @discardableResult
    func check(
        _ arguments: [String], input: ToolRun.Input = .none, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ToolRun.State {
        let state = try await run(arguments, input: input)
        #expect(state.status == 0, "\(state.errorText)\(state.outputText)", sourceLocation: sourceLocation)
        return state
    }

    /// The names of its paired devices, with what became of them: "Desk paired".
    func devices() async throws -> [String] {
        try await check(["devices", "list"]).events.map { "\($0["name"] ?? "") \($0["state"] ?? "")" }.sorted()
    }

    /// What `list` shows, sorted: "Camera free paired".
    func list() async throws -> [String] {
        try await check(["list"]).events.map(Self.listed).sorted()
    }

    /// Looks until `list` shows this: a change takes a moment on its way.
    func expectList(_ expected: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        var last: [String] = []
        for _ in 0..<6 {
            last = try await list()
            if last == expected { return }
        }
        #expect(last == expected, sourceLocation: sourceLocation)
    }

    static func listed(_ entry: [String: Any]) -> String {
        "\(entry["name"] ?? "") \(entry["state"] ?? "") \(entry["paired"] as? Bool == true ? "paired" : "stranger")"
    }

    // MARK: A producer

    /// A producer that runs, with a small picture; by default known to the network.
    func send(_ arguments: [String] = [], until event: String = "advertised") async throws -> ToolRun {
        let run = try start(["run", "test", "--name", name, "--size", "320x180"] + arguments)
        try await run.line(containing: "\"\(event)\"")
        return run
    }

    // MARK: A studio

    /// A studio that has its first picture.
    func receive(_ arguments: [String]) async throws -> ToolRun {
        let run = try start(["receive"] + arguments)
        try await run.line(containing: "\"firstFrame\"")
        return run
    }

    /// A pairing window, and the code that it shows.
    func showCode(_ command: [String] = ["pair"]) async throws -> (code: String, window: ToolRun) {
        let window = try start(command + ["--name", name, "--text"])
        let line = try await window.line(containing: "\"code\"")
        return (try #require(jsonLine(line)?["code"] as? String), window)
    }
}

/// How a producer and a studio come together.
enum PairingWay: CaseIterable, Sendable {
    /// The code names no address: mDNS is all there is.
    case mdns
    /// The code as it is shown.
    case asShown

    func code(_ shown: String) -> String {
        switch self {
        case .mdns: pairingCode(shown, without: "ABC")
        case .asShown: shown
        }
    }
}

/// Pairs the two, and gives what the studio said at the end.
@discardableResult
func pair(
    _ producer: LabTool, _ studio: LabTool, _ way: PairingWay = .asShown, window options: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> [String: Any] {
    let (shown, window) = try await studio.showCode(["pair"] + options)
    let end = try await producer.run(["pair", "-", "--name", producer.name], input: .text(way.code(shown)))
    #expect(end.status == 0, "\(end.errorText)", sourceLocation: sourceLocation)
    let studioEnd = try await window.end()
    #expect(studioEnd.status == 0, "\(studioEnd.errorText)", sourceLocation: sourceLocation)
    return try #require(studioEnd.event("paired"), sourceLocation: sourceLocation)
}

/// The `r` under which a producer that has scanned this code is looked for.
func rendezvous(_ code: String) throws -> String {
    try PairingTranscript.rendezvous(
        secret: try PairingCode.parse(code).secret, crypto: PairingCryptography.self)
}

extension ToolRun.State {
    /// The JSON lines.
    var events: [[String: Any]] { lines.compactMap(jsonLine) }

    /// The last event of that name.
    func event(_ name: String) -> [String: Any]? { events.last { $0["event"] as? String == name } }

    func count(_ name: String) -> Int { events.count { $0["event"] as? String == name } }

    var outputText: String { String(decoding: output, as: UTF8.self) }
}

extension ToolRun {
    /// Waits until an event of that name came that many times.
    func event(_ name: String, times: Int = 1) async throws {
        let came = try await state.wait(.seconds(30)) { $0.outputEnded || $0.count(name) >= times }
        guard came, state.value.count(name) >= times else {
            throw Oracle.Failure(
                text: "\(name) did not come \(times) times. Output:\n\(state.value.outputText)\nErrors:\n"
                    + state.value.errorText)
        }
    }

    /// Ends it as a user would, and gives what it said.
    @discardableResult
    func stop(sourceLocation: SourceLocation = #_sourceLocation) async throws -> State {
        signal(SIGINT)
        let end = try await end()
        #expect(end.status == 0, "\(end.errorText)", sourceLocation: sourceLocation)
        return end
    }
}
