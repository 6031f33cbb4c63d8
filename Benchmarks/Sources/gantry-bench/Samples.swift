/// Measurements in microseconds.
struct Samples {
    private(set) var values: [Int64] = []

    mutating func add(_ value: Int64) { values.append(value) }
    mutating func add(_ other: Samples) { values += other.values }

    var count: Int { values.count }

    /// Nearest rank, in milliseconds; 0 without measurements.
    func percentile(_ percent: Int) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        return Double(sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]) / 1000
    }

    var median: Double { percentile(50) }
}

/// `value` with `places` digits behind the point, `width` characters wide.
func fixed(_ value: Double, _ places: Int = 2, width: Int = 0) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = Int64((value.magnitude * scale).rounded())
    let whole = scaled / Int64(scale)
    var text = (value < 0 && scaled > 0 ? "-" : "") + "\(whole)"
    if places > 0 {
        let digits = "\(scaled % Int64(scale))"
        text += "." + String(repeating: "0", count: places - digits.count) + digits
    }
    return String(repeating: " ", count: max(0, width - text.count)) + text
}
