/// Bits a second in text; the suffixes are powers of ten, as everywhere in networking.
package enum Bitrate {
    /// From `6M`, `2.5M`, `800k`, `500000`. Nil when it is none, or a fraction of a bit.
    package static func parse(_ text: String) -> Int? {
        switch text.last {
        case "k", "K": Decimal.scaled(text.dropLast(), places: 3)
        case "m", "M": Decimal.scaled(text.dropLast(), places: 6)
        default: Decimal.scaled(text, places: 0)
        }
    }

    /// As short as it goes with one digit behind the point: `6M`, `2.5M`, `800k`, `999`.
    package static func text(_ bitsPerSecond: Int) -> String {
        if bitsPerSecond >= 1_000_000 { return scaled(bitsPerSecond, 1_000_000) + "M" }
        if bitsPerSecond >= 1000 { return scaled(bitsPerSecond, 1000) + "k" }
        return "\(bitsPerSecond)"
    }

    /// For people: `6 Mbit/s`, `800 kbit/s`, `0 bit/s`.
    package static func rate(_ bitsPerSecond: Int) -> String {
        let short = text(bitsPerSecond)
        guard let unit = short.last, unit.isLetter else { return "\(short) bit/s" }
        return "\(short.dropLast()) \(unit)bit/s"
    }

    private static func scaled(_ value: Int, _ unit: Int) -> String {
        let tenths = value / (unit / 10)
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
