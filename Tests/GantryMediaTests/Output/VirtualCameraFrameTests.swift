import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

/// What is written for a picture, byte by byte.
@Suite struct VirtualCameraFrameTests {
    private static func layout(
        _ pixels: VirtualCameraLayout.Pixels = .yuyv, _ width: Int = 64, _ height: Int = 32
    ) throws -> VirtualCameraLayout {
        try #require(VirtualCameraLayout(pixels: pixels, width: width, height: height))
    }

    /// Y, Cb, Cr of a pixel.
    private static func sample(_ frame: VirtualCameraFrame, _ x: Int, _ y: Int) -> [Int] {
        let (width, height) = (frame.layout.width, frame.layout.height)
        let bytes = frame.picture
        let luma = width * height
        let chroma = y / 2 * (width / 2) + x / 2
        switch frame.layout.pixels {
        case .yuyv:
            let pair = y * width * 2 + x / 2 * 4
            return [bytes[pair + x % 2 * 2], bytes[pair + 1], bytes[pair + 3]].map(Int.init)
        case .yu12:
            return [bytes[y * width + x], bytes[luma + chroma], bytes[luma + luma / 4 + chroma]].map(Int.init)
        case .nv12:
            return [bytes[y * width + x], bytes[luma + 2 * chroma], bytes[luma + 2 * chroma + 1]].map(Int.init)
        }
    }

    private static func isNear(_ a: [Int], _ b: [Int], _ tolerance: Int) -> Bool {
        zip(a, b).allSatisfy { abs($0 - $1) <= tolerance }
    }

    @Test(arguments: VirtualCameraLayout.Pixels.allCases)
    func whatIsBT601AlreadyIsCopied(pixels: VirtualCameraLayout.Pixels) throws {
        let frame = VirtualCameraFrame(try Self.layout(pixels))
        #expect(frame.picture.count == 64 * 32 * (pixels == .yuyv ? 4 : 3) / 2)
        let picture = try PixelConverterTests.picture(.i420, 64, 32) { plane, x, y in
            UInt8(plane == 0 ? 20 + x + 2 * y : 60 * plane + x + y)
        }
        #expect(picture.color == .bt601)
        try frame.fill(picture)
        for (x, y) in [(0, 0), (1, 0), (2, 1), (63, 31), (30, 17)] {
            #expect(Self.sample(frame, x, y) == [20 + x + 2 * y, 60 + x / 2 + y / 2, 120 + x / 2 + y / 2])
        }
    }

    /// Colours of a matrix and range, by its formula, come out as the same colours in BT.601 limited.
    @Test(
        arguments: [
            (UInt8(1), false, 0.2126, 0.0722), (1, true, 0.2126, 0.0722), (6, true, 0.299, 0.114),
            (9, false, 0.2627, 0.0593),
        ], VirtualCameraLayout.Pixels.allCases)
    func otherMatricesBecomeBT601(
        color: (matrix: UInt8, isFull: Bool, kr: Double, kb: Double), pixels: VirtualCameraLayout.Pixels
    ) throws {
        let frame = VirtualCameraFrame(try Self.layout(pixels))
        for rgb in [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 1.0, 1.0), (0.3, 0.6, 0.5)] {
            let source = Self.yuv(rgb, color.kr, color.kb, isFull: color.isFull)
            let picture = try PixelConverterTests.picture(.i420, 64, 32) { plane, _, _ in UInt8(source[plane]) }
            picture.color = ColorDescription(primaries: 1, transfer: 1, matrix: color.matrix, isFullRange: color.isFull)
            try frame.fill(picture)
            let expected = Self.yuv(rgb, 0.299, 0.114, isFull: false)
            let got = Self.sample(frame, 31, 16)
            // libyuv's tables end at 2.0, so the purest blue loses a little.
            let isPure = rgb.0 == 0 || rgb.1 == 0
            #expect(Self.isNear(got, expected, isPure ? 8 : 2), "\(rgb): \(got) instead of \(expected)")
        }
    }

    private static func yuv(_ rgb: (Double, Double, Double), _ kr: Double, _ kb: Double, isFull: Bool) -> [Int] {
        let luma = kr * rgb.0 + (1 - kr - kb) * rgb.1 + kb * rgb.2
        let (cb, cr) = ((rgb.2 - luma) / (2 - 2 * kb), (rgb.0 - luma) / (2 - 2 * kr))
        return isFull
            ? [255 * luma, 128 + 255 * cb, 128 + 255 * cr].map { Int(min(255, $0.rounded())) }
            : [16 + 219 * luma, 128 + 224 * cb, 128 + 224 * cr].map { Int($0.rounded()) }
    }

    /// Another shape: black bars of equal width, the picture between them, nothing cut off.
    @Test(arguments: [(320, 240), (320, 180), (180, 320), (1280, 720), (90, 160)])
    func picturesAreShownWholeInTheMiddle(size: (width: Int, height: Int)) throws {
        let frame = VirtualCameraFrame(try Self.layout(.yuyv, 320, 180))
        let source = try PixelConverterTests.picture(.i420, size.width, size.height) { plane, _, _ in
            plane == 0 ? 180 : 90
        }
        source.color = .bt601
        try frame.fill(source)
        let area = PixelConverter.fit(width: size.width, height: size.height, into: (320, 180))
        for x in 0..<320 {
            for y in [0, 1, 89, 90, 178, 179] {
                let isInside = area.x..<area.x + area.width ~= x && area.y..<area.y + area.height ~= y
                let expected = isInside ? [180, 90, 90] : [16, 128, 128]
                let got = Self.sample(frame, x, y)
                #expect(Self.isNear(got, expected, 1), "\(x),\(y): \(got) instead of \(expected)")
            }
        }
        #expect(abs(area.x - (320 - area.x - area.width)) <= 2)
        #expect(abs(area.y - (180 - area.y - area.height)) <= 2)
    }

    /// Pooled pictures and other sizes in turn.
    @Test func sizesMayChangeAtAnyTime() throws {
        let frame = VirtualCameraFrame(try Self.layout(.yuyv, 64, 48))
        for (width, height) in [(64, 48), (16, 16), (640, 480), (33, 17), (64, 48), (1, 1), (2048, 1536)] {
            let source = try PixelConverterTests.picture(.i420, width, height) { plane, _, _ in
                plane == 0 ? 100 : 128
            }
            source.color = .bt601
            try frame.fill(source)
            #expect(abs(Self.sample(frame, 32, 24)[0] - 100) <= 1)
        }
        let nv12 = try PixelConverterTests.picture(.nv12, 64, 48) { plane, _, _ in plane == 0 ? 77 : 140 }
        nv12.color = .bt601
        try frame.fill(nv12)
        #expect(Self.sample(frame, 3, 3) == [77, 140, 140])
    }

    @Test func layoutsAreChecked() {
        #expect(VirtualCameraLayout(width: 1280, height: 720)?.byteCount == 1280 * 720 * 2)
        #expect(VirtualCameraLayout(width: 641, height: 480) == nil)
        #expect(VirtualCameraLayout(width: 640, height: 481) == nil)
        #expect(VirtualCameraLayout(width: 46, height: 32) == nil)
        #expect(VirtualCameraLayout(width: 48, height: 30) == nil)
        #expect(VirtualCameraLayout(width: 8194, height: 720) == nil)
    }
}
