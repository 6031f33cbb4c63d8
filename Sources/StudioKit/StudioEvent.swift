public import GantryCore

/// What happens in a session, in order: `connecting`, `connected`, then perhaps `disconnected` and `connected` again, any number
/// of times, and `ended` exactly once, last. An error's description says what happened and what mends it.
public enum StudioEvent: Sendable {
    /// A connection with the producer of that name is being made.
    case connecting(String)
    /// The network cannot be searched; the address where the producer was met last is tried.
    case discoveryUnavailable(GantryError)
    /// The producer has let us in. Its name is safe to print.
    case connected(name: String, address: String, streams: [StreamInfo])
    /// Streams were created (also by each new connection) or destroyed (also by its end), or have another format.
    case streams(StreamChange)
    /// The stream that was received has gone at the producer, while the connection stands: playback has stopped by itself. It
    /// goes on by itself when such a stream comes again.
    case playbackStopped(StreamInfo)
    /// What the player does has changed.
    case player(PlayerState)
    /// The producer on the USB cable was not paired, has let us in, and is paired now. Its name is safe to print.
    case paired(name: String)
    /// A stream begins, or goes on with another format.
    case format(StreamFormat)
    /// The first picture, decoded where an output takes pictures: how long after `start`, in microseconds.
    case firstFrame(afterMicroseconds: Int)
    /// The producer's encoder goes on at another rate.
    case rate(VideoRate)
    /// The picture is in danger, gone, or back; sound goes on.
    case videoState(VideoStatus)
    /// The producer sends nothing for a while; the connection stands.
    case paused
    /// The producer sends again.
    case resumed
    /// What is paused or hidden here has changed: see `StudioSession.pause` and `setVideoHidden`. Empty: all comes.
    case stoppedHere(MediaSelection)
    /// The outputs show what came so long before the newest picture; nil: they are live again. See `StudioSession.replay`.
    case replay(behind: MediaDuration?)
    /// A decoder failed for good; the rest goes on.
    case decodingFailed(GantryError)
    /// The connection has ended, or the first could not be made, and the session tries until there is one: `connecting` and,
    /// however long that takes, `connected` follow. Nil: the producer said goodbye.
    case disconnected(GantryError?)
    /// Nil: closed in order, by either side.
    case ended(GantryError?)
}
