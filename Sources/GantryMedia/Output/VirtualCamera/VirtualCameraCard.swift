import GantryCore
import Glibc

/// What a virtual camera shows while there is no picture: two lines on a dark ground.
package struct VirtualCameraCard: Hashable, Sendable {
    /// Large, a word or two.
    package var title: String
    /// Below it and smaller: whom the camera waits for. May be empty.
    package var detail: String

    package init(title: String = "NO SIGNAL", detail: String = "") {
        self.title = title
        self.detail = detail
    }

    // BT.601 limited.
    private static let ground = (y: UInt8(30), cb: UInt8(132), cr: UInt8(126))
    private static let bright: UInt8 = 200
    private static let middle: UInt8 = 128
    private static let faint: UInt8 = 84
    private static let dim: UInt8 = 62

    /// Fills an i420 picture of any size; the squares of the letters lie on whole pixels.
    package func draw(on picture: Picture) {
        guard picture.format == .i420 else { return }
        Self.fill(picture)
        let (width, height) = (picture.width, picture.height)
        let title = Self.shortened(self.title, to: width * 9 / 10)
        let large = Self.scale(title, width: width * 9 / 20, height: height / 8)
        let detail = Self.shortened(self.detail, to: width * 9 / 10)
        let small = Self.scale(detail, width: width * 9 / 10, height: max(BitmapFont.rows, large * BitmapFont.rows / 3))
        // The whole block stands in the middle: title, gap, rule, gap, detail.
        let gap = max(2, large + 2 * small)
        let block = 7 * large + (detail.isEmpty ? 0 : 2 * gap + small + BitmapFont.rows * small)
        let top = max(0, (height - block) / 2)
        Self.draw(title, centred: width / 2, top: top, scale: large, luma: Self.bright, on: picture)
        if !detail.isEmpty {
            let rule = (width: min(width / 2, BitmapFont.width(title) * large), y: top + 7 * large + gap)
            Self.rectangle((width - rule.width) / 2, rule.y, rule.width, max(1, small / 2), Self.dim, on: picture)
            Self.draw(
                detail, centred: width / 2, top: rule.y + small + gap, scale: small, luma: Self.middle, on: picture)
        }
        // Not where it would touch the rest.
        let mark = max(1, small * 2 / 3)
        let bottom = height - height / 20 - BitmapFont.rows * mark
        if bottom > top + block + 2 * mark {
            Self.draw("Gantry", centred: width / 2, top: bottom, scale: mark, luma: Self.faint, on: picture)
        }
    }

    /// What fits at the smallest size, three dots in place of the rest.
    private static func shortened(_ text: String, to width: Int) -> String {
        let most = max(1, (width + 1) / BitmapFont.advance)
        return text.count <= most ? text : text.prefix(most - 1) + "…"
    }

    /// Pixels to a square.
    private static func scale(_ text: String, width: Int, height: Int) -> Int {
        max(1, min(width / max(1, BitmapFont.width(text)), height / BitmapFont.rows))
    }

    private static func draw(
        _ text: String, centred middle: Int, top: Int, scale: Int, luma: UInt8, on picture: Picture
    ) {
        var left = middle - BitmapFont.width(text) * scale / 2
        for character in text {
            for (row, bits) in BitmapFont.glyph(character).enumerated() {
                for column in 0..<BitmapFont.columns where bits >> UInt8(BitmapFont.columns - 1 - column) & 1 == 1 {
                    rectangle(left + column * scale, top + row * scale, scale, scale, luma, on: picture)
                }
            }
            left += BitmapFont.advance * scale
        }
    }

    /// In the luma only: the letters are grey. Parts outside the picture are left out.
    private static func rectangle(
        _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ luma: UInt8, on picture: Picture
    ) {
        let (left, right) = (max(0, x), min(picture.width, x + width))
        guard left < right else { return }
        for row in max(0, y)..<max(0, y, min(picture.height, y + height)) {
            memset(picture.plane(0) + row * picture.stride(0) + left, CInt(luma), right - left)
        }
    }

    private static func fill(_ picture: Picture) {
        for (plane, value) in [ground.y, ground.cb, ground.cr].enumerated() {
            memset(picture.plane(plane), CInt(value), picture.stride(plane) * picture.rows(plane))
        }
    }
}
