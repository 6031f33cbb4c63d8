import CommandLineKit
import GantryCore
import StudioKit

/// One line of `list`.
struct ListEntry: Equatable {
    /// The name on the network, which is unique there; empty for one that is away.
    let id: String
    let name: String
    let addresses: [String]
    let isPaired: Bool
    /// free, active, paused, full; plugged: on USB alone; away: paired and not here; unknown: paired, and the network
    /// cannot be searched.
    let state: String
    let fieldOfUse: FieldOfUse

    private init(_ producer: DiscoveredProducer) {
        id = producer.id
        name = producer.displayedName
        addresses = (producer.usbSerial.map { ["usb:" + $0] } ?? []) + producer.endpoints.map(\.description)
        isPaired = producer.device?.state == .active
        state = producer.state.rawValue
        fieldOfUse = producer.fieldOfUse
    }

    private init(_ device: PairedDevice, state: String) {
        id = ""
        name = device.displayedName
        addresses = device.lastAddress.map { [$0] } ?? []
        isPaired = true
        self.state = state
        fieldOfUse = FieldOfUse()
    }

    /// Those that are here, then those that are paired and were not found.
    ///
    /// - Parameter isSearched: whether the network could be searched.
    static func all(_ found: [DiscoveredProducer], paired: [PairedDevice], isSearched: Bool = true) -> [ListEntry] {
        let here = Set(found.compactMap(\.device?.keyID))
        let away = paired.filter { $0.kind == .producer && $0.state == .active && !here.contains($0.keyID) }
        return found.map { ListEntry($0) } + away.map { ListEntry($0, state: isSearched ? "away" : "unknown") }
    }

    var members: [JSONValue.Member] {
        [
            .init("name", .string(name)), .init("addresses", .array(addresses.map(JSONValue.string))),
            .init("paired", .bool(isPaired)), .init("busy", .bool(state == "full")), .init("state", .string(state)),
        ] + fieldOfUse.members
    }

    private var cells: [String] { [name, addresses.first ?? "-", isPaired ? "yes" : "no", Self.words[state] ?? state] }

    var line: String { "\(name)  \(addresses.first ?? "-")  \(isPaired ? "paired" : "not paired")  \(state)" }

    private static let words = [
        "free": "free", "plugged": "on USB", "active": "sending", "paused": "paused",
        "full": "busy: takes no more studios",
        "away": "away: last seen there", "unknown": "unknown: last seen there",
    ]

    static func table(_ entries: [ListEntry]) -> String {
        var table = Table(["NAME", "ADDRESS", "PAIRED", "STATE"])
        for entry in entries { table.add(entry.cells) }
        return table.text
    }
}
