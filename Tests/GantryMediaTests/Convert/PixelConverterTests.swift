import Foundation
import GantryCore
import GantryMedia
import GantryTestSupport
import Testing

@Suite struct PixelConverterTests {
    /// A picture with a value for each sample.
    static func picture(
        _ format: PixelFormat, _ width: Int, _ height: Int, _ value: (_ plane: Int, _ x: Int, _ y: Int) -> UInt8
    ) throws -> Picture {
        let picture = try #require(Picture(format: format, width: width, height: height))
        for plane in 0..<format.planeCount {
            for y in 0..<picture.rows(plane) {
                for x in 0..<picture.rowBytes(plane) {
                    picture.plane(plane)[y * picture.stride(plane) + x] = value(plane, x, y)
                }
            }
        }
        return picture
    }

    static func at(_ picture: Picture, _ plane: Int, _ x: Int, _ y: Int) -> Int {
        Int(picture.plane(plane)[y * picture.stride(plane) + x])
    }

    /// B, G, R, A of a colour → Y, Cb, Cr of BT.601 limited, by the formula.
    @Test(arguments: [(255, 255, 255), (0, 0, 0), (255, 0, 0), (0, 255, 0), (0, 0, 255), (12, 200, 99)])
    func bgraBecomesBT601(rgb: (Int, Int, Int)) throws {
        let source = try Self.picture(.bgra, 32, 16) { _, x, _ in
            UInt8([rgb.2, rgb.1, rgb.0, 255][x % 4])
        }
        source.captureTime = MediaTimestamp(microseconds: 5)
        source.presentationTime = MediaTimestamp(microseconds: 6)
        let target = try #require(Picture(format: .i420, width: 32, height: 16))
        try PixelConverter.convert(source, to: target)
        let (r, g, b) = (Double(rgb.0) / 255, Double(rgb.1) / 255, Double(rgb.2) / 255)
        let luma = 0.299 * r + 0.587 * g + 0.114 * b
        #expect(abs(Double(Self.at(target, 0, 9, 9)) - (16 + 219 * luma)) <= 1.5)
        #expect(abs(Double(Self.at(target, 1, 4, 4)) - (128 + 224 * (b - luma) / 1.772)) <= 1.5)
        #expect(abs(Double(Self.at(target, 2, 4, 4)) - (128 + 224 * (r - luma) / 1.402)) <= 1.5)
        #expect(target.color == .bt601)
        #expect(target.captureTime.microseconds == 5 && target.presentationTime.microseconds == 6)
    }

    @Test func oddSizesAreCroppedToEven() throws {
        let source = try Self.picture(.i420, 33, 17) { plane, x, y in UInt8(plane * 60 + x + y) }
        let target = try #require(Picture(format: .i420, width: 32, height: 16))
        try PixelConverter.convert(source, to: target)
        #expect(Self.at(target, 0, 31, 15) == 46)
        #expect(Self.at(target, 1, 15, 7) == 82 && Self.at(target, 2, 15, 7) == 142)
        let small = try #require(Picture(format: .i420, width: 30, height: 16))
        #expect(throws: GantryError.self) { try PixelConverter.convert(source, to: small) }
    }

    @Test func nv12IsTakenApart() throws {
        let source = try Self.picture(.nv12, 32, 16) { plane, x, y in
            plane == 0 ? UInt8(x + y) : UInt8(x % 2 == 0 ? 100 + x / 2 : 200 + x / 2)
        }
        let target = try #require(Picture(format: .i420, width: 32, height: 16))
        try PixelConverter.convert(source, to: target)
        #expect(Self.at(target, 1, 5, 3) == 105 && Self.at(target, 2, 5, 3) == 205)
    }

    @Test func turningIsClockwise() throws {
        let source = try Self.picture(.i420, 32, 16) { plane, x, y in plane == 0 ? UInt8(x * 4 + y) : UInt8(x * 8 + y) }
        let quarter = try #require(Picture(format: .i420, width: 16, height: 32))
        try PixelConverter.rotate(source, by: 90, to: quarter)
        // The upper left corner goes to the upper right.
        #expect(Self.at(quarter, 0, 15, 0) == Self.at(source, 0, 0, 0))
        #expect(Self.at(quarter, 0, 15, 31) == Self.at(source, 0, 31, 0))
        #expect(Self.at(quarter, 1, 7, 15) == Self.at(source, 1, 15, 0))
        try PixelConverter.rotate(source, by: 270, to: quarter)
        #expect(Self.at(quarter, 0, 0, 31) == Self.at(source, 0, 0, 0))
        let half = try #require(Picture(format: .i420, width: 32, height: 16))
        try PixelConverter.rotate(source, by: 180, to: half)
        #expect(Self.at(half, 0, 31, 15) == Self.at(source, 0, 0, 0))
        #expect(throws: GantryError.self) { try PixelConverter.rotate(source, by: 45, to: half) }
        #expect(throws: GantryError.self) { try PixelConverter.rotate(source, by: 90, to: half) }
    }

    @Test func scalingKeepsTheShape() throws {
        let source = try Self.picture(.i420, 64, 32) { plane, _, _ in plane == 0 ? 200 : 90 }
        let target = try #require(Picture(format: .i420, width: 32, height: 32))
        try PixelConverter.scale(source, to: target)
        #expect(Self.at(target, 0, 16, 16) == 200 && Self.at(target, 1, 8, 8) == 90)
        #expect(Self.at(target, 0, 16, 2) == 16 && Self.at(target, 1, 8, 1) == 128)
        #expect(Self.at(target, 0, 16, 29) == 16)
    }

    @Test(arguments: [
        (1920, 1080, 1280, 720), (4, 3, 1280, 720), (720, 1280, 1280, 720), (1, 8192, 320, 180), (8192, 1, 320, 180),
        (853, 480, 854, 480),
    ]) func fitsStayInsideAndEven(w: Int, h: Int, outerWidth: Int, outerHeight: Int) {
        let area = PixelConverter.fit(width: w, height: h, into: (outerWidth, outerHeight))
        #expect([area.x, area.y, area.width, area.height].allSatisfy { $0 % 2 == 0 })
        #expect(area.x >= 0 && area.x + area.width <= outerWidth && area.width >= 2)
        #expect(area.y >= 0 && area.y + area.height <= outerHeight && area.height >= 2)
        #expect(area.width == outerWidth || area.height == outerHeight)
    }
}
