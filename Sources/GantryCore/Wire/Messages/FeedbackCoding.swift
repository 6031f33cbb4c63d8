/// FEEDBACK comes forty times a second: these ways of writing and reading it take no memory.
extension Feedback {
    /// Bytes of the payload.
    package var encodedSize: Int { delay == nil ? 62 : 70 }

    /// Writes the payload. `buffer` holds at least `encodedSize` bytes.
    package func write(to buffer: UnsafeMutableRawBufferPointer) {
        var offset = 0
        func put(_ tag: UInt16, _ value: some FixedWidthInteger) {
            buffer.storeBytes(of: tag.bigEndian, toByteOffset: offset, as: UInt16.self)
            buffer.storeBytes(of: UInt16(value.bitWidth / 8).bigEndian, toByteOffset: offset + 2, as: UInt16.self)
            offset += 4
            for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
                buffer[offset] = UInt8(truncatingIfNeeded: value >> shift)
                offset += 1
            }
        }
        guard buffer.count >= encodedSize else { return }
        put(1, channel)
        put(2, sequence)
        put(3, presentationTime.microseconds)
        if let delay { put(4, delay) }
        put(5, jitter)
        put(6, bytes)
        put(7, late)
        put(8, dropped)
    }

    /// Reads a payload as `TLVReader` would.
    ///
    /// - Throws: as `ControlMessage.decode`.
    package init(payload: UnsafeRawBufferPointer) throws(GantryError) {
        // For what is not as we write it: the reader of all messages, with its words for what is wrong.
        guard payload.count <= 128, let values = Self.read(payload) else {
            var reader = try TLVReader(Array(payload), type: .feedback)
            self = try Feedback(&reader)
            try reader.finish()
            return
        }
        self = values
    }

    /// Nil unless the known fields come once, each at its width, and nothing else does.
    private static func read(_ payload: UnsafeRawBufferPointer) -> Feedback? {
        var result = Feedback(
            channel: 0, sequence: 0, presentationTime: MediaTimestamp(microseconds: 0), delay: nil, jitter: 0, bytes: 0,
            late: 0, dropped: 0)
        var seen: UInt16 = 0
        var offset = 0
        while offset < payload.count {
            guard payload.count - offset >= 4 else { return nil }
            let tag = Int(payload[offset]) << 8 | Int(payload[offset + 1])
            let count = Int(payload[offset + 2]) << 8 | Int(payload[offset + 3])
            offset += 4
            guard 1...8 ~= tag, count == width(tag), payload.count - offset >= count, seen & 1 << UInt16(tag) == 0
            else {
                return nil
            }
            seen |= 1 << UInt16(tag)
            var value: UInt64 = 0
            for index in offset..<offset + count { value = value << 8 | UInt64(payload[index]) }
            offset += count
            result.set(tag, value)
        }
        // Channel, sequence and time must be there.
        guard seen & 0b1110 == 0b1110, 1...WireLimits.highestChannel ~= result.channel else { return nil }
        return result
    }

    private static func width(_ tag: Int) -> Int {
        switch tag {
        case 1: 2
        case 3, 6: 8
        default: 4
        }
    }

    private mutating func set(_ tag: Int, _ value: UInt64) {
        switch tag {
        case 1: channel = UInt16(truncatingIfNeeded: value)
        case 2: sequence = UInt32(truncatingIfNeeded: value)
        case 3: presentationTime = MediaTimestamp(microseconds: Int64(bitPattern: value))
        case 4: delay = Int32(truncatingIfNeeded: value)
        case 5: jitter = UInt32(truncatingIfNeeded: value)
        case 6: bytes = value
        case 7: late = UInt32(truncatingIfNeeded: value)
        default: dropped = UInt32(truncatingIfNeeded: value)
        }
    }
}
