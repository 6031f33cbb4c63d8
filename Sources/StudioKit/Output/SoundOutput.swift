public import GantryCore
package import GantryMedia

/// Plays the sound of a session on a sound device of this machine.
///
/// It outlives sessions: between them, and while nothing comes, it plays silence. Give it the pictures as well
/// (`videoOutputs`, last), so that it can tell how far behind them the sound is.
public final class SoundOutput: AudioOutput, VideoOutput, Sendable {
    /// Names of ALSA's that cannot be mistaken for a producer, as the command line takes them.
    package static let deviceNames = [
        "default", "sysdefault", "hw:", "plughw:", "plug:", "dmix", "front:", "hdmi:", "iec958", "pulse", "pipewire",
        "null",
    ]

    private let player: SoundPlayer

    /// - Parameters:
    ///   - device: as ALSA calls it; nil: the usual one.
    ///   - delay: from a packet's arrival until its sound is heard, 5 ms to 1 s.
    /// - Throws: `outputNotFound`, `outputBusy`, `outputNotPermitted`, `outputLost`, `outputFailed`.
    public init(device: String? = nil, delay: MediaDuration = .milliseconds(50)) throws(GantryError) {
        player = try SoundPlayer(device: device ?? "default", delay: delay)
    }

    public var returnsAtOnce: Bool { true }
    public func receive(_ frame: AudioFrame) { player.play(frame.block) }
    /// The end of what waits is heard, then silence.
    public func audioEnded() {}

    public func receive(_ frame: VideoFrame) { player.shown(frame.presentationTime) }
    public func videoEnded() {}

    /// Lets what waits be heard, a second at most, and closes the device.
    public func finish() { player.finish() }

    package var figures: SoundFigures { player.figures }
    /// Nothing is heard, and all goes on in its place. Any thread.
    package var isMuted: Bool {
        get { player.isMuted }
        set { player.isMuted = newValue }
    }
    /// How much later than the picture of the same moment sound is heard: median, and of how many pictures.
    public var medianLag: (microseconds: Int, count: Int)? { player.medianLag }
}
