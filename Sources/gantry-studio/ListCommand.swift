import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// `gantry-studio list`: which producers are on this network, and which paired ones are not.
struct ListCommand {
    /// A cold search takes 0.2 s, with a lost packet 1.2 s (Avahi 0.8).
    private static let searchTime = MediaDuration.milliseconds(1500)

    private let json: Bool
    private let watches: Bool
    private let controller: StudioController

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        watches = arguments.has("watch")
        controller = try StudioController(
            configuration: StudioConfiguration(stateDirectory: arguments.string("state-dir")))
    }

    func run() throws(GantryError) -> ExitStatus {
        let state = ListState()
        let browser = controller.makeBrowser()
        let signals = try SignalWatch { _ in state.stop() }
        defer { signals.stop() }
        let listening = Task.detached { for await event in browser.events { state.note(event) } }
        defer { listening.cancel() }
        try browser.start()
        defer { browser.stop() }
        return watches ? watch(state) : try showOnce(state)
    }

    // MARK: Once

    private func showOnce(_ state: ListState) throws(GantryError) -> ExitStatus {
        let (found, failure, _) = state.wait(until: MonotonicClock.now() + Self.searchTime, forChange: nil)
        let entries = try ListEntry.all(found, paired: controller.pairedDevices)
        if json {
            for entry in entries { StandardStreams.writeOutput(JSONValue.object(entry.members).text + "\n") }
        } else if !entries.isEmpty {
            StandardStreams.writeOutput(ListEntry.table(entries))
        } else if failure == nil {
            StandardStreams.writeOutput("No producer is on this network. Start one there: gantry-producer run\n")
        }
        if let failure { throw failure }
        return .success
    }

    // MARK: Until Ctrl-C

    private func watch(_ state: ListState) -> ExitStatus {
        var known: [ListEntry] = []
        var change = 0
        var toldFailure = false
        while !state.isStopped {
            let (found, failure, seen) = state.wait(until: nil, forChange: change)
            change = seen
            if let failure, !toldFailure { StandardStreams.writeError("\(failure)\n") }
            toldFailure = failure != nil
            let entries = ListEntry.all(found, paired: []).sorted { $0.name < $1.name }
            for entry in entries where !known.contains(entry) {
                tell(known.contains { $0.name == entry.name } ? "changed" : "found", entry)
            }
            for entry in known where !entries.contains(where: { $0.name == entry.name }) { tell("gone", entry) }
            known = entries
        }
        return .success
    }

    private func tell(_ event: String, _ entry: ListEntry) {
        let text =
            json
            ? JSONValue.object([.init("event", .string(event))] + entry.members).text
            : "\(event): \(entry.line)"
        StandardStreams.writeOutput(text + "\n")
    }
}
