/// Latency over time and how it is distributed, as a picture in SVG 1.1. Pure.
package struct LatencyPlot: Sendable {
    package struct Point: Sendable {
        package let seconds: Double
        package let milliseconds: Double

        package init(seconds: Double, milliseconds: Double) {
            self.seconds = seconds
            self.milliseconds = milliseconds
        }
    }

    private let title: String
    private let points: [Point]
    /// Horizontal lines with a name, in milliseconds.
    private let marks: [(name: String, milliseconds: Double)]
    private let top: Double
    private let length: Double

    private static let (width, height) = (900.0, 360.0)
    private static let (left, above, below) = (56.0, 44.0, 40.0)
    private static let (curveWidth, gap, barWidth) = (560.0, 24.0, 180.0)
    private static let bins = 40
    private static let lineHeight = 13.0

    /// - Parameter title: any text.
    package init(title: String, points: [Point], marks: [(name: String, milliseconds: Double)]) {
        self.title = title
        self.points = points.filter { $0.seconds.isFinite && $0.milliseconds.isFinite }
        self.marks = marks
        top = Sparkline.top(of: self.points.map(\.milliseconds))
        length = max(1, self.points.map(\.seconds).max() ?? 1)
    }

    package var svg: String {
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.text(Self.width))" height="\(Self.text(Self.height))" \
        viewBox="0 0 \(Self.text(Self.width)) \(Self.text(Self.height))" font-family="sans-serif" font-size="12">
        <rect width="100%" height="100%" fill="#ffffff"/>
        <text x="\(Self.text(Self.left))" y="26" font-size="15" fill="#222222">\(Self.escaped(title))</text>

        """ + axes + curve + histogram + lines + "</svg>\n"
    }

    // MARK: Parts

    private var axes: String {
        var text = ""
        for step in 0...5 {
            let value = top * Double(step) / 5
            text += line(Self.left, y(value), Self.left + Self.curveWidth, y(value), "#dddddd")
            text += label("\(Figures.decimal(value, places: 0))", Self.left - 8, y(value) + 4, anchor: "end")
        }
        for step in 0...5 {
            let value = length * Double(step) / 5
            text += label(Figures.decimal(value, places: length < 10 ? 1 : 0), x(value), Self.height - 20)
        }
        text += label("seconds", Self.left + Self.curveWidth / 2, Self.height - 4)
        text += label("ms", Self.left - 8, Self.above - 8, anchor: "end")
        return text + label("pictures", barLeft + Self.barWidth / 2, Self.height - 20)
    }

    private var curve: String {
        guard !points.isEmpty else { return "" }
        let path = points.map { "\(Self.text(x($0.seconds))),\(Self.text(y($0.milliseconds)))" }
        return
            "<polyline fill=\"none\" stroke=\"#2b6cb0\" stroke-width=\"1\" points=\"\(path.joined(separator: " "))\"/>\n"
    }

    private var histogram: String {
        var counts = [Int](repeating: 0, count: Self.bins)
        for point in points {
            counts[min(Self.bins - 1, Int(min(1, max(0, point.milliseconds / top)) * Double(Self.bins)))] += 1
        }
        guard let most = counts.max(), most > 0 else { return "" }
        let height = (Self.height - Self.above - Self.below) / Double(Self.bins)
        return counts.enumerated().filter { $0.element > 0 }.map { bin, count in
            "<rect x=\"\(Self.text(barLeft))\" y=\"\(Self.text(y(top * Double(bin + 1) / Double(Self.bins)) + 0.5))\" "
                + "width=\"\(Self.text(max(1, Self.barWidth * Double(count) / Double(most))))\" "
                + "height=\"\(Self.text(height - 1))\" fill=\"#90b4d8\"/>\n"
        }.joined()
    }

    /// Names that would stand upon each other are moved apart.
    private var lines: String {
        var text = ""
        var lowest = 0.0
        for mark in marks.sorted(by: { $0.milliseconds > $1.milliseconds }) {
            let place = y(mark.milliseconds)
            lowest = max(place + 4, lowest + Self.lineHeight)
            text += line(Self.left, place, barLeft + Self.barWidth, place, "#c05621")
            text += label(
                "\(mark.name) \(Figures.decimal(mark.milliseconds, places: 1))", barLeft + Self.barWidth + 6, lowest,
                anchor: "start")
        }
        return text
    }

    // MARK: Pieces

    private var barLeft: Double { Self.left + Self.curveWidth + Self.gap }

    private func x(_ seconds: Double) -> Double {
        Self.left + min(1, max(0, seconds / length)) * Self.curveWidth
    }

    private func y(_ milliseconds: Double) -> Double {
        let room = Self.height - Self.above - Self.below
        return Self.above + room - min(1, max(0, milliseconds / top)) * room
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ color: String) -> String {
        "<line x1=\"\(Self.text(x1))\" y1=\"\(Self.text(y1))\" x2=\"\(Self.text(x2))\" y2=\"\(Self.text(y2))\" "
            + "stroke=\"\(color)\"/>\n"
    }

    private func label(_ text: String, _ x: Double, _ y: Double, anchor: String = "middle") -> String {
        "<text x=\"\(Self.text(x))\" y=\"\(Self.text(y))\" text-anchor=\"\(anchor)\" fill=\"#444444\">\(Self.escaped(text))</text>\n"
    }

    private static func text(_ number: Double) -> String { Figures.decimal(number, places: 1) }

    private static func escaped(_ text: String) -> String {
        TextCells.printable(text).reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}
