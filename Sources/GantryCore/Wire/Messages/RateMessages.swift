/// FEEDBACK (0A): every 50 ms, what the studio has received of a channel. Counters run from the start of the session.
package struct Feedback: Hashable, Sendable {
    /// Field 1, u16.
    package var channel: UInt16
    /// Field 2, u32: of the newest packet.
    package var sequence: UInt32
    /// Field 3, i64: of the newest packet, on the producer's clock.
    package var presentationTime: MediaTimestamp
    /// Field 4, i32, µs: capture to arrival of the newest packet by the estimated clock offset; nil before it is known.
    package var delay: Int32?
    /// Field 5, u32, µs (RFC 3550 section 6.4.1).
    package var jitter: UInt32
    /// Field 6, u64.
    package var bytes: UInt64
    /// Field 7, u32: packets that came too late to be shown.
    package var late: UInt32
    /// Field 8, u32: packets or pictures that the studio dropped.
    package var dropped: UInt32

    package init(
        channel: UInt16, sequence: UInt32, presentationTime: MediaTimestamp, delay: Int32?, jitter: UInt32,
        bytes: UInt64,
        late: UInt32, dropped: UInt32
    ) {
        self.channel = channel
        self.sequence = sequence
        self.presentationTime = presentationTime
        self.delay = delay
        self.jitter = jitter
        self.bytes = bytes
        self.late = late
        self.dropped = dropped
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        channel = try reader.channel(1)
        sequence = try reader.required(2)
        presentationTime = MediaTimestamp(microseconds: try reader.required(3))
        delay = try reader.number(4)
        jitter = try reader.number(5) ?? 0
        bytes = try reader.number(6) ?? 0
        late = try reader.number(7) ?? 0
        dropped = try reader.number(8) ?? 0
    }

    func encode() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: encodedSize) { buffer, count in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            count = encodedSize
        }
    }
}

/// RATE (0B): what the producer's encoder does now.
package struct Rate: Hashable, Sendable {
    /// Field 1, u32, bit/s.
    package var bitrate: UInt32
    /// Field 2, 2 × u32.
    package var frameRate: FrameRate?
    /// Field 3, u8: 0 is full quality, each step is worse.
    package var step: UInt8

    package init(bitrate: UInt32, frameRate: FrameRate? = nil, step: UInt8 = 0) {
        self.bitrate = bitrate
        self.frameRate = frameRate
        self.step = step
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        bitrate = try reader.required(1)
        frameRate = try reader.frameRate(2)
        step = try reader.number(3) ?? 0
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, bitrate)
        writer.frameRate(2, frameRate)
        writer.number(3, step)
        return writer.payload
    }
}
