import CommandLineKit
import GantryCore
import GantryMedia
import StudioKit

/// What `i` shows over the picture: figures in lines, how long each of the last pictures took, and the level of the sound.
struct StatisticsPanel {
    /// What the lines say; the rest is drawn from its own source.
    struct Figures {
        var producer = ""
        var now = StudioStatistics()
        /// Pictures received in a second, and bits; over the last moment.
        var framesPerSecond = 0.0
        var bitrate = 0.0
        /// Pictures that another one has displaced before they were drawn.
        var notShown = 0
        /// Nobody says when what comes by URL was captured: times count from arrival.
        var isCaptureKnown = true
    }

    /// In squares of the letters, without the margin.
    static let width = 50 * BitmapFont.advance
    static let plotHeight = 42
    private static let meterHeight = 6

    private static let behindDecoder = PanelStyle.fair
    private static let untilDecoded = PanelStyle.good

    static func draw(
        _ figures: Figures, _ history: inout LatencyHistory,
        _ levels: (left: HeldLevels.Level, right: HeldLevels.Level)?, on canvas: Canvas, scale: Int
    ) {
        let lines = Self.lines(figures, &history)
        let margin = PanelStyle.margin
        let plotTop = margin + (lines.count + 1) * PanelStyle.line
        let metersTop = plotTop + plotHeight + margin
        let height = metersTop + (levels == nil ? 0 : 2 * PanelStyle.line)
        canvas.begin(width: (width + 2 * margin) * scale, height: height * scale, PanelStyle.ground)
        for (number, line) in lines.enumerated() {
            canvas.text(
                PanelStyle.shortened(line, squares: width), x: margin * scale,
                y: (margin + number * PanelStyle.line) * scale, scale: scale,
                number == 0 ? PanelStyle.bright : PanelStyle.middle)
        }
        drawPlot(
            history, figures.isCaptureKnown,
            Canvas.Area(x: margin * scale, y: plotTop * scale, width: width * scale, height: plotHeight * scale),
            on: canvas, scale: scale)
        guard let levels else { return }
        for (number, level) in [("L", levels.left), ("R", levels.right)].enumerated() {
            drawMeter(level.0, level.1, y: metersTop + number * PanelStyle.line, on: canvas, scale: scale)
        }
    }

    // MARK: Lines

    private static func lines(_ figures: Figures, _ history: inout LatencyHistory) -> [String] {
        func milliseconds(_ microseconds: Int) -> String { CommandLineKit.Figures.milliseconds(microseconds) }
        func decimal(_ value: Double, _ places: Int) -> String { CommandLineKit.Figures.decimal(value, places: places) }
        let now = figures.now
        let all = history.percentiles()
        let window = history.windowPercentiles()
        let lowered = (now.qualityStep ?? 0) > 0 ? "  step \(now.qualityStep ?? 0)" : ""
        return [
            figures.producer,
            "\(now.width)x\(now.height)  \(decimal(figures.framesPerSecond, 1)) fps  "
                + "\(decimal(figures.bitrate / 1e6, 2)) Mbit/s\(lowered)  \(now.udp.units > 0 ? "UDP" : "TCP")",
            "\(figures.isCaptureKnown ? "latency" : "from arrival"), ms: p50 \(milliseconds(Int(all.p50)))  p95 "
                + "\(milliseconds(Int(all.p95)))  p99 \(milliseconds(Int(all.p99)))",
            "decode \(milliseconds(now.decodeTime.p50))  window \(milliseconds(Int(window.p50)))",
            "round trip \(milliseconds(now.roundTrip))  jitter \(milliseconds(now.jitter))",
            "lost \(now.framesLost)  left out \(now.framesDropped)  not shown \(figures.notShown)",
        ]
    }

    // MARK: Plot

