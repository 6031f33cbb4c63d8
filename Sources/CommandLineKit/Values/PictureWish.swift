package import GantryCore

/// A picture's size, rate, or both, as people write it: `640x480`, `@15`, `640x480@29.97`.
package struct PictureWish: Sendable, Hashable {
    package let size: PixelSize?
    package let frameRate: FrameRate?

    /// Nil for anything else, and for nothing.
    package init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first, parts.count <= 2, parts.count == 2 || !first.isEmpty else { return nil }
        let size = PixelSize(first)
        guard first.isEmpty || size != nil else { return nil }
        self.size = size
        guard parts.count == 2 else {
            frameRate = nil
            return
        }
        guard let rate = FrameRate(text: parts[1]) else { return nil }
        frameRate = rate
    }
}
