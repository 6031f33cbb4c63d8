/// Width and height of a picture, in pixels.
package struct PixelSize: Sendable, Hashable, CustomStringConvertible {
    package let width: Int
    package let height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// From `1280x720`.
    package init?(_ text: String) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "X" }
        guard parts.count == 2, Decimal.isDigits(parts[0]), Decimal.isDigits(parts[1]),
            let width = Decimal.integer(parts[0]), let height = Decimal.integer(parts[1]), width > 0, height > 0
        else { return nil }
        self.init(width: width, height: height)
    }

    package var description: String { "\(width)x\(height)" }
}
