/// A small curve of bars, one cell wide each. Pure.
package enum Sparkline {
    private static let bars = Array("▁▂▃▄▅▆▇█")

    /// What a bar of full height is worth: the least of 10, 20, 50, 100 … that no value is above.
    package static func top(of values: [Double?]) -> Double {
        let largest = values.reduce(0) { max($0, $1 ?? 0) }
        var top = 10.0
        for factor in [2, 2.5, 2, 2, 2.5, 2, 2, 2.5, 2] where top < largest { top *= factor }
        return top
    }

    /// `cells` bars from 0 to `top`; each is the largest of the values that it stands for, or a blank where none is known.
    package static func text(_ values: [Double?], cells: Int, top: Double) -> String {
        guard cells > 0, !values.isEmpty, top > 0 else { return "" }
        return String(
            (0..<cells).map { cell in
                let first = cell * values.count / cells
                let end = max(first + 1, (cell + 1) * values.count / cells)
                guard let value = values[first..<end].compactMap(\.self).max(), value.isFinite else { return " " }
                let part = min(1, max(0, value / top))
                return bars[min(bars.count - 1, Int(part * Double(bars.count)))]
            })
    }
}
