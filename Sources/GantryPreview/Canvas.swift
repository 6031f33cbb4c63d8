import GantryMedia

/// Memory that text, boxes and bars are drawn into by the processor. Owned by one thread; memory is taken when it grows, never
/// otherwise. Parts outside are left out.
final class Canvas {
    /// A colour as SDL's ARGB8888 has it: alpha in the highest byte, not multiplied.
    typealias Color = UInt32

    struct Area: Equatable {
        var x: Int
        var y: Int
        var width: Int
        var height: Int
    }

    private(set) var width = 0
    private(set) var height = 0
    private var memory = UnsafeMutableBufferPointer<Color>(start: nil, count: 0)

    deinit { memory.deallocate() }

    /// `height` rows of `width` pixels, from the top.
    var pixels: UnsafeMutableBufferPointer<Color> { UnsafeMutableBufferPointer(rebasing: memory[..<(width * height)]) }

    /// Makes it one colour, of a size from 1 to 8192.
    func begin(width: Int, height: Int, _ color: Color) {
        self.width = max(1, min(Picture.maximumSide, width))
        self.height = max(1, min(Picture.maximumSide, height))
        let count = self.width * self.height
        if memory.count < count {
            memory.deallocate()
            memory = .allocate(capacity: count)
        }
        memory.update(repeating: color)
    }

    func fill(_ area: Area, _ color: Color) {
        let left = max(0, area.x)
        let count = min(width, area.x + area.width) - left
        guard count > 0, let base = memory.baseAddress else { return }
        for row in max(0, area.y)..<max(0, area.y, min(height, area.y + area.height)) {
            (base + row * width + left).update(repeating: color, count: count)
        }
    }

    /// - Parameters:
    ///   - x: of the left edge of the first letter.
    ///   - y: of its upper edge.
    ///   - scale: pixels to a square of the letters.
    func text(_ text: String, x: Int, y: Int, scale: Int, _ color: Color) {
        var left = x
        for character in text {
            guard left < width else { return }
            for (row, bits) in BitmapFont.glyph(character).enumerated() {
                for column in 0..<BitmapFont.columns where bits >> UInt8(BitmapFont.columns - 1 - column) & 1 == 1 {
                    fill(
                        Area(x: left + column * scale, y: y + row * scale, width: scale, height: scale), color)
                }
            }
            left += BitmapFont.advance * scale
        }
    }
}
