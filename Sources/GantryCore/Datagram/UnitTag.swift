/// Where a packet stands in its unit (access unit or Opus packet): element 1 of the header extension (RFC 8285 section
/// 4.3, two-byte form), 14 bytes.
///
/// ```
///  0            4         6         8           10   11  12  13  14
/// +------------+---------+---------+-----------+----+---+---+---+
/// |    unit    |  index  |  total  |   data    |pos | k | r | 0 |
/// +------------+---------+---------+-----------+----+---+---+---+
/// ```
package struct UnitTag: Hashable, Sendable {
    /// Counts the units of this stream from 0 and wraps.
    package var unit: UInt32
    /// Of this packet in the unit: its sequence number less that of the unit's first packet.
    package var index: UInt16
    /// Packets of the unit, parity included.
    package var total: UInt16
    /// Packets of the unit that carry media.
    package var data: UInt16
    /// Of this packet in its block; `blockData` and more: parity.
    package var position: UInt8
    /// Packets of the block that carry media.
    package var blockData: UInt8
    package var blockParity: UInt8

    package static let size = 14

    package init(
        unit: UInt32, index: UInt16, total: UInt16, data: UInt16, position: UInt8, blockData: UInt8, blockParity: UInt8
    ) {
        self.unit = unit
        self.index = index
        self.total = total
        self.data = data
        self.position = position
        self.blockData = blockData
        self.blockParity = blockParity
    }

    package var isParity: Bool { position >= blockData }
    /// Index in the unit of the block's first packet, and of the packet behind its last.
    package var blockStart: Int { Int(index) - Int(position) }
    package var blockEnd: Int { blockStart + Int(blockData) + Int(blockParity) }

    /// Nil when numbers contradict each other or are over a limit.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        unit = bytes.bigEndian(at: 0)
        index = bytes.bigEndian(at: 4)
        total = bytes.bigEndian(at: 6)
        data = bytes.bigEndian(at: 8)
        position = bytes[10]
        blockData = bytes[11]
        blockParity = bytes[12]
        guard total <= DatagramLimits.unitPackets, index < total, data >= 1, data <= total, blockData >= 1,
            blockData <= DatagramLimits.blockData, blockParity <= DatagramLimits.blockParity,
            position < blockData + blockParity, blockStart >= 0, blockEnd <= Int(total)
        else { return nil }
    }

    package func write(to bytes: UnsafeMutableRawBufferPointer) {
        guard bytes.count >= Self.size else { return }
        bytes.storeBigEndian(unit, at: 0)
        bytes.storeBigEndian(index, at: 4)
        bytes.storeBigEndian(total, at: 6)
        bytes.storeBigEndian(data, at: 8)
        bytes[10] = position
        bytes[11] = blockData
        bytes[12] = blockParity
        bytes[13] = 0
    }
}
