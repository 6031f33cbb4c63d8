package import GantryCore

/// The TXT record of `_camo._tcp`. A claim: who answers there is proved by TLS alone.
///
/// | key | value |
/// |---|---|
/// | `v` | `1`, the protocol's major version |
/// | `id` | the first 16 characters of the base 32 of the producer's key id (80 bits) |
/// | `s` | state: `free`, `active` (somebody receives), `paused`, `full` (takes no more studios) |
package struct ProducerRecord: Sendable, Hashable {
    /// What the producer does just now; other words are kept as `free`.
    package enum State: String, Sendable, Hashable, CaseIterable {
        case free
        case active
        case paused
        case full
    }

    package static let version = "1"
    package let id: String
    package var state: State

    package init(keyID: KeyID, state: State) {
        id = keyID.short
        self.state = state
    }

    /// Nil when the record is not one of a Gantry producer of this version.
    package init?(text: [String: String]) {
        guard text["v"] == Self.version, let id = text["id"]?.uppercased(), id.utf8.count == 16 else {
            return nil
        }
        self.id = id
        state = text["s"].flatMap(State.init) ?? .free
    }

    package var text: [String: String] { ["v": Self.version, "id": id, "s": state.rawValue] }

    /// Whether the record claims to be of this key.
    package func claims(_ keyID: KeyID) -> Bool { id == keyID.short }
}
