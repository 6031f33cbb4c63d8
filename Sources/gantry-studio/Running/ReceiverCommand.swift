import CommandLineKit
import GantryCore
import GantryPlatform
import Glibc

/// The commands that change a running `receive`: `pause`, `resume`, `prefer` and `replay …`.
struct ReceiverCommand {
    private let receives: RunningReceives
    private let method: String
    private let parameters: JSONValue
    private let json: Bool
    /// Writing a long replay to a slow disk takes a while.
    private static let savingTime = MediaDuration.seconds(300)

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        (method, parameters) = try Self.request(arguments)
        receives = try RunningReceives(arguments)
    }

    private static func request(_ arguments: ParsedArguments) throws(GantryError) -> (String, JSONValue) {
        let names = arguments.commandNames
        switch (names.first, names.dropFirst().first) {
        case ("pause", _): return ("pause", ["media": media(arguments)])
        case ("resume", _): return ("resume", ["media": media(arguments)])
        case ("prefer", _): return ("prefer", try wish(arguments))
        case (_, "arm"):
            guard let duration = try time(arguments) else { return ("replay.arm", [:]) }
            return ("replay.arm", ["seconds": .number(duration.seconds)])
        case (_, "disarm"): return ("replay.disarm", [:])
        case (_, "back"): return ("replay.seek", ["by": .number(try needed(arguments).seconds * -1)])
        case (_, "forward"): return ("replay.seek", ["by": .number(try needed(arguments).seconds)])
        case (_, "to"): return ("replay.seek", ["to": .number(try needed(arguments).seconds)])
        case (_, "save"):
            return (
                "replay.save",
                ["path": .string(absolute(arguments.positional(0) ?? "")), "overwrite": .bool(arguments.has("force"))]
            )
        default: return ("replay.live", [:])
        }
    }

    private static func media(_ arguments: ParsedArguments) -> JSONValue {
        switch (arguments.has("video"), arguments.has("audio")) {
        case (true, false): "video"
        case (false, true): "audio"
        default: "all"
        }
    }

    private static func time(_ arguments: ParsedArguments) throws(GantryError) -> MediaDuration? {
        guard let text = arguments.positional(0) else { return nil }
        guard let duration = MediaDuration(text: text), duration > .zero, duration <= .seconds(3600) else {
            throw GantryError(
                .invalidArgument,
                "The time cannot be \"\(TextCells.printable(text, limit: 60))\". It is as in 10, 1m30s or 500ms.")
        }
        return duration
    }

    private static func needed(_ arguments: ParsedArguments) throws(GantryError) -> MediaDuration {
        try time(arguments) ?? .seconds(10)
    }

    private static func wish(_ arguments: ParsedArguments) throws(GantryError) -> JSONValue {
        var members: [JSONValue.Member] = []
        if let text = arguments.positional(0) {
            guard let wish = PictureWish(text) else {
                throw GantryError(
                    .invalidArgument,
                    "The picture cannot be \"\(TextCells.printable(text, limit: 60))\". It is as in 640x480, @15 or 640x480@15."
                )
            }
            if let size = wish.size {
                members += [
                    .init("width", .integer(Int64(size.width))), .init("height", .integer(Int64(size.height))),
                ]
            }
            if let rate = wish.frameRate {
                members.append(.init("fps", .string("\(rate.numerator)/\(rate.denominator)")))
            }
        }
        if let bitrate = try arguments.bitrate("bitrate", in: 10_000...200_000_000) {
            members.append(.init("bitrate", .integer(Int64(bitrate))))
        }
        guard !members.isEmpty else {
            throw GantryError(
                .invalidArgument, "Say what is preferred, as in: gantry-studio prefer 640x480@15, or --bitrate 1M")
        }
        return .object(members)
    }

    /// The process that writes it may be in another folder.
    private static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") || path.isEmpty { return path }
        guard let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return String(cString: folder) + "/" + path
    }

    func run() throws(GantryError) -> ExitStatus {
        let entry = try receives.one()
        let result = try entry.client.call(
            method, parameters, limit: method == "replay.save" ? Self.savingTime : ControlClient.patience)
        if json {
            let event = JSONValue.Member("event", .string(method))
            StandardStreams.writeOutput(JSONValue.object([event] + (result.members ?? [])).text + "\n")
        } else {
            StandardStreams.writeOutput(text(result) + "\n")
        }
        return .success
    }

    private func text(_ result: JSONValue) -> String {
        switch method {
        case "pause", "resume":
            let stopped = result["stopped"]?.array?.compactMap(\.string) ?? []
            let names = stopped.map { $0 == "video" ? "picture" : "sound" }.joined(separator: " and ")
            return stopped.isEmpty
                ? "All is received." : "Paused: \(names). Go on with: gantry-studio resume"
        case "prefer": return "The producer has been asked."
        case "replay.arm": return "Armed. Go back with: gantry-studio replay back 10"
        case "replay.disarm": return "Disarmed: nothing is held."
        case "replay.seek":
            guard let behind = Self.number(result["behind"]) else { return "Live." }
            return
                "Showing what came \(Figures.decimal(behind, places: 1)) s ago. Back to live: gantry-studio replay live"
        case "replay.save":
            let paths = result["paths"]?.array?.compactMap(\.string).map { TextCells.printable($0) } ?? []
            return "Saved \(Figures.decimal(Self.number(result["seconds"]) ?? 0, places: 1)) s in "
                + "\(paths.joined(separator: ", "))."
        default: return "Live."
        }
    }

    static func number(_ value: JSONValue?) -> Double? {
        switch value {
        case .number(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
}
