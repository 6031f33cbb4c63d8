import GantryCore

/// A small copy of a picture for showing: RGB without transparency. Pure.
package struct Thumbnail: Sendable, Hashable {
    package let width: Int
    /// 0xRRGGBB, rows of `width`.
    package let pixels: [UInt32]

    /// Means of the parts of an I420 picture; nil for other formats and for sizes that are not within the picture's.
    package init?(_ picture: Picture, width: Int, height: Int) {
        guard picture.format == .i420, 1...picture.width ~= width, 1...picture.height ~= height else { return nil }
        self.width = width
        var pixels: [UInt32] = []
        pixels.reserveCapacity(width * height)
        for row in 0..<height {
            for column in 0..<width {
                let parts = (0..<3).map { plane in
                    Self.mean(
                        picture, plane, Self.part(column, of: width, picture.rowBytes(plane)),
                        Self.part(row, of: height, picture.rows(plane)))
                }
                pixels.append(Self.color(parts[0], parts[1], parts[2], picture.color))
            }
        }
        self.pixels = pixels
    }

    private static func part(_ index: Int, of count: Int, _ length: Int) -> Range<Int> {
        let first = min(index * length / count, length - 1)
        return first..<max(first + 1, (index + 1) * length / count)
    }

    /// Of at most 8 by 8 samples of the part: more changes nothing that can be seen.
    private static func mean(_ picture: Picture, _ plane: Int, _ columns: Range<Int>, _ rows: Range<Int>) -> Int {
        let (data, stride) = (picture.plane(plane), picture.stride(plane))
        var sum = 0
        var count = 0
        for row in Swift.stride(from: rows.lowerBound, to: rows.upperBound, by: max(1, rows.count / 8)) {
            for column in Swift.stride(from: columns.lowerBound, to: columns.upperBound, by: max(1, columns.count / 8))
            {
                sum += Int(data[row * stride + column])
                count += 1
            }
        }
        return sum / max(1, count)
    }

    /// ITU-T H.273, equations of the matrix coefficients: BT.601 and BT.709, the latter for all others.
    private static func color(_ luma: Int, _ blue: Int, _ red: Int, _ color: ColorDescription) -> UInt32 {
        let (kr, kb) = [4, 5, 6].contains(color.matrix) ? (0.299, 0.114) : (0.2126, 0.0722)
        let y = color.isFullRange ? Double(luma) : Double(luma - 16) * 255 / 219
        let scale = color.isFullRange ? 1.0 : 255.0 / 224
        let (cb, cr) = (Double(blue - 128) * scale, Double(red - 128) * scale)
        let (r, b) = (y + 2 * (1 - kr) * cr, y + 2 * (1 - kb) * cb)
        let g = (y - kr * r - kb * b) / (1 - kr - kb)
        func byte(_ value: Double) -> UInt32 { UInt32(min(255, max(0, value.rounded()))) }
        return byte(r) << 16 | byte(g) << 8 | byte(b)
    }
}
