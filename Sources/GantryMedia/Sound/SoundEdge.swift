/// Takes the click out of sound that is cut off and of sound that begins in the middle.
///
/// What is cut off goes on from its last sample and sinks to 0; what begins rises from 0. Both take 5 ms, and may overlap.
/// Touches only samples at an edge. Owned by one thread.
struct SoundEdge {
    /// Samples of each channel: 5 ms.
    static let length = 240

    private var left: Float = 0
    private var right: Float = 0
    /// The level from which the end sinks.
    private var leftTail: Float = 0
    private var rightTail: Float = 0
    private var tailDone = Self.length
    private var riseDone: Int

    /// - Parameter isRisen: the first sound comes as it is.
    init(isRisen: Bool = false) { riseDone = isRisen ? Self.length : 0 }

    /// Still sinks: silence is not silent yet.
    var isSinking: Bool { tailDone < Self.length }

    /// What was there ends here; what comes next begins anew.
    mutating func cut() {
        (leftTail, rightTail) = (left, right)
        tailDone = left == 0 && right == 0 ? Self.length : 0
        riseDone = 0
    }

    /// `samples` are the next `count` of each channel. `isSound` is false for the zeros after a cut.
    mutating func apply(_ samples: UnsafeMutablePointer<Float>, _ count: Int, isSound: Bool) {
        guard count > 0 else { return }
        if isSound, riseDone < Self.length {
            for index in 0..<min(count, Self.length - riseDone) {
                let gain = Float(riseDone + index + 1) / Float(Self.length)
                samples[index * 2] *= gain
                samples[index * 2 + 1] *= gain
            }
            riseDone = min(Self.length, riseDone + count)
        }
        if tailDone < Self.length {
            for index in 0..<min(count, Self.length - tailDone) {
                let gain = 1 - Float(tailDone + index + 1) / Float(Self.length)
                samples[index * 2] += leftTail * gain
                samples[index * 2 + 1] += rightTail * gain
            }
            tailDone = min(Self.length, tailDone + count)
        }
        left = samples[count * 2 - 2]
        right = samples[count * 2 - 1]
    }
}
