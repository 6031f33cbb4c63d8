import GantryCore

/// Bits a second over about the last two seconds, from a count of bytes that is looked at now and then. A value.
struct RateMeter {
    private static let samples = 9

    private var recent: [(time: MediaTimestamp, bytes: Int)] = []

    mutating func add(bytes: Int, at time: MediaTimestamp) {
        if recent.count >= Self.samples { recent.removeFirst() }
        recent.append((time, bytes))
    }

    var bitsPerSecond: Int {
        guard let first = recent.first, let last = recent.last, last.time > first.time else { return 0 }
        let bits = Double(max(0, last.bytes - first.bytes)) * 8
        return Int(exactly: (bits / (last.time - first.time).seconds).rounded()) ?? 0
    }
}
