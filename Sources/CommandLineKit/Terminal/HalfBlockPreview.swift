/// Draws a small picture with half blocks: two pixels a cell. Pure.
package enum HalfBlockPreview {
    /// The size in pixels at which a picture fits, whole and undistorted, where cells are twice as high as wide.
    ///
    /// - Parameters:
    ///   - columns: cells of room; at most 40 are used.
    ///   - rows: lines of room; at most 20 are used.
    /// - Returns: an even height; nil when there is no room for 8 by 4 cells.
    package static func size(
        ofPicture width: Int, _ height: Int, columns: Int, rows: Int
    ) -> (width: Int, height: Int)? {
        let (wide, high) = (min(columns, 40), min(rows, 20) * 2)
        guard 1...65536 ~= width, 1...65536 ~= height, wide >= 8, high >= 8 else { return nil }
        if width * high >= height * wide { return (wide, max(2, (wide * height / width + 1) & ~1)) }
        return (max(2, high * width / height), high)
    }

    /// Lines for the screen, each complete with its colours and a reset.
    ///
    /// - Parameters:
    ///   - pixels: 0xRRGGBB, rows of `width`; an odd last row is left out.
    package static func lines(_ pixels: [UInt32], width: Int, depth: ColorDepth) -> [ScreenLine] {
        guard width > 0 else { return [] }
        return (0..<pixels.count / width / 2).map { row in
            let upper = pixels[(2 * row * width)..<((2 * row + 1) * width)]
            let lower = pixels[((2 * row + 1) * width)..<((2 * row + 2) * width)]
            let text = depth == .shades ? shades(upper, lower) : blocks(upper, lower, isDirect: depth == .direct)
            return ScreenLine(text, columns: width)
        }
    }

    /// Upper half in the foreground colour, lower half in the background colour.
    private static func blocks(_ upper: ArraySlice<UInt32>, _ lower: ArraySlice<UInt32>, isDirect: Bool) -> String {
        var text = ""
        var last = ""
        for (above, below) in zip(upper, lower) {
            // SGR 38 and 48 of ECMA-48 (ISO 8613-6), as xterm writes them: 2 direct, 5 indexed.
            let colors =
                isDirect
                ? "\u{1B}[38;2;\(direct(above));48;2;\(direct(below))m"
                : "\u{1B}[38;5;\(index(above));48;5;\(index(below))m"
            if colors != last {
                text += colors
                last = colors
            }
            text += "\u{2580}"
        }
        return text + "\u{1B}[0m"
    }

    private static func direct(_ color: UInt32) -> String { "\(color >> 16 & 255);\(color >> 8 & 255);\(color & 255)" }

    /// The nearest of the palette of 256 (xterm): a cube of 6x6x6 from 16 on, 24 greys from 232 on.
    static func index(_ color: UInt32) -> Int {
        let parts = [16, 8, 0].map { Int(color >> $0 & 255) }
        let steps = parts.map { $0 < 48 ? 0 : $0 < 115 ? 1 : ($0 - 35) / 40 }
        let cube = steps.map { $0 == 0 ? 0 : 55 + 40 * $0 }
        let mean = parts.reduce(0, +) / 3
        let grey = min(23, max(0, (mean - 3) / 10))
        func distance(_ other: [Int]) -> Int { zip(parts, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } }
        if distance([8 + 10 * grey, 8 + 10 * grey, 8 + 10 * grey]) < distance(cube) { return 232 + grey }
        return 16 + 36 * steps[0] + 6 * steps[1] + steps[2]
    }

    private static let shadeCharacters: [Character] = [" ", "\u{2591}", "\u{2592}", "\u{2593}", "\u{2588}"]

    /// One shade for both halves.
    private static func shades(_ upper: ArraySlice<UInt32>, _ lower: ArraySlice<UInt32>) -> String {
        String(
            zip(upper, lower).map { above, below in
                shadeCharacters[min(4, (luma(above) + luma(below)) * 5 / 512)]
            })
    }

    /// BT.601, in 0…255.
    private static func luma(_ color: UInt32) -> Int {
        (Int(color >> 16 & 255) * 77 + Int(color >> 8 & 255) * 150 + Int(color & 255) * 29) >> 8
    }
}
