/// The times of a pairing window that tests make shorter.
package struct PairingTimes: Sendable {
    /// After this the studio shows a new secret.
    package var rotation = PairingLimits.rotation
    /// How long the previous secret still counts, and how long after a success a second key raises the alarm.
    package var grace = PairingLimits.grace

    package static let standard = PairingTimes()

    package init(rotation: MediaDuration = PairingLimits.rotation, grace: MediaDuration = PairingLimits.grace) {
        self.rotation = rotation
        self.grace = grace
    }
}
