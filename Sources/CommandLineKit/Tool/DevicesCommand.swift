package import GantryCore
import GantryPlatform

/// `devices list | remove | rename`, the same in both tools.
package struct DevicesCommand {
    /// A paired device as the list shows it.
    package struct Row {
        package var name: String
        package var key: String
        package var state: String
        /// Unix seconds; nil: never.
        package var pairedAt: Int64
        package var lastSeen: Int64?
        package var lastAddress: String?

        package init(
            name: String, key: String, state: String, pairedAt: Int64, lastSeen: Int64?, lastAddress: String?
        ) {
            self.name = name
            self.key = key
            self.state = state
            self.pairedAt = pairedAt
            self.lastSeen = lastSeen
            self.lastAddress = lastAddress
        }
    }

    private let list: () throws(GantryError) -> [Row]
    private let remove: (String) throws(GantryError) -> String
    private let rename: (String, String) throws(GantryError) -> String

    /// - Parameters:
    ///   - remove: takes a name or the beginning of a key and returns the name of what was removed.
    ///   - rename: takes that and the new name and returns the old one.
    package init(
        list: @escaping () throws(GantryError) -> [Row],
        remove: @escaping (String) throws(GantryError) -> String,
        rename: @escaping (String, String) throws(GantryError) -> String
    ) {
        self.list = list
        self.remove = remove
        self.rename = rename
    }

    package static func table(peer: String, tool: String) -> Command {
        let device = Positional("DEVICE", help: "Its name, or the beginning of its key.")
        return Command(
            "devices", summary: "List, remove or rename the \(peer)s that are paired",
            examples: [
                .init("\(tool) devices list", "who is paired, and when they were last seen"),
                .init("\(tool) devices rename \"\(peer) (2)\" attic", "give one a name of your own"),
                .init("\(tool) devices remove attic", "it can no longer connect"),
            ],
            subcommands: [
                Command("list", summary: "Show all paired \(peer)s"),
                Command("remove", summary: "Forget a \(peer): it can no longer connect", positionals: [device]),
                Command(
                    "rename", summary: "Give a \(peer) a name of your own",
                    positionals: [device, Positional("NAME", help: "The new name.")]),
            ])
    }

    package func run(_ arguments: ParsedArguments) throws(GantryError) -> ExitStatus {
        let json = arguments.has("json")
        switch arguments.commandNames.last {
        case "remove":
            say("removed", try remove(arguments.positional(0) ?? ""), json: json)
        case "rename":
            let new = arguments.positional(1) ?? ""
            let old = try rename(arguments.positional(0) ?? "", new)
            say("renamed", old, to: new, json: json)
        default:
            show(try list(), json: json)
        }
        return .success
    }

    private func say(_ event: String, _ name: String, to new: String? = nil, json: Bool) {
        if json {
            var fields: [JSONValue.Member] = [.init("event", .string(event)), .init("name", .string(name))]
            if let new { fields.append(.init("newName", .string(new))) }
            StandardStreams.writeOutput(JSONValue.object(fields).text + "\n")
        } else {
            StandardStreams.writeOutput("\(event) \(name)\(new.map { " to \($0)" } ?? "")\n")
        }
    }

    private func show(_ rows: [Row], json: Bool) {
        if json {
            for row in rows { StandardStreams.writeOutput(Self.json(row).text + "\n") }
            return
        }
        guard !rows.isEmpty else {
            StandardStreams.writeOutput("No device is paired. Run `gantry-studio pair` and scan the code it shows.\n")
            return
        }
        var table = Table(["NAME", "KEY", "STATE", "PAIRED", "LAST SEEN", "ADDRESS"])
        for row in rows {
            table.add([
                row.name, String(row.key.prefix(16)), row.state, CalendarTime.text(row.pairedAt),
                row.lastSeen.map(CalendarTime.text) ?? "never", row.lastAddress ?? "-",
            ])
        }
        StandardStreams.writeOutput(table.text)
    }

    private static func json(_ row: Row) -> JSONValue {
        .object([
            .init("name", .string(row.name)), .init("key", .string(row.key)), .init("state", .string(row.state)),
            .init("pairedAt", .integer(row.pairedAt)), .init("lastSeen", row.lastSeen.map { .integer($0) } ?? .null),
            .init("lastAddress", .optional(row.lastAddress)),
        ])
    }
}
