/// Counts of one stream that comes as datagrams.
package struct StreamStatistics: Hashable, Sendable {
    /// Packets that came without being asked for again.
    package var received = 0
    /// Packets that should have come by themselves until now.
    package var expected = 0
    package var duplicates = 0
    /// Came when nobody needed them any more.
    package var late = 0
    /// Authentic, but not what `pairing/datagram.md` says.
    package var invalid = 0
    /// Packets that parity gave back.
    package var repaired = 0
    /// Packets that were asked for again.
    package var requested = 0
    package var units = 0
    package var unitsLost = 0

    package init() {}
}
