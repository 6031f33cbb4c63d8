/// Width and height in pixels, 1…8192 each. Two numbers of 16 bits on the wire.
package struct PictureSize: Hashable, Sendable {
    package let width: Int
    package let height: Int

    package init?(width: Int, height: Int) {
        guard 1...WireLimits.maximumSide ~= width, 1...WireLimits.maximumSide ~= height else { return nil }
        self.width = width
        self.height = height
    }
}

extension TLVWriter {
    mutating func size(_ tag: UInt16, _ size: PictureSize?) {
        if let size { numbers(tag, [UInt16(size.width), UInt16(size.height)]) }
    }

    /// Numerator, denominator.
    mutating func frameRate(_ tag: UInt16, _ rate: FrameRate?) {
        if let rate { numbers(tag, [rate.numerator, rate.denominator]) }
    }
}

extension TLVReader {
    mutating func size(_ tag: UInt16) throws(GantryError) -> PictureSize? {
        let sides = try numbers(tag, UInt16.self, limit: 2)
        if sides.isEmpty { return nil }
        guard sides.count == 2, let size = PictureSize(width: Int(sides[0]), height: Int(sides[1])) else {
            throw broken("a picture size that cannot be")
        }
        return size
    }

    mutating func frameRate(_ tag: UInt16) throws(GantryError) -> FrameRate? {
        let parts = try numbers(tag, UInt32.self, limit: 2)
        if parts.isEmpty { return nil }
        guard parts.count == 2, let rate = FrameRate(parts[0], parts[1]) else {
            throw broken("a frame rate that cannot be")
        }
        return rate
    }

    /// A channel of media or data: 1…8.
    mutating func channel(_ tag: UInt16) throws(GantryError) -> UInt16 {
        let channel = try required(tag, UInt16.self)
        guard 1...WireLimits.highestChannel ~= channel else { throw broken("channel \(channel)") }
        return channel
    }

    mutating func channels(_ tag: UInt16) throws(GantryError) -> [UInt16] {
        let channels = try numbers(tag, UInt16.self, limit: WireLimits.maximumChannels)
        for channel in channels where !(1...WireLimits.highestChannel ~= channel) { throw broken("channel \(channel)") }
        return channels
    }

    mutating func exactly(_ tag: UInt16, count: Int) throws(GantryError) -> [UInt8] {
        guard let value = try bytes(tag, limit: count), value.count == count else {
            throw broken("field \(tag) of a wrong size")
        }
        return value
    }
}
