/// Instance names as DNS-SD has them: one DNS label of UTF-8 (RFC 6763 section 4.1.1).
enum InstanceName {
    /// Bytes of a DNS label (RFC 1035 section 2.3.4).
    static let maximumBytes = 63
    /// Stands where nothing is left of a name.
    static let fallback = "Gantry"

    /// Without NUL, which C strings cannot carry; cut between characters to what a label holds; never empty.
    static func fitting(_ name: String) -> String {
        let cut = prefix(of: String(name.unicodeScalars.filter { $0.value != 0 }.map(Character.init)), maximumBytes)
        return cut.isEmpty ? fallback : cut
    }

    /// The next name to try after a conflict: "Camera" becomes "Camera #2", and that "Camera #3" (the form that Avahi
    /// uses). The number is always whole; the name before it is cut where there is no room.
    static func alternative(to name: String) -> String {
        var base = name[...]
        var next = 2
        if let mark = name.lastIndex(of: "#"), mark > name.startIndex, name[name.index(before: mark)] == " " {
            let digits = name[name.index(after: mark)...]
            if (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
                let number = Int(digits), number >= 2
            {
                next = number &+ 1
                base = name[..<name.index(before: mark)]
            }
        }
        let tail = " #\(next)"
        return prefix(of: String(base), maximumBytes - tail.utf8.count) + tail
    }

    /// As many whole characters as `bytes` hold. One character may be longer than a label (marks without end): then
    /// it is cut between its scalars.
    private static func prefix(of text: String, _ bytes: Int) -> String {
        if text.utf8.count <= bytes { return text }
        var result = ""
        var used = 0
        for character in text {
            used += character.utf8.count
            if used > bytes { break }
            result.append(character)
        }
        if !result.isEmpty { return result }
        var scalars = String.UnicodeScalarView()
        used = 0
        for scalar in text.unicodeScalars {
            used += UTF8.width(scalar)
            if used > bytes { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }
}
