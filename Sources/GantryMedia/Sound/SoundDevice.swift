package import GantryCore

/// The end of a sound device that plays, as `SoundFeeder` needs it. One thread.
package protocol SoundDevice: AnyObject {
    /// Samples of each channel.
    var periodFrames: Int { get }
    var bufferFrames: Int { get }
    /// Nil while it does not run.
    func position() -> AlsaPCM.Position?
    /// Never waits.
    func write(from samples: UnsafeBufferPointer<Float>) throws(GantryError) -> AlsaPCM.Transfer
}

extension AlsaPCM: SoundDevice {}

extension AlsaPCM.Position {
    /// For devices that are no hardware.
    package init(delay: Int, available: Int, time: MediaTimestamp) {
        self.init(delay: delay, available: available, time: time, isDriverTime: true)
    }
}
