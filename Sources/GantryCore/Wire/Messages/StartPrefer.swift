/// START (04): the studio asks for media.
package struct Start: Hashable, Sendable {
    /// Field 1, u16 each.
    package var channels: [UInt16]
    /// Field 2, 2 × u16.
    package var size: PictureSize?
    /// Field 3, 2 × u32.
    package var frameRate: FrameRate?
    /// Field 4, u32, bit/s.
    package var maximumBitrate: UInt32?
    /// Field 5, u16, samples of each channel.
    package var samplesPerPacket: UInt16?

    package init(
        channels: [UInt16], size: PictureSize? = nil, frameRate: FrameRate? = nil, maximumBitrate: UInt32? = nil,
        samplesPerPacket: UInt16? = nil
    ) {
        self.channels = channels
        self.size = size
        self.frameRate = frameRate
        self.maximumBitrate = maximumBitrate
        self.samplesPerPacket = samplesPerPacket
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        channels = try reader.channels(1)
        size = try reader.size(2)
        frameRate = try reader.frameRate(3)
        maximumBitrate = try reader.number(4)
        samplesPerPacket = try reader.number(5)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.numbers(1, Array(channels.prefix(WireLimits.maximumChannels)))
        writer.size(2, size)
        writer.frameRate(3, frameRate)
        writer.number(4, maximumBitrate)
        writer.number(5, samplesPerPacket)
        return writer.payload
    }
}

/// PREFER (07): the studio would like another picture from now on. What is nil stays as it is.
package struct Prefer: Hashable, Sendable {
    /// Field 1, 2 × u16.
    package var size: PictureSize?
    /// Field 2, 2 × u32.
    package var frameRate: FrameRate?
    /// Field 3, u32, bit/s.
    package var maximumBitrate: UInt32?

    package init(size: PictureSize? = nil, frameRate: FrameRate? = nil, maximumBitrate: UInt32? = nil) {
        self.size = size
        self.frameRate = frameRate
        self.maximumBitrate = maximumBitrate
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        size = try reader.size(1)
        frameRate = try reader.frameRate(2)
        maximumBitrate = try reader.number(3)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.size(1, size)
        writer.frameRate(2, frameRate)
        writer.number(3, maximumBitrate)
        return writer.payload
    }
}
