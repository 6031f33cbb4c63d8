package import GantryCore

/// The TXT record of `_camo._tcp`. A claim: who answers there is proved by TLS alone.
///
/// | key | value |
/// |---|---|
/// | `v` | `1`, the protocol's major version |
/// | `id` | the first 16 characters of the base 32 of the producer's key id (80 bits) |
/// | `fv`, `fo`, `fa` | field of use: venue, owner, app; those that there are |
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
    package var fieldOfUse: FieldOfUse

    package init(keyID: KeyID, state: State, fieldOfUse: FieldOfUse = FieldOfUse()) {
        id = keyID.short
        self.state = state
        self.fieldOfUse = fieldOfUse
    }

    /// Nil when the record is not one of a Gantry producer of this version.
    package init?(text: [String: String]) {
        guard text["v"] == Self.version, let id = text["id"]?.uppercased(), id.utf8.count == 16 else {
            return nil
        }
        self.id = id
        state = text["s"].flatMap(State.init) ?? .free
        fieldOfUse = FieldOfUse(venue: text["fv"], owner: text["fo"], app: text["fa"])
    }

    package var text: [String: String] {
        var text = ["v": Self.version, "id": id, "s": state.rawValue]
        text["fv"] = fieldOfUse.venue
        text["fo"] = fieldOfUse.owner
        text["fa"] = fieldOfUse.app
        return text
    }

    /// Whether the record claims to be of this key.
    package func claims(_ keyID: KeyID) -> Bool { id == keyID.short }
}
