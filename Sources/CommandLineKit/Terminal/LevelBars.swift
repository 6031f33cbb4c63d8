/// Level meters of sound, side by side in one line. Pure.
enum LevelBars {
    /// dB of full scale at the left end of a meter.
    private static let least = -60.0
    private static let mostCells = 30

    /// - Parameter levels: one for each channel: left and right, or one.
    static func line(_ levels: [Double], room: Int, _ style: TextStyle) -> ScreenLine {
        let names = levels.count == 2 ? ["L ", "R "] : levels.map { _ in "" }
        // Name, bar, " -60 dB", two blanks between meters.
        let rest = (names.first?.count ?? 0) + 7
        let cells = min(mostCells, (room + 2) / max(1, levels.count) - 2 - rest)
        guard cells >= 4, !levels.isEmpty else {
            return ScreenLine(levels.map { "\(decibels($0)) dB" }.joined(separator: ", "), limit: room)
        }
        let meters = zip(names, levels).map { name, level in
            name + bar(level, cells, style) + TextCells.padded("\(decibels(level)) dB", to: 7, right: true)
        }
        return ScreenLine(meters.joined(separator: "  "), columns: levels.count * (rest + cells + 2) - 2)
    }

    private static func decibels(_ level: Double) -> String {
        Figures.decimal(least * (1 - part(of: level)), places: 0)
    }

    /// Of the whole meter, 0…1; 0 for what is no number.
    private static func part(of level: Double) -> Double {
        level.isNaN ? 0 : min(1, max(0, (level - least) / -least))
    }

    /// Green, yellow from -12 dB, red from -3 dB, as is usual on mixers.
    private static func bar(_ level: Double, _ cells: Int, _ style: TextStyle) -> String {
        func cell(at level: Double) -> Int {
            Int((part(of: level) * Double(cells)).rounded())
        }
        let end = cell(at: level)
        func lit(_ range: Range<Int>) -> String {
            String(repeating: "█", count: max(0, min(end, range.upperBound) - range.lowerBound))
        }
        let (loud, hot) = (cell(at: -12), cell(at: -3))
        return style.good(lit(0..<loud)) + style.warning(lit(loud..<hot)) + style.error(lit(hot..<cells))
            + style.label(String(repeating: "░", count: cells - end))
    }
}
