import GantryPlatform
import Glibc
import Synchronization

/// Where decoded pictures and sound go: from the connection while live, from the replay while that is shown. Outputs that do
/// not follow the replay always get what is live. Any thread.
///
/// Each order lock is held while outputs are called, so that they never get two pictures, or pieces of sound, at once.
final class OutputSwitch: @unchecked Sendable {
    // `isReplaying` is written under both locks; `isVideoInterrupted` is guarded by `videoOrder`, the other by `audioOrder`.
    private let video: [any VideoOutput]
    private let audio: [any AudioOutput]
    private let videoOrder = Lock()
    private let audioOrder = Lock()
    private var isReplaying = false
    private var isVideoInterrupted = false
    private var isAudioInterrupted = false
    /// Which stretch of a replay the sound is of; it grows whenever another one begins. Guarded by `audioOrder`.
    private var run = 0
    /// The threads that are inside an output now; 0: none.
    private let videoCaller = Atomic<pthread_t>(0)
    private let audioCaller = Atomic<pthread_t>(0)
    /// Whether media have come on this connection: guarded by `videoOrder` and `audioOrder` each.
    private var hasVideo = false
    private var hasAudio = false
    private let began: @Sendable () -> Void

    /// - Parameter began: the first picture, or sound, of a connection has been handed on, or has come; on its thread.
    init(video: [any VideoOutput], audio: [any AudioOutput], began: @escaping @Sendable () -> Void = {}) {
        self.began = began
        self.video = video
        self.audio = audio
    }

    /// Whether an output is being called on this very thread: it must not wait for what waits for its return.
    var isInside: Bool {
        let here = pthread_self()
        return videoCaller.load(ordering: .relaxed) == here || audioCaller.load(ordering: .relaxed) == here
    }

    private func callVideo(_ body: () -> Void) {
        videoOrder.withLock {
            videoCaller.store(pthread_self(), ordering: .relaxed)
            defer { videoCaller.store(0, ordering: .relaxed) }
            body()
        }
    }

    private func callAudio(_ body: () -> Void) {
        audioOrder.withLock {
            audioCaller.store(pthread_self(), ordering: .relaxed)
            defer { audioCaller.store(0, ordering: .relaxed) }
            body()
        }
    }

    /// What comes of it from now on is another stream's, and begins.
    func streamStopped(isVideo: Bool) {
        if isVideo { callVideo { hasVideo = false } } else { callAudio { hasAudio = false } }
    }

    // MARK: The connection's decoding threads

    func live(_ frame: VideoFrame) {
        callVideo {
            isVideoInterrupted = false
            for output in video where !(isReplaying && output.followsReplay) { output.receive(frame) }
            videoCame()
        }
    }

    /// Something has come that is not decoded, since no output takes it.
    func passed(isVideo: Bool) {
        if isVideo { callVideo { videoCame() } } else { callAudio { audioCame() } }
    }

    /// Under the lock of the order; so is the other.
    private func videoCame() {
        if !hasVideo { began() }
        hasVideo = true
    }

    private func audioCame() {
        if !hasAudio { began() }
        hasAudio = true
    }

    func live(_ frame: AudioFrame) {
        callAudio {
            isAudioInterrupted = false
            for output in audio where !(isReplaying && output.followsReplay) { output.receive(frame) }
            audioCame()
        }
    }

    // MARK: The replay's thread

    /// At the beginning, and after each jump.
    func beginReplay() {
        videoOrder.withLock {
            audioOrder.withLock {
                isReplaying = true
                run &+= 1
            }
        }
    }

    /// What is live goes to all outputs again; where nothing is, they are told.
    func endReplay() {
        callVideo {
            callAudio {
                guard isReplaying else { return }
                isReplaying = false
                if isVideoInterrupted { for output in video where output.followsReplay { output.videoInterrupted() } }
                if isAudioInterrupted { for output in audio where output.followsReplay { output.audioInterrupted() } }
            }
        }
    }

    func replay(_ frame: VideoFrame) {
        callVideo { for output in video where output.followsReplay { output.receive(frame) } }
    }

    func replay(_ frame: AudioFrame) {
        callAudio {
            var frame = frame
            frame.run = run
            for output in audio where output.followsReplay { output.receive(frame) }
        }
    }

    // MARK: The session's thread

    /// There is no connection: told once, until something comes again. What shows the replay hears of it when that is over.
    func interrupted() {
        callVideo {
            hasVideo = false
            guard !isVideoInterrupted else { return }
            isVideoInterrupted = true
            for output in video where !(isReplaying && output.followsReplay) { output.videoInterrupted() }
        }
        callAudio {
            hasAudio = false
            guard !isAudioInterrupted else { return }
            isAudioInterrupted = true
            for output in audio where !(isReplaying && output.followsReplay) { output.audioInterrupted() }
        }
    }

    /// After the replay's end.
    func ended() {
        for output in video { output.videoEnded() }
        for output in audio { output.audioEnded() }
    }
}
