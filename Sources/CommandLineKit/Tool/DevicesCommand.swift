package import GantryCore
import GantryPlatform

/// `devices list | remove | rename`, the same in both tools.
package struct DevicesCommand {
    private let keeper: any DeviceKeeper
    private let kind: PairedDevice.Kind

    /// - Parameter kind: which devices are the other end of this tool.
    package init(_ keeper: any DeviceKeeper, kind: PairedDevice.Kind) {
        self.keeper = keeper
        self.kind = kind
    }

    package static func table(peer: String, tool: String) -> Command {
        let device = Positional("DEVICE", help: "Its name, or the beginning of its key.", completion: [.pairedDevices])
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
            let device = try keeper.pairedDevice(named: arguments.positional(0) ?? "")
            try keeper.removePairedDevice(device.keyID)
            say("removed", device.displayedName, json: json)
        case "rename":
            let device = try keeper.pairedDevice(named: arguments.positional(0) ?? "")
            let new = arguments.positional(1) ?? ""
            try keeper.renamePairedDevice(device.keyID, to: new)
            // As it was stored: without what cannot be shown, and cut.
            let kept = try keeper.pairedDevices.first { $0.keyID == device.keyID }?.displayedName
            say("renamed", device.displayedName, to: kept ?? DisplayName(new).text, json: json)
        default:
            show(try keeper.pairedDevices.filter { $0.kind == kind }, json: json)
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

    private func show(_ devices: [PairedDevice], json: Bool) {
        if json {
            for device in devices { StandardStreams.writeOutput(Self.json(device).text + "\n") }
            return
        }
        guard !devices.isEmpty else {
            StandardStreams.writeOutput("No device is paired. Run `gantry-studio pair` and scan the code it shows.\n")
            return
        }
        var table = Table(["NAME", "KEY", "STATE", "PAIRED", "LAST SEEN", "ADDRESS"])
        for device in devices {
            table.add([
                device.displayedName, device.keyID.short, Self.state(device), CalendarTime.text(device.pairedAt),
                device.lastSeen.map(CalendarTime.text) ?? "never", device.lastAddress ?? "-",
            ])
        }
        StandardStreams.writeOutput(table.text)
    }

    /// The paired devices for a shell.
    package func completion() -> [CompletionCandidate] {
        let devices = (try? keeper.pairedDevices) ?? []
        return devices.filter { $0.kind == kind }.map { CompletionCandidate($0.displayedName, $0.keyID.short) }
    }

    private static func state(_ device: PairedDevice) -> String {
        switch device.state {
        case .active: "paired"
        case .rejectedByPeer: "unpaired there"
        }
    }

    /// One device, as `devices list --json` and the control socket show it.
    package static func json(_ device: PairedDevice) -> JSONValue {
        .object([
            .init("name", .string(device.displayedName)), .init("key", .string(device.keyID.description)),
            .init("state", .string(state(device))), .init("pairedAt", .integer(device.pairedAt)),
            .init("lastSeen", device.lastSeen.map { .integer($0) } ?? .null),
            .init("lastAddress", .optional(device.lastAddress)),
        ])
    }
}
