/// Every time and limit of pairing (`pairing/pairing.md`, section "Limits"). Times are on the monotonic clock.
package enum PairingLimits {
    /// The producer gives up this long after it has been given a code.
    package static let deadline = MediaDuration.seconds(30)
    /// How long a studio shows its code at most.
    package static let window = MediaDuration.seconds(5 * 60)
    /// After this the studio shows a new secret.
    package static let rotation = MediaDuration.seconds(120)
    /// How long the previous secret still counts, and how long after a success a second key raises the alarm.
    package static let grace = MediaDuration.seconds(35)
    /// A connection that has not proved the secret by then is closed.
    package static let unproven = MediaDuration.seconds(5)

    // Before authentication, at a listener.
    package static let sockets = 4
    package static let socketsPerAddress = 2
    package static let acceptsPerSecond = 10
    /// Messages of one connection, of at most `WireLimits.maximumBeforeAuthorisation` bytes each.
    package static let messages = 4

    package static let secretSize = 16
    package static let proofSize = 32
    /// Bytes of the TLS exporter's value.
    package static let exporterSize = 32
    package static let exporterLabel = "EXPORTER-GANTRY-PAIR-V1"
    package static let rendezvousSize = 10

    // The code.
    package static let codeLength = 220
    package static let nameHintSize = 24
    package static let longestLife = 600
}
