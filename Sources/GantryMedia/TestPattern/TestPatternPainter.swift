import GantryCore
import Glibc

/// Draws the test pattern in I420, BT.709 limited. Owned by one thread; allocates in `init` only.
///
/// The still parts are in each pooled picture from the start (`prepare`); `draw` repaints only the time code and the
/// lower band.
struct TestPatternPainter {
    let layout: TestPatternLayout
    private let width: Int

    /// Nil when the picture is too small.
    init?(width: Int, height: Int) {
        guard let layout = TestPatternLayout(width: width, height: height) else { return nil }
        self.layout = layout
        self.width = width
    }

    /// A picture with the still parts.
    static func prepare(width: Int, height: Int) -> Picture? {
        guard let layout = TestPatternLayout(width: width, height: height),
            let picture = Picture(format: .i420, width: width, height: height, color: .bt709)
        else { return nil }
        fill(layout.code, ColorBars.Color(y: TimeCode.black, cb: 128, cr: 128), in: picture)
        fill(layout.band, ColorBars.Color(y: TimeCode.black, cb: 128, cr: 128), in: picture)
        for (index, color) in ColorBars.colors.enumerated() { fill(layout.bar(index), color, in: picture) }
        return picture
    }

    /// - Parameters:
    ///   - time: On the pattern's time line.
    ///   - isFlash: Whether this is the first picture at or after a full second.
    ///   - capture: Goes into the time code.
    func draw(
        on picture: Picture, frameNumber: UInt32, time: MediaDuration, isFlash: Bool, capture: MediaTimestamp
    ) {
        fillLuma(layout.band, TimeCode.black, in: picture)
        fillLuma(layout.flash, isFlash ? TimeCode.white : 64, in: picture)
        drawClock(time, on: picture)
        drawSquare(time, on: picture)
        TimeCode.draw(on: picture, frameNumber: frameNumber, capture: capture)
    }

    /// The square crosses the picture in 4 s and turns back, in steps of whole pixels.
    private func drawSquare(_ time: MediaDuration, on picture: Picture) {
        let way = Int64(max(1, width - layout.side))
        let period: Int64 = 8_000_000
        let phase = (time.microseconds % period + period) % period
        let x = (phase < period / 2 ? phase : period - phase) * way / (period / 2)
        var area = layout.track
        area.x = Int(x)
        area.width = layout.side
        fillLuma(area, TimeCode.white, in: picture)
    }

    /// HH:MM:SS.mmm in seven-segment digits.
    private func drawClock(_ time: MediaDuration, on picture: Picture) {
        let milliseconds = max(0, time.microseconds) / 1000
        let seconds = milliseconds / 1000
        // 9 digits and 3 separators; a digit is as wide as 3/5 of its height, with a gap of a fifth.
        let cell = min(layout.clock.width / 11, layout.clock.height * 4 / 5)
        let digitHeight = min(layout.clock.height, cell * 5 / 4)
        var x = layout.clock.x
        func digits(_ value: Int64, _ count: Int) {
            var divisor: Int64 = 1
            for _ in 1..<count { divisor *= 10 }
            for _ in 0..<count {
                drawDigit(Int(value / divisor % 10), x: x, size: (cell * 3 / 4, digitHeight), on: picture)
                divisor = max(1, divisor / 10)
                x += cell
            }
        }
        func separator(dots: Int) {
            let dot = max(2, cell / 6)
            for number in 0..<dots {
                let y = layout.clock.y + digitHeight - dot - number * digitHeight / 2
                fillLuma(.init(x: x, y: y, width: dot, height: dot), TimeCode.white, in: picture)
            }
            x += cell / 2
        }
        digits(seconds / 3600 % 100, 2)
        separator(dots: 2)
        digits(seconds / 60 % 60, 2)
        separator(dots: 2)
        digits(seconds % 60, 2)
        separator(dots: 1)
        digits(milliseconds % 1000, 3)
    }

    /// Segments of a digit as bits: top 1, upper left 2, upper right 4, middle 8, lower left 16, lower right 32,
    /// bottom 64.
    private static func segments(_ digit: Int) -> UInt8 {
        switch digit {
        case 0: 0b111_0111
        case 1: 0b010_0100
        case 2: 0b101_1101
        case 3: 0b110_1101
        case 4: 0b010_1110
        case 5: 0b110_1011
        case 6: 0b111_1011
        case 7: 0b010_0101
        case 8: 0b111_1111
        default: 0b110_1111
        }
    }

    private func drawDigit(_ digit: Int, x: Int, size: (width: Int, height: Int), on picture: Picture) {
        let bits = Self.segments(digit)
        let pen = max(1, size.width / 5)
        let half = size.height / 2
        let y = layout.clock.y
        func stroke(_ bit: UInt8, _ dx: Int, _ dy: Int, _ width: Int, _ height: Int) {
            guard bits & bit != 0 else { return }
            fillLuma(.init(x: x + dx, y: y + dy, width: width, height: height), TimeCode.white, in: picture)
        }
        stroke(1, 0, 0, size.width, pen)
        stroke(2, 0, 0, pen, half)
        stroke(4, size.width - pen, 0, pen, half)
        stroke(8, 0, half - pen / 2, size.width, pen)
        stroke(16, 0, half, pen, size.height - half)
        stroke(32, size.width - pen, half, pen, size.height - half)
        stroke(64, 0, size.height - pen, size.width, pen)
    }

    private func fillLuma(_ area: TestPatternLayout.Area, _ value: UInt8, in picture: Picture) {
        Self.fill(area, value, plane: 0, in: picture)
    }

    private static func fill(_ area: TestPatternLayout.Area, _ color: ColorBars.Color, in picture: Picture) {
        fill(area, color.y, plane: 0, in: picture)
        let half = TestPatternLayout.Area(
            x: area.x / 2, y: area.y / 2, width: (area.width + 1) / 2, height: (area.height + 1) / 2)
        fill(half, color.cb, plane: 1, in: picture)
        fill(half, color.cr, plane: 2, in: picture)
    }

    /// Parts outside the picture are left out.
    private static func fill(_ area: TestPatternLayout.Area, _ value: UInt8, plane: Int, in picture: Picture) {
        let left = max(0, area.x)
        let right = min(picture.rowBytes(plane), area.x + area.width)
        let top = max(0, area.y)
        let bottom = min(picture.rows(plane), area.y + area.height)
        guard left < right, top < bottom else { return }
        let stride = picture.stride(plane)
        for row in top..<bottom { memset(picture.plane(plane) + row * stride + left, CInt(value), right - left) }
    }
}
