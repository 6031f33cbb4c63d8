package import GantryCore

/// How media over UDP does, on either side.
package struct DatagramFigures: Hashable, Sendable {
    /// Bytes of packets that wait for their turn.
    package var backlog = 0
    package var packetsSent = 0
    package var packetsSentAgain = 0
    /// The kernel had no room for them.
    package var unsent = 0
    /// Datagrams of the other end, probes among them.
    package var accepted = 0
    /// Datagrams that were not from the other end, came twice, or were changed on the way.
    package var refused = 0
    /// When the other end was heard last, by what only it can have sent.
    package var heardAt: MediaTimestamp?
    /// The part of packets that the path loses.
    package var loss = 0.0

    package init() {}
}
