package import GantryCore

/// How playing goes.
package struct SoundFigures: Sendable, Equatable {
    /// Times that nothing was there to be played although sound went on, or that the device ran dry.
    package var underruns = 0
    /// Times that sound was moved by leaving out or pausing, underruns included, the first start not.
    package var realignments = 0
    /// Times that the device was lost (unplugged, or failed).
    package var deviceLosses = 0
    /// Samples of each channel that were never played because too many waited.
    package var samplesDropped = 0
    /// Sound is heard now; else silence.
    package var isPlaying = false
    /// How much faster than given it is played, in parts per million.
    package var correctionPartsPerMillion = 0.0
    /// From a packet's arrival until the end of its sound is heard, the device included: mean of the last second.
    package var delay = MediaDuration.zero
    /// What that is meant to be.
    package var targetDelay = MediaDuration.zero
    /// How far it is from that; positive: late. Mean of the last second, and the farthest such mean so far.
    package var deviation = MediaDuration.zero
    package var largestDeviation = MediaDuration.zero
    /// When a sample is heard, minus its stamp: for comparing with pictures. Nil while silent.
    package var heardAfterStamp: MediaDuration?

    package init() {}
}
