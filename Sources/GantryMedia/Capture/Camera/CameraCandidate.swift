import GantryCore

/// A mode that a camera offers, and how far it is from what was asked for.
struct CameraCandidate: Equatable, CustomStringConvertible {
    var mode: CameraMode
    /// Its place in the list of offers.
    var offer: Int
    /// Octaves by which the picture is larger, or twice those by which it is smaller.
    var size: Double
    /// Half the octaves between the shape of the picture and the one that was asked for.
    var shape: Double
    /// Twice the octaves by which it is slower.
    var rate: Double
    /// Hundredths by the work that the pixels make.
    var format: Double

    var penalty: Double { size + shape + rate + format }

    var description: String {
        "\(Self.text(penalty)) = size \(Self.text(size)) + shape \(Self.text(shape)) + rate \(Self.text(rate)) + format "
            + "\(Self.text(format)): \(mode)"
    }

    /// With two decimals.
    static func text(_ number: Double) -> String {
        guard number.isFinite, abs(number) < 1e9 else { return "?" }
        let hundredths = Int((abs(number) * 100).rounded())
        let decimals = hundredths % 100
        return (number < 0 && hundredths > 0 ? "-" : "") + "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals)"
    }
}
