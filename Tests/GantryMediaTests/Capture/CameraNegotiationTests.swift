import GantryCore
import Testing

@testable import GantryMedia

@Suite struct CameraNegotiationTests {
    private func offer(_ pixels: CameraPixels, _ width: Int, _ height: Int, _ rate: UInt32?) -> CameraOffer {
        CameraOffer(
            pixels: pixels, width: width...width, height: height...height, frameRate: rate.flatMap { FrameRate($0) })
    }

    @Test func aFormatHasFourLetters() {
        // v4l2_fourcc('Y', 'U', 'Y', 'V')
        #expect(FourCC("YUYV").rawValue == 0x5659_5559)
        #expect(FourCC("Y16").description == "Y16")
        #expect(FourCC(rawValue: 0x0001_5559).description == "YU..")
        #expect(CameraPixels(FourCC("MJPG")) == .mjpeg)
        #expect(CameraPixels(FourCC("H264")) == .h264)
        #expect(CameraPixels(FourCC("BA81")) == nil)
    }

    @Test func aWebcamGivesJPEGWhereRawIsSlow() {
        // What a common USB 2 camera lists.
        let offers = [
            offer(.yuyv, 640, 480, 30), offer(.yuyv, 1280, 720, 10), offer(.yuyv, 1920, 1080, 5),
            offer(.mjpeg, 640, 480, 30), offer(.mjpeg, 1280, 720, 30), offer(.mjpeg, 1920, 1080, 30),
        ]
        #expect(CameraNegotiation.choose(offers, wish: CameraWish()) == mode(.mjpeg, 1280, 720, 30))
        let slow = CameraWish(width: 1280, height: 720, frameRate: FrameRate(10) ?? .fps30)
        #expect(CameraNegotiation.choose(offers, wish: slow) == mode(.yuyv, 1280, 720, 10))
        #expect(
            CameraNegotiation.choose(offers, wish: CameraWish(width: 640, height: 480)) == mode(.yuyv, 640, 480, 30))
        #expect(
            CameraNegotiation.choose(offers, wish: CameraWish(width: 4000, height: 3000))
                == mode(.mjpeg, 1920, 1080, 30))
    }

    private func mode(_ pixels: CameraPixels, _ width: Int, _ height: Int, _ rate: UInt32) -> CameraMode {
        CameraMode(pixels: pixels, width: width, height: height, frameRate: FrameRate(rate))
    }

    @Test func theShapeDecidesAmongEqualAreas() {
        let offers = [offer(.nv12, 720, 1280, 30), offer(.nv12, 1280, 720, 30)]
        #expect(CameraNegotiation.choose(offers, wish: CameraWish())?.width == 1280)
    }

    @Test func sizesInStepsAreKept() {
        let offer = CameraOffer(pixels: .yu12, width: 48...1999, height: 32...1001, widthStep: 16, heightStep: 4)
        #expect(offer.size(nearest: CameraWish(width: 1280, height: 720)) == (1280, 720))
        #expect(offer.size(nearest: CameraWish(width: 1290, height: 723)) == (1280, 720))
        #expect(offer.size(nearest: CameraWish(width: 1, height: 9000)) == (48, 1000))
    }

    @Test func impossibleSizesAreLeftOut() {
        #expect(CameraNegotiation.choose([], wish: CameraWish()) == nil)
        let wrong = [offer(.yuyv, 0, 0, 30), offer(.yuyv, 8, 480, 30), offer(.yuyv, 100_000, 2, 30)]
        #expect(CameraNegotiation.choose(wrong, wish: CameraWish()) == nil)
        #expect(CameraNegotiation.choose(wrong + [offer(.grey, 160, 120, nil)], wish: CameraWish())?.width == 160)
    }

    /// Colour spaces, encodings and quantizations by their numbers in linux/videodev2.h.
    @Test func coloursFollowTheHeader() {
        func color(_ pixels: CameraPixels, _ space: UInt32, _ encoding: UInt32, _ range: UInt32) -> ColorDescription {
            CameraNegotiation.color(pixels: pixels, colorspace: space, encoding: encoding, quantization: range)
        }
        // sRGB, what UVC cameras say: BT.601 matrix, limited.
        #expect(color(.yuyv, 8, 0, 0) == ColorDescription(primaries: 1, transfer: 1, matrix: 6))
        #expect(color(.nv12, 3, 0, 0) == .bt709)
        #expect(color(.nv12, 3, 1, 1).matrix == 6)
        #expect(color(.nv12, 3, 1, 1).isFullRange)
        #expect(color(.yu12, 1, 0, 2) == .bt601)
        #expect(color(.mjpeg, 7, 0, 0).isFullRange)
        #expect(color(.mjpeg, 3, 2, 2).matrix == 6)
        #expect(!color(.bgr24, 8, 0, 1).isFullRange)
        #expect(color(.yuyv, 7, 0, 0).isFullRange)
        #expect(color(.grey, 8, 0, 0).isFullRange)
        #expect(!color(.grey, 8, 0, 2).isFullRange)
        #expect(color(.yuyv, 99, 99, 99) == ColorDescription(primaries: 1, transfer: 1, matrix: 6))
    }
}
