/// What a receiver knows of one sequence number.
struct PacketSlot {
    /// Its content is here, also when parity gave it back.
    var isPresent = false
    /// The packet itself has come.
    var hasCome = false
    var tag = UnitTag(unit: 0, index: 0, total: 1, data: 1, position: 0, blockData: 1, blockParity: 0)
    /// Of its parity symbol.
    var size = 0
    /// When a later packet had come and this one had not.
    var missedAt = MediaTimestamp(microseconds: 0)
    var askedAt = MediaTimestamp(microseconds: 0)
    var firstAskedAt = MediaTimestamp(microseconds: 0)
    /// How often it was asked for.
    var asked = 0
}
