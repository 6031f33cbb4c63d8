import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct VirtualCameraCardTests {
    private static func draw(_ card: VirtualCameraCard, _ width: Int, _ height: Int) throws -> Picture {
        let picture = try #require(Picture(format: .i420, width: width, height: height, color: .bt601))
        card.draw(on: picture)
        return picture
    }

    /// The box around everything brighter than `luma`.
    private static func bounds(
        _ picture: Picture, brighterThan luma: UInt8
    ) -> (left: Int, top: Int, right: Int, bottom: Int)? {
        var found: (left: Int, top: Int, right: Int, bottom: Int)?
        for y in 0..<picture.height {
            for x in 0..<picture.width where picture.plane(0)[y * picture.stride(0) + x] > luma {
                guard let box = found else {
                    found = (x, y, x, y)
                    continue
                }
                found = (min(box.left, x), box.top, max(box.right, x), y)
            }
        }
        return found
    }

    @Test(arguments: [(1280, 720), (640, 480), (1920, 1080), (320, 180), (48, 32), (720, 1280)])
    func theTitleLiesInTheMiddle(size: (width: Int, height: Int)) throws {
        let picture = try Self.draw(VirtualCameraCard(), size.width, size.height)
        let box = try #require(Self.bounds(picture, brighterThan: 150))
        #expect(abs(box.left - (size.width - 1 - box.right)) <= 1 + size.width / 100)
        #expect(abs(box.top - (size.height - 1 - box.bottom)) <= 1 + size.height / 100)
        #expect(box.left > 0 && box.top > 0)
    }

    /// Crisp: every sample is one of the few greys of the design.
    @Test func lettersHaveHardEdges() throws {
        let picture = try Self.draw(VirtualCameraCard(detail: "Waiting for Küche…"), 1280, 720)
        var values: Set<UInt8> = []
        for y in 0..<picture.height {
            for x in 0..<picture.width { values.insert(picture.plane(0)[y * picture.stride(0) + x]) }
        }
        #expect(values == [30, 62, 84, 128, 200])
    }

    @Test func longNamesAreCutAndStayInside() throws {
        let name = String(repeating: "W", count: 500)
        for (width, height) in [(320, 180), (48, 32)] {
            let picture = try Self.draw(VirtualCameraCard(title: name, detail: name), width, height)
            let box = try #require(Self.bounds(picture, brighterThan: 100))
            #expect(box.left >= 1 && box.right <= width - 2)
        }
    }

    @Test func everyTextCanBeDrawn() throws {
        for text in ["", " ", "日本語 🎥", "e\u{301}", "\u{0}\u{7}", String(repeating: "\u{200B}", count: 9)] {
            _ = try Self.draw(VirtualCameraCard(title: text, detail: text), 320, 180)
        }
        #expect(BitmapFont.glyph("é") == BitmapFont.glyph("e"))
        #expect(BitmapFont.glyph("e\u{301}") == BitmapFont.glyph("e"))
        #expect(BitmapFont.glyph("Ø") == BitmapFont.glyph("O"))
        #expect(BitmapFont.glyph("日") != BitmapFont.glyph("?"))
    }

    /// All that can stand in a plain name has a letter of its own.
    @Test func asciiIsComplete() {
        let glyphs = (32...126).map { BitmapFont.glyph(Character(UnicodeScalar(UInt8($0)))) }
        #expect(Set(glyphs).count == 95)
        #expect(glyphs.allSatisfy { $0.count == BitmapFont.rows && $0.allSatisfy { $0 < 32 } })
    }

    /// An independent reader of letters would be better; this writes the pictures to look at them.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["GANTRY_CARDS"] != nil)) func cardsToLookAt() throws {
        let folder = ProcessInfo.processInfo.environment["GANTRY_CARDS"] ?? ""
        let letters = String((33...126).map { Character(UnicodeScalar(UInt8($0))) })
        for (name, card, width, height) in [
            ("720", VirtualCameraCard(detail: "Waiting for Studio camera 1…"), 1280, 720),
            ("480", VirtualCameraCard(detail: "Küche has paused"), 640, 480),
            ("180", VirtualCameraCard(detail: "Waiting for pi-7.local…"), 320, 180),
            ("tall", VirtualCameraCard(detail: "Waiting for phone…"), 720, 1280),
            ("plain", VirtualCameraCard(), 1920, 1080),
            (
                "letters", VirtualCameraCard(title: String(letters.prefix(47)), detail: String(letters.suffix(47))),
                1920, 400
            ),
        ] {
            let picture = try Self.draw(card, width, height)
            try PNGSnapshot.write(picture, to: "\(folder)/card-\(name).png")
        }
    }
}
