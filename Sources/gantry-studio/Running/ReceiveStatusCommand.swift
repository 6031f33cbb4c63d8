import CommandLineKit
import GantryCore
import GantryPlatform

/// `gantry-studio status`: what the running `receive`s say about themselves.
struct ReceiveStatusCommand {
    private let receives: RunningReceives
    private let json: Bool

    init(_ arguments: ParsedArguments) throws(GantryError) {
        receives = try RunningReceives(arguments)
        json = arguments.has("json")
    }

    func run() throws(GantryError) -> ExitStatus {
        let entries = try receives.all()
        guard !entries.isEmpty else {
            StandardStreams.writeOutput(
                json
                    ? #"{"event":"status","running":false}"# + "\n"
                    : "Nothing is received. Start it with: gantry-studio receive\n")
            return .failure
        }
        if json {
            for entry in entries {
                let head: [JSONValue.Member] = [.init("event", "status"), .init("running", true)]
                StandardStreams.writeOutput(JSONValue.object(head + (entry.status.members ?? [])).text + "\n")
            }
        } else {
            StandardStreams.writeOutput(entries.map { Self.text($0.status) }.joined(separator: "\n"))
        }
        return .success
    }

    private static func text(_ status: JSONValue) -> String {
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        let stopped = status["stopped"]?.array?.compactMap(\.string) ?? []
        var state = status["address"]?.string.map { "receiving from \($0)" } ?? "waiting for the producer"
        if status["paused"]?.bool == true { state += ", the producer has paused" }
        if !stopped.isEmpty {
            let names = stopped.map { $0 == "video" ? "picture" : "sound" }.joined(separator: " and ")
            state += ", \(names) paused here (go on with: gantry-studio resume)"
        }
        let rows = [
            ("Producer", status["producer"]?.string ?? "-"), ("State", state),
            ("Picture", "\(number("width"))x\(number("height"))"),
            ("Frames", "\(number("framesReceived")) received, \(number("framesLost")) lost"),
            ("Since", CalendarTime.text(number("startedAt"))), ("Process", "\(number("process"))"),
            ("Replay", replay(status["replay"])),
        ]
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, text in
            name + String(repeating: " ", count: width - name.count + 2) + TextCells.printable(text) + "\n"
        }.joined()
    }

    private static func replay(_ replay: JSONValue?) -> String {
        guard replay?["armed"]?.bool == true else { return "off (arm it with: gantry-studio replay arm)" }
        let held = ReceiverCommand.number(replay?["held"]) ?? 0
        let bytes = Double(replay?["bytes"]?.integer ?? 0) / 1e6
        var text = "\(Figures.decimal(held, places: 1)) s held, \(Figures.decimal(bytes, places: 1)) MB"
        if let behind = ReceiverCommand.number(replay?["behind"]) {
            text += "; showing what came \(Figures.decimal(behind, places: 1)) s ago"
        }
        return text
    }
}
