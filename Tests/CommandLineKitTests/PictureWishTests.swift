import GantryCore
import Testing

@testable import CommandLineKit

@Suite struct PictureWishTests {
    @Test func sizeRateOrBoth() {
        #expect(PictureWish("640x480")?.size == PixelSize(width: 640, height: 480))
        #expect(PictureWish("640x480")?.frameRate == nil)
        #expect(PictureWish("@15")?.frameRate == FrameRate(15))
        #expect(PictureWish("@15")?.size == nil)
        let both = PictureWish("1280x720@29.97")
        #expect(both?.size == PixelSize(width: 1280, height: 720))
        #expect(both?.frameRate == FrameRate(30000, 1001))
    }

    @Test(arguments: ["", "@", "640", "640x", "x480", "640x480@", "@0", "640x480@15@15", "640x480 @15", "15"])
    func anythingElseIsNoWish(text: String) {
        #expect(PictureWish(text) == nil)
    }
}
