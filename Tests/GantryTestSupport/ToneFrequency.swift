/// The frequency of a tone at 48 kHz, in hertz, by the times at which the curve goes up through zero, between samples; 0
/// where it does so less than twice.
package func toneFrequency(_ samples: [Float]) -> Double {
    var crossings: [Double] = []
    for index in samples.indices.dropFirst() where samples[index - 1] < 0 && samples[index] >= 0 {
        let (before, after) = (Double(samples[index - 1]), Double(samples[index]))
        crossings.append(Double(index) - after / (after - before))
    }
    guard let first = crossings.first, let last = crossings.last, last > first else { return 0 }
    return Double(crossings.count - 1) * 48_000 / (last - first)
}
