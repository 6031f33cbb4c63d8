extension MediaDuration {
    /// From `10` (seconds), `1.5s`, `1m30s`, `2h`, `500ms`. Units in falling order, each once; at most 1000 hours.
    package init?(text: String) {
        var rest = text[...]
        var total = 0
        var previousUnit = Int.max
        repeat {
            let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let name = rest.dropFirst(number.count).prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(number.count + name.count)
            guard let unit = Self.unit(String(name)), unit < previousUnit,
                // A bare number must stand alone: "1m30" may be minutes and seconds, or a slip.
                !name.isEmpty || total == 0 && previousUnit == Int.max && rest.isEmpty,
                let thousandths = Decimal.scaled(number, places: 3), thousandths <= 3_600_000_000
            else { return nil }
            let (value, overflow) = thousandths.multipliedReportingOverflow(by: unit)
            guard !overflow else { return nil }
            total &+= value / 1000
            guard total <= 3_600_000_000_000 else { return nil }
            previousUnit = unit
        } while !rest.isEmpty
        self.init(microseconds: Int64(total))
    }

    /// Microseconds in a unit.
    private static func unit(_ name: String) -> Int? {
        switch name {
        case "h": 3_600_000_000
        case "m", "min": 60_000_000
        case "", "s": 1_000_000
        case "ms": 1000
        default: nil
        }
    }
}
