/// How long to wait before a producer is dialled again that has closed before it let us in. A plain
/// value.
///
/// So it does with all but two unproven connections of one host: with those who start at the same moment, most are turned
/// away, and must not come back at the same moment.
package struct AdmissionDelay: Sendable {
    /// One that closes for another reason must be told of soon: eight seconds in the mean.
    private static let most = 8
    private static let shortest = MediaDuration.milliseconds(100)
    /// Grows, since handshakes of a busy machine take long.
    private static let spreads: [MediaDuration] = [
        .milliseconds(400), .milliseconds(800), .milliseconds(1600), .seconds(2),
    ]

    private var failures = 0

    package init() {}

    /// Nil: it has been tried often enough.
    ///
    /// - Parameter random: from 0 up to 1.
    package mutating func next(random: Double = .random(in: 0..<1)) -> MediaDuration? {
        guard failures < Self.most else { return nil }
        let spread = Self.spreads[min(failures, Self.spreads.count - 1)]
        failures += 1
        return Self.shortest + .microseconds(Int64(Double(spread.microseconds) * min(max(random, 0), 1)))
    }
}
