import CommandLineKit
import GantryCore
import GantryPlatform

/// `gantry-producer status`: what the running producer says about itself.
struct StatusCommand {
    private let installation: Installation
    private let json: Bool

    init(_ arguments: ParsedArguments) throws(GantryError) {
        installation = try Installation(arguments)
        json = arguments.has("json")
    }

    func run() throws(GantryError) -> ExitStatus {
        guard let running = try installation.running() else {
            if json {
                emit([.init("running", false)])
            } else {
                StandardStreams.writeOutput("No producer runs. Start it with: gantry-producer run\n")
            }
            return .failure
        }
        let status = try running.call("status")
        if json {
            emit([.init("running", true)] + (status.members ?? []))
        } else {
            StandardStreams.writeOutput(Self.text(status))
        }
        return .success
    }

    private func emit(_ members: [JSONValue.Member]) {
        StandardStreams.writeOutput(JSONValue.object([.init("event", "status")] + members).text + "\n")
    }

    private static func text(_ status: JSONValue) -> String {
        func number(_ name: String) -> Int64 { status[name]?.integer ?? 0 }
        let studios = status["studios"]?.array ?? []
        let state =
            status["paused"]?.bool == true
            ? "paused (go on with: gantry-producer resume)" : studios.isEmpty ? "waiting for a studio" : "sending"
        var rows = [
            ("Name", status["name"]?.string ?? "-"), ("State", state), ("Source", status["source"]?.string ?? "-"),
            ("Port", "\(number("port"))"), ("Since", CalendarTime.text(number("startedAt"))),
            ("In the network", status["discoveryName"]?.string.map { "as \($0)" } ?? "not announced"),
            ("Frames", "\(number("framesSent")) sent, \(number("framesDropped")) left out"),
            ("Bitrate", Bitrate.rate(Int(clamping: number("bitrate")))),
        ]
        let missing = [("video", "picture"), ("audio", "sound")]
            .filter { status["streams"]?[$0.0]?.bool == false }.map { "no \($0.1)" }
        if !missing.isEmpty { rows.append(("Offered", missing.joined(separator: ", "))) }
        for (index, studio) in studios.enumerated() {
            let text = "\(studio["name"]?.string ?? "-") (\(studio["address"]?.string ?? "-"))"
            rows.append((index == 0 ? "Studios" : "", text))
        }
        if let name = status["asks"]?["name"]?.string {
            rows.append(("Asks", "\(name), on the USB cable (answer with: gantry-producer admit no|once|always)"))
        }
        let width = rows.map(\.0.count).max() ?? 0
        return rows.map { name, text in
            name + String(repeating: " ", count: width - name.count + 2) + TextCells.printable(text) + "\n"
        }.joined()
    }
}
