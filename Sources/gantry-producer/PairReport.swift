import CommandLineKit
import GantryCore
import GantryPlatform
import ProducerKit

/// What `pair` tells: a status line with the seconds that are left for people, JSON lines for programs. One thread.
final class PairReport {
    private let json: Bool
    private let status: StatusLine
    private var text = "Starting"
    private var end: MediaTimestamp?

    init(json: Bool) {
        self.json = json
        status = StatusLine(isEnabled: !json)
        status.takeOverLog()
    }

    func event(_ event: ProducerPairingEvent) {
        switch event {
        case .searching(let seconds):
            end = MonotonicClock.now() + .seconds(Int64(seconds))
            text = "Looking for the studio"
            emit("searching", [.init("seconds", .integer(Int64(seconds)))])
        case .studioAnswered:
            text = "Studio found"
            emit("studioAnswered", [])
            if !json { status.write("Studio found.\n") }
        case .comparison(let number, let needsAnswer):
            text = "Waiting for the studio"
            emit("comparison", [.init("number", .string(number)), .init("needsAnswer", .bool(needsAnswer))])
            if !json && !needsAnswer { status.write("The number to compare is \(number).\n") }
        case .discoveryUnavailable(let error):
            emit("discoveryUnavailable", [.init("message", .string(error.description))])
            if !json { status.write("Only the address in the code is tried. \(error)\n") }
        }
        tick()
    }

    /// The countdown.
    func tick() {
        guard let end else { return }
        let left = max(0, ((end - MonotonicClock.now()).microseconds + 999_999) / 1_000_000)
        status.show("\(text) · \(left) s left · Ctrl-C cancels")
    }

    func paired(name: String, key: String, isRunning: Bool) {
        status.clear()
        if json { return emit("paired", [.init("name", .string(name)), .init("key", .string(key))]) }
        StandardStreams.writeOutput(
            "Paired with \(name). "
                + (isRunning ? "It can receive now.\n" : "Send to it with: gantry-producer run\n"))
    }

    /// Before a question, and before an error is told.
    func clear() { status.clear() }

    private func emit(_ event: String, _ fields: [JSONValue.Member]) {
        guard json else { return }
        StandardStreams.writeOutput(JSONValue.object([.init("event", .string(event))] + fields).text + "\n")
    }
}