    /// A column for each picture, the newest at the right: green until it was decoded, yellow until it was in the window. What
    /// its height stands for is written above.
    private static func drawPlot(
        _ history: LatencyHistory, _ isCaptureKnown: Bool, _ area: Canvas.Area, on canvas: Canvas, scale: Int
    ) {
        canvas.fill(area, PanelStyle.hollow)
        var largest: Int32 = 0
        for age in 0..<history.count { largest = max(largest, history[age]?.shown ?? 0) }
        let full = LatencyHistory.scale(for: largest)
        func pixels(_ microseconds: Int32) -> Int {
            min(area.height, Int(microseconds) * area.height / (Int(full) * 1000))
        }
        for age in 0..<min(history.count, area.width / scale) {
            guard let entry = history[age] else { continue }
            let x = area.x + area.width - (age + 1) * scale
            let shown = max(1, pixels(entry.shown))
            let decoded = min(shown, pixels(entry.decoded))
            let bottom = area.y + area.height
            canvas.fill(Canvas.Area(x: x, y: bottom - shown, width: scale, height: shown - decoded), behindDecoder)
            canvas.fill(Canvas.Area(x: x, y: bottom - decoded, width: scale, height: decoded), untilDecoded)
        }
        for quarter in 1...3 {
            canvas.fill(
                Canvas.Area(x: area.x, y: area.y + area.height * quarter / 4, width: area.width, height: 1),
                PanelStyle.dim)
        }
        legend("\(full) ms", isCaptureKnown, area, on: canvas, scale: scale)
    }

    private static func legend(
        _ full: String, _ isCaptureKnown: Bool, _ area: Canvas.Area, on canvas: Canvas, scale: Int
    ) {
        let y = area.y - PanelStyle.line * scale
        canvas.text(full, x: area.x, y: y, scale: scale, PanelStyle.bright)
        let decoded = "\(isCaptureKnown ? "capture" : "arrival") to decoded"
        let rest = "in window"
        let x = area.x + area.width - (BitmapFont.width(decoded + "  " + rest)) * scale
        canvas.text(decoded, x: x, y: y, scale: scale, untilDecoded)
        canvas.text(
            rest, x: x + BitmapFont.advance * (decoded.count + 2) * scale, y: y, scale: scale, behindDecoder)
    }

    // MARK: Level

    /// From −60 to 0 dB; yellow from −18, red from −6.
    private static func drawMeter(_ name: String, _ level: HeldLevels.Level, y: Int, on canvas: Canvas, scale: Int) {
        let margin = PanelStyle.margin
        let left = margin + 2 * BitmapFont.advance
        let room = width - 2 * BitmapFont.advance - 8 * BitmapFont.advance
        func squares(_ decibels: Float) -> Int {
            Int(max(0, min(1, 1 - decibels / HeldLevels.floor)) * Float(room))
        }
        func bar(_ from: Int, _ to: Int, _ color: Canvas.Color) {
            canvas.fill(
                Canvas.Area(
                    x: (left + from) * scale, y: y * scale, width: max(0, to - from) * scale,
                    height: meterHeight * scale), color)
        }
        canvas.text(name, x: margin * scale, y: y * scale, scale: scale, PanelStyle.middle)
        bar(0, room, PanelStyle.hollow)
        let peak = squares(level.peak)
        let (fair, loud) = (squares(-18), squares(-6))
        bar(0, min(peak, fair), PanelStyle.good)
        bar(fair, min(peak, loud), PanelStyle.fair)
        bar(loud, peak, PanelStyle.bad)
        let hold = squares(level.hold)
        if hold > 0 { bar(hold - 1, hold, PanelStyle.bright) }
        let text =
            level.hold > HeldLevels.floor
            ? CommandLineKit.Figures.decimal(Double(level.hold), places: 1) + " dB" : "silence"
        canvas.text(
            text, x: (left + room + BitmapFont.advance / 2) * scale, y: y * scale, scale: scale, PanelStyle.middle)
    }
}
