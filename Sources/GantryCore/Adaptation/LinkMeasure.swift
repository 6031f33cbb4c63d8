/// What the system knows of the bytes that a link has taken.
package struct LinkMeasure: Hashable, Sendable {
    /// Bytes that the other end has confirmed, since the link was made.
    package var confirmed: UInt64
    /// Bytes that it has not: in this machine, in the network, or read and not confirmed yet.
    package var unconfirmed: Int
    /// How long a confirmation takes, smoothed; nil where it is not known.
    package var roundTrip: MediaDuration?

    package init(confirmed: UInt64, unconfirmed: Int, roundTrip: MediaDuration? = nil) {
        self.confirmed = confirmed
        self.unconfirmed = unconfirmed
        self.roundTrip = roundTrip
    }
}
