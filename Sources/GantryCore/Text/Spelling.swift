/// Finds what somebody may have meant.
package enum Spelling {
    /// The name with the fewest changes, if these are few enough to be a slip: one in three letters, at least one.
    package static func nearest(to word: String, among names: [String]) -> String? {
        let word = word.lowercased()
        guard 1...64 ~= word.count else { return nil }
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = distance(word, name.lowercased())
            let limit = max(1, min(word.count, name.count) / 3)
            if distance <= limit, distance < best?.distance ?? .max { best = (name, distance) }
        }
        return best?.name
    }

    /// Letters to insert, delete, replace, or swap with their neighbour (optimal string alignment).
    static func distance(_ a: String, _ b: String) -> Int {
        let a = Array(a)
        let b = Array(b)
        var older: [Int] = []
        var previous = Array(0...b.count)
        for i in 0..<a.count {
            var row = [i + 1]
            for j in 0..<b.count {
                var cost = min(previous[j] + (a[i] == b[j] ? 0 : 1), previous[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, older[j - 1] + 1) }
                row.append(cost)
            }
            older = previous
            previous = row
        }
        return previous[b.count]
    }
}
