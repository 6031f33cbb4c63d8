import CommandLineKit
import GantryCore
import GantryPlatform
import StudioKit

/// `gantry-studio network`: the networks of this machine, and whether paired producers can be received over them.
struct NetworkCommand {
    static let table = Command(
        "network", summary: "Show this machine's networks, or watch whether paired producers can be received",
        options: [
            Option(
                "watch", short: "w",
                help: "Tell whether a paired producer can be received, and why not, whenever it changes, until Ctrl-C.")
        ] + StudioCommands.field,
        examples: [
            .init("gantry-studio network", "interfaces, addresses, Wi-Fi"),
            .init("gantry-studio network --watch --json", "a JSON line for each change, for programs"),
        ])

    private let json: Bool
    private let watches: Bool
    private let controller: StudioController

    init(_ arguments: ParsedArguments) throws(GantryError) {
        json = arguments.has("json")
        watches = arguments.has("watch")
        controller = try StudioController(watching: arguments)
    }

    func run() throws(GantryError) -> ExitStatus {
        guard watches else {
            show(StudioController.networkInformation)
            return .success
        }
        let end = BoundedQueue<CInt>(capacity: 1)
        let signals = try SignalWatch { _ in end.close() }
        defer { signals.stop() }
        let observation = controller.service.observe { [json] in Self.tell($0, json: json) }
        defer { observation.cancel() }
        try controller.service.start()
        defer { controller.service.stop() }
        while end.pop() != nil {}
        return .success
    }

    private static func tell(_ status: ServiceStatus, json: Bool) {
        // Before it begins.
        guard !status.state.reasons.contains(.notRunning) else { return }
        let names = status.producers.map(\.displayedName)
        guard json else {
            let here = names.isEmpty ? "" : "; here: \(names.joined(separator: ", "))"
            let state = status.state.isUp ? "up" : "down: \(words(status.state.reasons))"
            return StandardStreams.writeOutput("\(state)\(here)\n")
        }
        let event = JSONValue.object([
            .init("event", "service"), .init("up", .bool(status.state.isUp)),
            .init("reasons", .array(status.state.reasons.names.map(JSONValue.string))),
            .init("inVenue", .bool(status.isInVenue)), .init("producers", .array(names.map(JSONValue.string))),
        ])
        StandardStreams.writeOutput(event.text + "\n")
    }

    /// What keeps a producer from being received, and what mends it.
    private static func words(_ reasons: ServiceDownReasons) -> String {
        let all: [(ServiceDownReasons, String)] = [
            (.noProducers, "no paired producer is found (is it running? gantry-producer run)"),
            (.networkDown, "no network is up"),
            (
                .discoveryUnavailable,
                "the network cannot be searched (sudo systemctl start avahi-daemon); by its address a producer can be "
                    + "received all the same"
            ),
            (.poorQuality, "the link is too slow for the picture"),
        ]
        return all.filter { reasons.contains($0.0) }.map(\.1).joined(separator: "; ")
    }

    private func show(_ information: NetworkInformation) {
        guard !json else {
            for interface in information.interfaces {
                StandardStreams.writeOutput(Self.json(interface).text + "\n")
            }
            return
        }
        var table = Table(["INTERFACE", "KIND", "STATE", "MBIT/S", "ADDRESSES", "WI-FI"])
        for interface in information.interfaces {
            let signal = interface.wifi?.signal.map { ", \($0) dBm" } ?? ""
            table.add([
                interface.name, interface.kind.rawValue, interface.isUp ? "up" : "down",
                interface.megabitsPerSecond.map { "\($0)" } ?? "-",
                interface.addresses.isEmpty ? "-" : interface.addresses.joined(separator: " "),
                interface.wifi.map { ($0.ssid ?? "(hidden)") + signal } ?? "-",
            ])
        }
        StandardStreams.writeOutput(table.text)
    }

    private static func json(_ interface: NetworkInterface) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("interface", .string(interface.name)), .init("kind", .string(interface.kind.rawValue)),
            .init("up", .bool(interface.isUp)),
            .init("addresses", .array(interface.addresses.map(JSONValue.string))),
            .init("megabitsPerSecond", interface.megabitsPerSecond.map { .integer(Int64($0)) } ?? .null),
        ]
        if let wifi = interface.wifi {
            members += [
                .init("ssid", .optional(wifi.ssid)), .init("bssid", .optional(wifi.bssid)),
                .init("signal", wifi.signal.map { .integer(Int64($0)) } ?? .null),
            ]
        }
        return .object(members)
    }
}
