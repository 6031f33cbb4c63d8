package import GantryCore
import GantryPlatform

/// Pictures of one source and sound of another: a camera and a microphone.
///
/// The pictures are what counts. They run on the caller's thread, the sound on one of its own ("sound-source"); sound that
/// fails or ends is said in the log, and the pictures go on. It ends when the pictures end.
package final class CombinedSource: MediaSource {
    package let info: MediaSourceInfo
    private let video: any MediaSource
    private let audio: any MediaSource

    /// - Parameters:
    ///   - video: makes no sound, or it would be heard as well.
    ///   - audio: makes no pictures.
    package init(video: any MediaSource, audio: any MediaSource) {
        self.video = video
        self.audio = audio
        var info = video.info
        info.audio = audio.info.audio
        self.info = info
    }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        let sound = startSound(start, sink)
        let end = video.run(start: start, sink: sink)
        audio.stop()
        sound?.join()
        return end
    }

    private func startSound(_ start: MediaTimestamp, _ sink: some MediaSink) -> NamedThread? {
        let audio = audio
        do throws(GantryError) {
            return try NamedThread("sound-source", urgency: .sound) {
                if case .endedEarly(let error) = audio.run(start: start, sink: sink) {
                    Log.warning("The sound has ended; the picture goes on. \(error)")
                    sink.soundChanged(isThere: false)
                }
            }
        } catch {
            Log.warning("There is no sound. \(error)")
            return nil
        }
    }

    package func pause() {
        video.pause()
        audio.pause()
    }

    package func resume() {
        video.resume()
        audio.resume()
    }

    package func stop() {
        video.stop()
        audio.stop()
    }
}
