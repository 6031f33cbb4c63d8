import GantryCore
import Testing

@testable import GantryMedia

@Suite struct ThumbnailTests {
    /// Left half of one colour, right half of another.
    private static func halves(_ left: [UInt8], _ right: [UInt8], _ color: ColorDescription) throws -> Picture {
        let picture = try #require(Picture(format: .i420, width: 64, height: 32, color: color))
        for plane in 0..<3 {
            for row in 0..<picture.rows(plane) {
                let line = picture.plane(plane) + row * picture.stride(plane)
                let half = picture.rowBytes(plane) / 2
                for column in 0..<half {
                    line[column] = left[plane]
                    line[half + column] = right[plane]
                }
            }
        }
        return picture
    }

    private static func isNear(_ a: UInt32, _ b: UInt32) -> Bool {
        [16, 8, 0].allSatisfy { abs(Int(a >> $0 & 255) - Int(b >> $0 & 255)) <= 3 }
    }

    /// Red and blue in the numbers of BT.601 and of BT.709, limited and full range.
    @Test(
        arguments: [
            ([81, 90, 240], [41, 240, 110], 6, false), ([63, 102, 240], [32, 240, 118], 1, false),
            ([76, 85, 255], [29, 255, 107], 6, true),
        ] as [([UInt8], [UInt8], UInt8, Bool)])
    func coloursAreThoseOfThePicture(red: [UInt8], blue: [UInt8], matrix: UInt8, isFull: Bool) throws {
        var color = ColorDescription.bt709
        (color.matrix, color.isFullRange) = (matrix, isFull)
        let small = try #require(Thumbnail(try Self.halves(red, blue, color), width: 4, height: 2))
        #expect(small.width == 4)
        #expect(small.pixels.count == 8)
        for (index, pixel) in small.pixels.enumerated() {
            #expect(Self.isNear(pixel, index % 4 < 2 ? 0xFF0000 : 0x0000FF), "\(String(pixel, radix: 16))")
        }
    }

    @Test func sizesThatDoNotFitAreRefused() throws {
        let picture = try Self.halves([235, 128, 128], [16, 128, 128], .bt601)
        #expect(Thumbnail(picture, width: 65, height: 2) == nil)
        #expect(Thumbnail(picture, width: 4, height: 0) == nil)
        let whole = try #require(Thumbnail(picture, width: 64, height: 32))
        #expect(whole.pixels[31] == 0xFFFFFF && whole.pixels[32] == 0)
        let other = try #require(Picture(format: .bgra, width: 16, height: 16))
        #expect(Thumbnail(other, width: 2, height: 2) == nil)
    }
}
