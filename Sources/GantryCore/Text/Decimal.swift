/// Numbers in text: ASCII digits only, no locale, no exponent, no leading plus.
package enum Decimal {
    /// Nil when it is no whole number or does not fit.
    package static func integer(_ text: some StringProtocol) -> Int? {
        let digits = text.first == "-" ? text.dropFirst() : text[...]
        guard isDigits(digits) else { return nil }
        return Int(text)
    }

    /// `text` × 10^`places`, for text with at most `places` digits behind the point; nil otherwise. Not negative.
    package static func scaled(_ text: some StringProtocol, places: Int) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let whole = parts.first ?? ""
        let fraction = parts.count == 2 ? parts[1] : ""
        guard isDigits(whole), parts.count == 1 || isDigits(fraction), fraction.count <= places else { return nil }
        return Int(String(whole) + String(fraction) + String(repeating: "0", count: places - fraction.count))
    }

    /// At least one digit, 0–9 only.
    package static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
    }
}
