/// Figures for people, with a fixed number of decimals.
package enum Figures {
    /// "7.3": microseconds as milliseconds with one decimal.
    package static func milliseconds(_ microseconds: Int) -> String {
        decimal(Double(microseconds) / 1000, places: 1)
    }

    /// A number with `places` decimals, 0…6; "-" for what is no number.
    package static func decimal(_ value: Double, places: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "-" }
        let scale = (0..<max(0, min(6, places))).reduce(1) { product, _ in product * 10 }
        let scaled = Int((abs(value) * Double(scale)).rounded())
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard scale > 1 else { return "\(sign)\(scaled)" }
        let fraction = String(scaled % scale)
        let zeros = String(repeating: "0", count: String(scale).count - 1 - fraction.count)
        return "\(sign)\(scaled / scale).\(zeros)\(fraction)"
    }

    /// "1 frame", "2 frames".
    package static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
