/// Frames a second as a fraction, so that 30000/1001 stays exact. Both parts are at least 1.
public struct FrameRate: Hashable, Sendable, CustomStringConvertible {
    /// Pictures in `denominator` seconds.
    public let numerator: UInt32
    /// Seconds, above 0.
    public let denominator: UInt32

    /// Nil unless both parts are positive and the rate lies in 1/60…1000.
    public init?(_ numerator: UInt32, _ denominator: UInt32 = 1) {
        guard numerator > 0, denominator > 0 else { return nil }
        let rate = Double(numerator) / Double(denominator)
        guard rate >= 1.0 / 60, rate <= 1000 else { return nil }
        self.numerator = numerator
        self.denominator = denominator
    }

    private init(unchecked numerator: UInt32) {
        self.numerator = numerator
        denominator = 1
    }

    /// 30 pictures a second.
    public static let fps30 = FrameRate(unchecked: 30)

    /// Pictures a second.
    public var framesPerSecond: Double { Double(numerator) / Double(denominator) }

    /// The time between two frames, rounded to microseconds.
    public var frameDuration: MediaDuration {
        MediaDuration(microseconds: (1_000_000 * Int64(denominator) + Int64(numerator) / 2) / Int64(numerator))
    }

    public var description: String {
        if denominator == 1 { return "\(numerator)" }
        let hundredths = (Int(numerator) * 100 + Int(denominator) / 2) / Int(denominator)
        return "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)"
    }
}
