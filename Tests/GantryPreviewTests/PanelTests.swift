import GantryCore
import GantryMedia
import StudioKit
import Testing

@testable import GantryPreview

/// What is drawn over the picture, without a window.
@Suite struct PanelTests {
    private static func colors(_ canvas: Canvas) -> Set<Canvas.Color> { Set(canvas.pixels) }

    private static func figures() -> StatisticsPanel.Figures {
        var figures = StatisticsPanel.Figures()
        figures.producer = String(repeating: "W", count: 300)
        figures.now.width = 1280
        figures.now.height = 720
        figures.now.framesLost = .max
        figures.framesPerSecond = .infinity
        figures.bitrate = -.infinity
        return figures
    }

    @Test(arguments: [(640, 360), (1280, 720), (1920, 1080), (160, 90), (7680, 4320)])
    func thePanelFitsTheWindow(width: Int, height: Int) {
        let scale = PanelStyle.scale(width: width, height: height)
        let canvas = Canvas()
        var history = LatencyHistory()
        for count in 0..<1000 { history.add(decoded: .milliseconds(Int64(count % 40)), shown: .milliseconds(50)) }
        let level = HeldLevels.Level(peak: -20, hold: -3)
        StatisticsPanel.draw(Self.figures(), &history, (level, level), on: canvas, scale: scale)
        #expect(canvas.pixels.count == canvas.width * canvas.height)
        if width >= 640 {
            #expect(canvas.width <= width / 2 + 20 && canvas.height <= height / 2, "\(canvas.width)x\(canvas.height)")
        }
        TextPanel.drawHelp(on: canvas, scale: scale)
        if width >= 640 { #expect(canvas.width < width && canvas.height < height) }
        TextPanel.draw(
            [(String(repeating: "long ", count: 100), PanelStyle.bright)], on: canvas, scale: scale, width: width)
        #expect(canvas.width <= max(width, 2 * PanelStyle.margin + BitmapFont.advance))
    }

    @Test func thePlotShowsHowLongPicturesTook() {
        let canvas = Canvas()
        var history = LatencyHistory()
        // 10 ms until decoded, 20 ms in all: in a plot of 20 ms a half and the whole of its height.
        for _ in 0..<LatencyHistory.capacity { history.add(decoded: .milliseconds(10), shown: .milliseconds(20)) }
        StatisticsPanel.draw(StatisticsPanel.Figures(), &history, nil, on: canvas, scale: 1)
        let left = PanelStyle.margin + StatisticsPanel.width / 2
        let column = (0..<canvas.height).map { canvas.pixels[$0 * canvas.width + left] }
        #expect(abs(column.count { $0 == PanelStyle.good } - StatisticsPanel.plotHeight / 2) <= 3)
        #expect(abs(column.count { $0 == PanelStyle.fair } - StatisticsPanel.plotHeight / 2) <= 3)
    }

    @Test func whatLiesOutsideIsLeftOut() {
        let canvas = Canvas()
        canvas.begin(width: 10, height: 10, 1)
        canvas.fill(.init(x: -5, y: -5, width: 7, height: 7), 2)
        canvas.fill(.init(x: 8, y: 8, width: 100, height: 100), 3)
        canvas.fill(.init(x: 20, y: 20, width: 1, height: 1), 4)
        canvas.fill(.init(x: 3, y: 3, width: -1, height: -1), 5)
        #expect(canvas.pixels.count { $0 == 2 } == 4 && canvas.pixels.count { $0 == 3 } == 4)
        #expect(Self.colors(canvas) == [1, 2, 3])
        canvas.text("Far outside", x: -3, y: -3, scale: 2, 6)
        #expect(Self.colors(canvas).contains(6))
    }

    @Test func lettersAreThoseOfTheFont() {
        let canvas = Canvas()
        canvas.begin(width: 40, height: 8, 0)
        canvas.text("Il", x: 0, y: 0, scale: 1, 1)
        for (number, letter) in "Il".enumerated() {
            for (row, bits) in BitmapFont.glyph(letter).enumerated() {
                for column in 0..<BitmapFont.columns {
                    let isSet = canvas.pixels[row * 40 + number * BitmapFont.advance + column] == 1
                    #expect(isSet == (bits >> UInt8(BitmapFont.columns - 1 - column) & 1 == 1))
                }
            }
        }
    }

    @Test func theTitleAndTheNotesSayWhatIsGoingOn() {
        var content = PreviewState.Content()
        #expect(PreviewNotes.title(content) == "Gantry")
        content.producer = "Camera"
        content.format = VideoStreamFormat(
            codec: .h264, width: 1280, height: 720, frameRate: .fps30, color: .bt709, parameterSets: [])
        #expect(PreviewNotes.title(content) == "Camera · 1280x720 30 fps · Gantry")
        let now = MediaTimestamp(microseconds: 100_000_000)
        #expect(PreviewNotes.lines(content, nil, at: now).isEmpty)
        content.recordingSince = now - .seconds(65)
        content.isProducerPaused = true
        content.isMuted = true
        #expect(PreviewNotes.lines(content, nil, at: now).map(\.text) == ["REC 1:05", "Camera has paused", "MUTED"])
    }
}
