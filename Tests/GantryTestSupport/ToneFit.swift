import Foundation

/// A tone of a known frequency in sound that was recorded.
package struct ToneFit {
    /// Of the tone.
    package var amplitude = 0.0
    /// The tone's power to that of all else, in decibels.
    package var signalToNoise = 0.0

    /// By least squares over `samples`.
    package init(_ samples: some Collection<Float>, hertz: Double, rate: Double = 48_000) {
        let step = 2 * Double.pi * hertz / rate
        var (sinSin, cosCos, sinCos, sinY, cosY) = (0.0, 0.0, 0.0, 0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let (s, c, y) = (sin(step * Double(index)), cos(step * Double(index)), Double(sample))
            sinSin += s * s
            cosCos += c * c
            sinCos += s * c
            sinY += s * y
            cosY += c * y
        }
        let determinant = sinSin * cosCos - sinCos * sinCos
        guard determinant != 0 else { return }
        let a = (sinY * cosCos - cosY * sinCos) / determinant
        let b = (cosY * sinSin - sinY * sinCos) / determinant
        var (tone, rest) = (0.0, 0.0)
        for (index, sample) in samples.enumerated() {
            let value = a * sin(step * Double(index)) + b * cos(step * Double(index))
            tone += value * value
            rest += (Double(sample) - value) * (Double(sample) - value)
        }
        amplitude = (a * a + b * b).squareRoot()
        signalToNoise = 10 * log10(tone / max(rest, 1e-300))
    }
}
