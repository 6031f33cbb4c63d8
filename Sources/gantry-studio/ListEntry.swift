import CommandLineKit
import GantryCore
import StudioKit

/// One line of `list`.
struct ListEntry: Equatable {
    let name: String
    let addresses: [String]
    let isPaired: Bool
    /// free, active, paused, full; away: paired and not on this network.
    let state: String

    private init(_ producer: DiscoveredProducer) {
        name = producer.displayedName
        addresses = producer.endpoints.map(\.description)
        isPaired = producer.device?.state == .active
        state = producer.state.rawValue
    }

    private init(away device: PairedDevice) {
        name = device.displayedName
        addresses = device.lastAddress.map { [$0] } ?? []
        isPaired = true
        state = "away"
    }

    /// Those that are here, then those that are paired and away.
    static func all(_ found: [DiscoveredProducer], paired: [PairedDevice]) -> [ListEntry] {
        let here = Set(found.compactMap(\.device?.keyID))
        let away = paired.filter { $0.kind == .producer && $0.state == .active && !here.contains($0.keyID) }
        return found.map(ListEntry.init) + away.map(ListEntry.init(away:))
    }

    var members: [JSONValue.Member] {
        [
            .init("name", .string(name)), .init("addresses", .array(addresses.map(JSONValue.string))),
            .init("paired", .bool(isPaired)), .init("busy", .bool(state == "full")), .init("state", .string(state)),
        ]
    }

    private var cells: [String] { [name, addresses.first ?? "-", isPaired ? "yes" : "no", Self.words[state] ?? state] }

    var line: String { "\(name)  \(addresses.first ?? "-")  \(isPaired ? "paired" : "not paired")  \(state)" }

    private static let words = [
        "free": "free", "active": "sending", "paused": "paused", "full": "busy: takes no more studios",
        "away": "away: last seen there",
    ]

    static func table(_ entries: [ListEntry]) -> String {
        var table = Table(["NAME", "ADDRESS", "PAIRED", "STATE"])
        for entry in entries { table.add(entry.cells) }
        return table.text
    }
}
