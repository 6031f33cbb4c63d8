package import GantryCore

/// Something that fills a `MediaSink`: a file, standard input, the test pattern.
///
/// Opened by `init`, which throws what is wrong with it. `run` is then called once, on a thread of the owner's.
package protocol MediaSource: AnyObject, Sendable {
    var info: MediaSourceInfo { get }

    /// Blocks until the source has ended or `stop` was called.
    ///
    /// - Parameter start: The presentation time of the source's own time zero. Sources that are stamped on arrival
    ///   ignore it.
    func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd

    /// Holds the source where it is, until `resume`: what follows comes later by the length of the pause. Sources that
    /// cannot wait (the test pattern, live input) do nothing. Any thread, any time.
    func pause()
    func resume()

    /// Makes `run` return soon. Any thread, any time, also before `run`.
    func stop()
}

extension MediaSource {
    package func pause() {}
    package func resume() {}
}

/// Why a source ended.
package enum MediaSourceEnd: Sendable {
    /// All of it was played.
    case finished
    /// By `stop`.
    case stopped
    /// What was there has been played; then it was damaged, truncated or lost.
    case endedEarly(GantryError)
}
