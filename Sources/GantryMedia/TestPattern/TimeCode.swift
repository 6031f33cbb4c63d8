package import GantryCore

/// A machine-readable stamp in the luma of a picture: frame number and capture time as black and white blocks that
/// survive H.264, so that latency and loss can be measured at the far end.
///
/// 96 bits, the highest first:
/// ```
///  0        8                       32                                              80              96
/// +--------+-----------------------+-----------------------------------------------+---------------+
/// |  A5    |  frame number (24)    |  CLOCK_MONOTONIC in microseconds (48)         |  CRC (16)     |
/// +--------+-----------------------+-----------------------------------------------+---------------+
/// ```
/// CRC: CRC-16/CCITT-FALSE (polynomial 1021, start FFFF) over the ten bytes before it. A one is white (235), a zero black
/// (16). The blocks run from left to right, row by row, and start one block from the left and the top edge:
///
/// | width of the picture | block | columns | rows |
/// |---|---|---|---|
/// | 800 and more | 16 | 48 | 2 |
/// | 400…799 | 8 | 48 | 2 |
/// | 272…399 | 8 | 32 | 3 |
/// | 144…271 | 8 | 16 | 6 |
package enum TimeCode {
    static let bits = 96
    static let white: UInt8 = 235
    static let black: UInt8 = 16

    struct Layout: Equatable {
        var block: Int
        var columns: Int
        var rows: Int { TimeCode.bits / columns }
        /// Lines from the top of the picture to below the last row, with a margin of one block.
        var height: Int { (rows + 2) * block }

        /// Nil when the picture is too small.
        init?(width: Int, height: Int) {
            switch width {
            case 800...: (block, columns) = (16, 48)
            case 400..<800: (block, columns) = (8, 48)
            case 272..<400: (block, columns) = (8, 32)
            case 144..<272: (block, columns) = (8, 16)
            default: return nil
            }
            guard height >= self.height else { return nil }
        }
    }

    /// Draws into the luma of an i420 or nv12 picture; does nothing when that is too small or of another format. The
    /// chroma below should be neutral.
    package static func draw(on picture: Picture, frameNumber: UInt32, capture: MediaTimestamp) {
        guard picture.format != .bgra, let layout = Layout(width: picture.width, height: picture.height) else { return }
        let code = Code(frameNumber: frameNumber, capture: capture)
        let luma = picture.plane(0)
        let stride = picture.stride(0)
        for row in 0..<layout.rows {
            let top = luma + (row + 1) * layout.block * stride + layout.block
            for column in 0..<layout.columns {
                let value = code.bit(row * layout.columns + column) ? white : black
                (top + column * layout.block).update(repeating: value, count: layout.block)
            }
            for line in 1..<layout.block {
                (top + line * stride).update(from: top, count: layout.columns * layout.block)
            }
        }
    }

    /// Reads it back. Nil when there is none, or it is damaged.
    package static func read(from picture: Picture) -> (frameNumber: UInt32, capture: MediaTimestamp)? {
        guard picture.format != .bgra, let layout = Layout(width: picture.width, height: picture.height) else {
            return nil
        }
        var code = Code()
        for bit in 0..<bits where isWhite(bit, layout, picture) { code.set(bit) }
        return code.content
    }

    /// Whether the mean of a block's inner quarter is above the middle between black and white.
    private static func isWhite(_ bit: Int, _ layout: Layout, _ picture: Picture) -> Bool {
        let inner = layout.block / 2
        let left = (bit % layout.columns + 1) * layout.block + inner / 2
        let top = (bit / layout.columns + 1) * layout.block + inner / 2
        var sum = 0
        for line in 0..<inner {
            let row = picture.plane(0) + (top + line) * picture.stride(0) + left
            for column in 0..<inner { sum += Int(row[column]) }
        }
        return sum > inner * inner * (Int(white) + Int(black)) / 2
    }

    /// The 96 bits as two numbers: the upper 32 (sync, frame number) and the lower 64 (time, CRC).
    private struct Code {
        private var upper: UInt32 = 0
        private var lower: UInt64 = 0

        init() {}

        init(frameNumber: UInt32, capture: MediaTimestamp) {
            upper = 0xA5 << 24 | frameNumber & 0xFF_FFFF
            lower = UInt64(bitPattern: capture.microseconds) << 16
            lower |= UInt64(checksum)
        }

        func bit(_ index: Int) -> Bool {
            index < 32 ? upper >> UInt32(31 - index) & 1 == 1 : lower >> UInt64(95 - index) & 1 == 1
        }

        mutating func set(_ index: Int) {
            if index < 32 { upper |= 1 << UInt32(31 - index) } else { lower |= 1 << UInt64(95 - index) }
        }

        var content: (frameNumber: UInt32, capture: MediaTimestamp)? {
            guard upper >> 24 == 0xA5, lower & 0xFFFF == UInt64(checksum) else { return nil }
            return (upper & 0xFF_FFFF, MediaTimestamp(microseconds: Int64(lower >> 16)))
        }

        private var checksum: UInt16 {
            var crc: UInt16 = 0xFFFF
            for index in 0..<80 {
                let carry = (crc >> 15 == 1) != bit(index)
                crc = crc << 1
                if carry { crc ^= 0x1021 }
            }
            return crc
        }
    }
}
