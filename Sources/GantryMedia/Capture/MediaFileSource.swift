package import GantryCore
import GantryPlatform

/// Plays a file or URL, anything that libavformat and libavcodec know, in real time by its own stamps.
///
/// Pictures come out upright, in I420, even in size; sound as 48 kHz stereo in blocks of 10 ms. Variable frame rates are
/// kept. The presentation time of everything is `start` plus the file's own time, exactly; the capture time of a picture
/// is the moment it was let go. Nothing is left out: a picture waits up to a second for room in the sink.
///
/// Two threads: `run` blocks its caller's, which sleeps until things are due and hands them out; "file-decode" reads and
/// decodes ahead of time into `FileMediaQueue`. Sources that send at their own pace (RTSP, SRT, RTMP) are not paced:
/// their first stamp is taken for the moment it arrived.
package final class MediaFileSource: MediaSource {
    package let info: MediaSourceInfo
    private let reader: MediaFileReader
    private let options: MediaFileOptions
    private let queue = FileMediaQueue()
    private let guardian: InputGuardian

    /// Opens and probes at once; blocks for as long as that takes (a network source: at most 10 s).
    ///
    /// - Throws: `sourceNotFound`; `sourceUnreadable` for folders, forbidden, damaged and other files;
    ///   `sourceHasNoMedia`; `unsupportedCodec` with the codec's name; `decoder`; `invalidArgument` for a bad size.
    ///
    /// - Parameter guardian: stopped by another thread, it ends the opening with `cancelled`.
    package init(
        url: String, options: MediaFileOptions = MediaFileOptions(), guardian: InputGuardian = InputGuardian()
    ) throws(GantryError) {
        Self.silenceLibrary
        self.guardian = guardian
        self.options = options
        reader = try MediaFileReader(url: url, options: options, guardian: guardian)
        info = reader.info
    }

    package func stop() {
        guardian.stop()
        queue.close()
    }

    /// Playback holds. A source that sends at its own pace goes on, and what it sends meanwhile is for the sink to let go.
    package func pause() {
        if !info.isLive { queue.hold(now: MonotonicClock.now()) }
    }

    package func resume() {
        if !info.isLive { queue.release(now: MonotonicClock.now()) }
    }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        let outcome = Outcome()
        queue.began(at: start)
        let (reader, queue) = (reader, queue)
        let thread: NamedThread
        do throws(GantryError) {
            thread = try NamedThread("file-decode") { outcome.end = reader.run(start: start, queue: queue) }
        } catch {
            return .endedEarly(error)
        }
        if info.isLive { handOutLive(to: sink) } else { handOut(to: sink) }
        queue.close()
        thread.join()
        return guardian.isStopped ? .stopped : outcome.end
    }

    private func handOut(to sink: some MediaSink) {
        while let item = queue.next(isPaced: options.isPaced) {
            switch item {
            case .audio(let block): sink.audio(block)
            case .video(let picture):
                _ = sink.waitForRoom(until: MonotonicClock.now() + .seconds(1))
                picture.captureTime = MonotonicClock.now()
                sink.video(picture)
            }
        }
    }

    /// As things arrive, with their stamps moved so that the first one is now.
    private func handOutLive(to sink: some MediaSink) {
        var shift: MediaDuration?
        func moved(_ time: MediaTimestamp) -> MediaTimestamp {
            let offset = shift ?? (MonotonicClock.now() - time)
            shift = offset
            return time + offset
        }
        while let item = queue.next(isPaced: false) {
            switch item {
            case .audio(let block):
                block.presentationTime = moved(block.presentationTime)
                sink.audio(block)
            case .video(let picture):
                picture.presentationTime = moved(picture.presentationTime)
                picture.captureTime = MonotonicClock.now()
                sink.video(picture)
            }
        }
    }

    /// libavformat and libavcodec talk on standard error by themselves; what matters is in our errors.
    private static let silenceLibrary: Void = silenceLibAV()

    private final class Outcome: @unchecked Sendable {  // Written by "file-decode", read after it was joined.
        var end = MediaSourceEnd.finished
    }
}
