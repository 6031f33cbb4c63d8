import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// `gantry-studio list`: which producers are on this network and on USB, and which paired ones are not.
struct ListCommand {
    /// A cold search takes 0.2 s, with a lost packet 1.2 s (Avahi 0.8).
    private static let searchTime = MediaDuration.milliseconds(1500)

    /// The addresses of one producer come one by one: a line tells them together.
    private static let settleTime = MediaDuration.milliseconds(150)

    private let json: Bool
    private let watches: Bool
    private let controller: StudioController

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        watches = arguments.has("watch")
        controller = try StudioController(watching: arguments)
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
        let status = try watches ? watch(state) : showOnce(state)
        for line in browser.refusedOnUSB { StandardStreams.writeError(line + "\n") }
        return status
    }

    // MARK: Once

    private func showOnce(_ state: ListState) throws(GantryError) -> ExitStatus {
        let (found, failure, _) = state.wait(until: MonotonicClock.now() + Self.searchTime, forChange: nil)
        let entries = try ListEntry.all(found, paired: controller.pairedDevices, isSearched: failure == nil)
        if json {
            for entry in entries { StandardStreams.writeOutput(JSONValue.object(entry.members).text + "\n") }
        } else if !entries.isEmpty {
            StandardStreams.writeOutput(ListEntry.table(entries))
        } else if failure == nil {
            StandardStreams.writeOutput(
                "No producer is on this network or on USB. Start one there: gantry-producer run\n")
        }
        guard let failure else { return .success }
        guard found.contains(where: { $0.usbSerial != nil }) else { throw failure }
        // What is on USB was found all the same.
        Log.warning("\(failure)")
        return .success
    }

    // MARK: Until Ctrl-C

    private func watch(_ state: ListState) -> ExitStatus {
        var known: [ListEntry] = []
        var change = 0
        var toldFailure = false
        // Where nobody is, nothing else would be seen.
        if !json, StandardStreams.isOutputTerminal {
            StandardStreams.writeError("Watching this network. Ctrl-C ends.\n")
        }
        while !state.isStopped {
            _ = state.wait(until: nil, forChange: change)
            let (found, failure, now) = state.wait(until: MonotonicClock.now() + Self.settleTime, forChange: nil)
            change = now
            if let failure, !toldFailure { tell(failure) }
            toldFailure = failure != nil
            let entries = ListEntry.all(found, paired: []).sorted { $0.name < $1.name }
            for entry in known where !entries.contains(where: { $0.id == entry.id }) { tell("gone", entry) }
            for entry in entries {
                guard let before = known.first(where: { $0.id == entry.id }) else {
                    tell("found", entry)
                    continue
                }
                // A line tells the best address only.
                if json ? before != entry : before.line != entry.line { tell("changed", entry) }
            }
            known = entries
        }
        return .success
    }

    private func tell(_ failure: GantryError) {
        guard json else { return StandardStreams.writeError("\(failure)\n") }
        let event = JSONValue.object([
            .init("event", "discoveryUnavailable"), .init("message", .string(failure.description)),
        ])
        StandardStreams.writeOutput(event.text + "\n")
    }

    private func tell(_ event: String, _ entry: ListEntry) {
        let text =
            json
            ? JSONValue.object([.init("event", .string(event))] + entry.members).text
            : "\(event): \(entry.line)"
        StandardStreams.writeOutput(text + "\n")
    }
}
