extension FrameRate {
    /// From `30`, `12.5`, `30000/1001`. The usual short forms of the NTSC rates (23.98, 23.976, 29.97, 47.95, 59.94,
    /// 119.88) mean the exact fraction over 1001 (SMPTE ST 170 and ST 296).
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard Decimal.isDigits(parts[0]), Decimal.isDigits(parts[1]), let numerator = UInt32(parts[0]),
                let denominator = UInt32(parts[1])
            else { return nil }
            self.init(numerator, denominator)
            return
        }
        let ntsc: [String: UInt32] = [
            "23.98": 24, "23.976": 24, "29.97": 30, "47.95": 48, "47.952": 48, "59.94": 60, "119.88": 120,
        ]
        if let whole = ntsc[text] {
            self.init(whole * 1000, 1001)
            return
        }
        guard let thousandths = Decimal.scaled(text, places: 3), let numerator = UInt32(exactly: thousandths) else {
            return nil
        }
        var divisor: UInt32 = 1
        for candidate: UInt32 in [1000, 500, 250, 200, 125, 100, 50, 40, 25, 20, 10, 8, 5, 4, 2, 1]
        where numerator % candidate == 0 {
            divisor = candidate
            break
        }
        self.init(numerator / divisor, 1000 / divisor)
    }
}
