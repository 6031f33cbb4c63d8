import GantryCore

/// Grain over the colour bars, another one in each picture: what no encoder can foresee, so that the stream takes all the
/// bitrate that it is given. Luma only, evenly spread over ±15, the same in each run. Owned by one thread.
struct TestPatternGrain {
    /// Five bits of noise in each byte.
    private static let mask: UInt64 = 0x1F1F_1F1F_1F1F_1F1F
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Repaints the luma of the bars.
    mutating func draw(on picture: Picture, _ layout: TestPatternLayout) {
        let stride = picture.stride(0)
        let plane = UnsafeMutableRawBufferPointer(start: picture.plane(0), count: stride * picture.rows(0))
        for (index, color) in ColorBars.colors.enumerated() {
            let bar = layout.bar(index)
            // 16 below the colour, and 0 to 31 more; black stays in the range of a byte.
            let base = UInt64(color.y &- 16) &* 0x0101_0101_0101_0101
            for row in bar.y..<bar.y + bar.height {
                let start = row * stride + bar.x
                for x in Swift.stride(from: 0, to: bar.width & ~7, by: 8) {
                    plane.storeBytes(of: base &+ (next() & Self.mask), toByteOffset: start + x, as: UInt64.self)
                }
                for x in bar.width & ~7..<bar.width {
                    plane[start + x] = (color.y &- 16) &+ UInt8(truncatingIfNeeded: next() & 31)
                }
            }
        }
    }

    /// xorshift64 (Marsaglia, 2003).
    private mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
