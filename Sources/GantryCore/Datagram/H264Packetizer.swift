/// Cuts an access unit into RTP payloads, RFC 6184, packetization mode 1: small NAL units together (STAP-A, 5.7.1), large ones in
/// pieces (FU-A, 5.8), others as they are (5.6). Nothing is allocated.
struct H264Packetizer {
    static let stapA: UInt8 = 24
    static let fuA: UInt8 = 28

    private var units: NALUnits
    /// Read ahead, not sent yet.
    private var pending: UnsafeRawBufferPointer?
    /// Bytes of `pending` that have gone in pieces.
    private var sent = 0

    init(_ accessUnit: UnsafeRawBufferPointer) {
        units = NALUnits(accessUnit)
        pending = units.next()
    }

    /// Nothing is left.
    var isFinished: Bool { pending == nil }

    /// Writes the next payload into `room` (at least 8 bytes) and returns its size; 0 at the end.
    mutating func next(into room: UnsafeMutableRawBufferPointer) -> Int {
        guard let unit = pending, room.count >= 8 else { return 0 }
        if sent > 0 || unit.count > room.count { return fragment(unit, into: room) }
        // A copy of the iterator looks ahead.
        var ahead = units
        if let following = ahead.next(), 1 + 2 + unit.count + 2 + following.count <= room.count {
            return aggregate(into: room)
        }
        pending = units.next()
        room.copyMemory(from: unit)
        return unit.count
    }

    private mutating func fragment(
        _ unit: UnsafeRawBufferPointer, into room: UnsafeMutableRawBufferPointer
    ) -> Int {
        // The NAL unit's own first byte travels in the two bytes in front of each piece.
        let start = max(sent, 1)
        let count = min(room.count - 2, unit.count - start)
        let isLast = start + count == unit.count
        room[0] = unit[0] & 0xE0 | Self.fuA
        room[1] = (sent == 0 ? 0x80 : 0) | (isLast ? 0x40 : 0) | unit[0] & 0x1F
        UnsafeMutableRawBufferPointer(rebasing: room[2...]).copyMemory(
            from: UnsafeRawBufferPointer(rebasing: unit[start..<start + count]))
        if isLast {
            sent = 0
            pending = units.next()
        } else {
            sent = start + count
        }
        return 2 + count
    }

    private mutating func aggregate(into room: UnsafeMutableRawBufferPointer) -> Int {
        // F is set when any has it, NRI is the largest (5.7.1).
        var importance: UInt8 = 0
        var forbidden: UInt8 = 0
        var used = 1
        while let unit = pending, used + 2 + unit.count <= room.count {
            importance = max(importance, unit[0] & 0x60)
            forbidden |= unit[0] & 0x80
            room.storeBigEndian(UInt16(truncatingIfNeeded: unit.count), at: used)
            room.part(used + 2, unit.count).copyMemory(from: unit)
            used += 2 + unit.count
            pending = units.next()
        }
        room[0] = forbidden | importance | Self.stapA
        return used
    }
}
