import Foundation
import GantryCore
import GantryTestSupport

/// A running gantry-labprobe: what discovery says inside a host.
final class Probe: Sendable {
    struct Service: Decodable, Equatable, Sendable {
        let name: String
        let endpoints: [String]
        let text: [String: String]
    }

    struct Event: Decodable, Sendable {
        let event: String
        var name: String?
        var code: Int?
        var message: String?
        var services: [Service]?
    }

    let tool: ToolRun
    private let input: FileHandle

    private init(_ lab: Lab, _ host: Int, _ arguments: [String]) throws {
        let pipe = Pipe()
        input = pipe.fileHandleForWriting
        tool = try lab.start(host, ["gantry-labprobe"] + arguments, input: .pipe(pipe.fileHandleForReading))
    }

    static func browse(_ lab: Lab, _ host: Int, _ type: String = "_camo._tcp") throws -> Probe {
        try Probe(lab, host, ["browse", type])
    }

    static func advertise(
        _ lab: Lab, _ host: Int, _ name: String, port: Int = 7787, text: [String] = [], type: String = "_camo._tcp"
    ) throws -> Probe {
        try Probe(lab, host, ["advertise", type, name, "\(port)"] + text)
    }

    /// A line on its standard input.
    func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    var events: [Event] { Self.events(tool.state.value) }

    private static func events(_ state: ToolRun.State) -> [Event] {
        // The last line may not be whole yet.
        state.lines.compactMap { try? JSONDecoder().decode(Event.self, from: Data($0.utf8)) }
    }

    /// Waits until all events so far are as asked for.
    @discardableResult
    func wait(_ what: String, until matches: @escaping @Sendable ([Event]) -> Bool) async throws -> [Event] {
        let came = try await tool.state.wait(.seconds(20)) { $0.outputEnded || matches(Self.events($0)) }
        let now = tool.state.value
        guard came, matches(Self.events(now)) else {
            throw Oracle.Failure(
                text: "\(what) did not come. Output:\n" + now.lines.joined(separator: "\n") + "\nErrors:\n"
                    + now.errorText)
        }
        return Self.events(now)
    }

    /// Waits until the newest list is as asked for.
    @discardableResult
    func services(
        _ what: String, where matches: @escaping @Sendable ([Service]) -> Bool
    ) async throws -> [Service] {
        try await wait(what) { matches($0.last { $0.services != nil }?.services ?? []) }
            .last { $0.services != nil }?.services ?? []
    }

    /// Waits for the name that was established for the `count`th time.
    @discardableResult
    func named(_ count: Int = 1) async throws -> String {
        let events = try await wait("name \(count)") { $0.filter { $0.event == "named" }.count >= count }
        return events.filter { $0.event == "named" }[count - 1].name ?? ""
    }

    /// The states that were told, in order: "running", "unavailable".
    var states: [String] { events.map(\.event).filter { $0 == "running" || $0 == "unavailable" } }

    /// Waits until that is the newest state.
    func state(_ expected: String) async throws {
        try await wait("state \(expected)") { events in
            events.map(\.event).last { $0 == "running" || $0 == "unavailable" } == expected
        }
    }

    func states(_ expected: [String]) async throws {
        try await wait("states \(expected)") { events in
            events.map(\.event).filter { $0 == "running" || $0 == "unavailable" } == expected
        }
    }
}
