import CommandLineKit
import GantryCore
import GantryPlatform
import GantryPreview
import StudioKit

/// Does what the keys of the preview window want. One thread, "preview-keys", so that a slow disk holds up no picture.
final class PreviewControl: @unchecked Sendable {  // `thread` is set once in `init`; the rest belongs to it.
    private typealias Job = (command: PreviewCommand, frame: VideoFrame?)

    private static let step = MediaDuration.seconds(5)

    private let window: PreviewWindow
    private let session: StudioSession
    private let recording: RecordingSwitch?
    private let sound: SoundOutput?
    /// Of `--record`.
    private let recordingPath: String?
    private let report: ReceiveReport
    private let queue = BoundedQueue<Job>(capacity: 4)
    private var thread: NamedThread?

    /// - Parameter close: the window is to be closed: called on its thread.
    init(
        _ window: PreviewWindow, _ session: StudioSession, _ outputs: ReceiveOutputs, _ report: ReceiveReport,
        close: @escaping @Sendable () -> Void
    ) throws(GantryError) {
        self.window = window
        self.session = session
        self.report = report
        recording = outputs.recordingSwitch
        sound = outputs.sound
        recordingPath = outputs.recordingPath
        let queue = queue
        thread = try NamedThread("preview-keys") { [self] in
            while let job = queue.pop() { perform(job) }
            endRecording()
        }
        if recordingPath != nil { window.setRecording(true) }
        window.attach(session) { command, frame in
            // Of several at once the first count: nobody means the fifth.
            if command == .close { close() } else { queue.push((command, command == .snapshot ? frame : nil)) }
        }
    }

    func follow(_ event: StudioEvent) { window.follow(event) }

    /// Does what waits, ends a recording, and waits for both.
    func stop() {
        queue.close()
        thread?.join()
    }

    private func perform(_ job: Job) {
        do throws(GantryError) {
            switch job.command {
            case .snapshot: try snapshot(job.frame)
            case .record: try record()
            case .back: try seek(.zero - Self.step)
            case .forward: try seek(Self.step)
            case .live: session.replay.goLive()
            case .mute: mute()
            case .pause: if session.stoppedMedia == .all { session.resume() } else { session.pause() }
            case .close: break
            }
        } catch {
            window.say(error.message)
            report.note(error.message)
        }
    }

    private func snapshot(_ frame: VideoFrame?) throws(GantryError) {
        guard let frame else { return window.say("There is no picture.") }
        let path = ReceiveKeys.fileName("snapshot", "png")
        try frame.writePNG(to: path, overwrite: false)
        window.say("Snapshot: \(path)")
        report.file("snapshotSaved", "Snapshot: \(path)", path: path)
    }

    private func record() throws(GantryError) {
        if let recordingPath { return window.say("\(recordingPath) is being recorded, until the end (--record).") }
        guard let recording else { return }
        guard !recording.isRecording else { return endRecording() }
        let path = ReceiveKeys.fileName("recording", "mp4")
        // First: a disk that fails at once takes it back.
        window.setRecording(true)
        do throws(GantryError) {
            try recording.begin(path) { [window, report] error in
                window.setRecording(false)
                window.say(error.message)
                report.note(error.message)
            }
        } catch {
            window.setRecording(false)
            throw error
        }
        window.say("Recording to \(path)")
        report.file("recordingBegan", "Recording to \(path).", path: path)
    }

    private func endRecording() {
        guard let (path, saved) = recording?.end() else { return }
        window.setRecording(false)
        guard let saved else {
            window.say("Nothing came: nothing was recorded.")
            return report.note("Nothing came: nothing was recorded to \(path).")
        }
        let text =
            "Recorded \(Figures.decimal(saved.duration.seconds, places: 1)) s to \(saved.paths.joined(separator: ", "))"
        window.say(text)
        report.file("recordingEnded", text + ".", path: path)
    }

    private func seek(_ step: MediaDuration) throws(GantryError) {
        guard session.replay.isArmed else {
            return window.say("Nothing is held to be shown again: start with --replay")
        }
        try session.replay.seek(by: step)
    }

    private func mute() {
        guard let sound else { return window.say("No sound is played: start with --play") }
        sound.isMuted.toggle()
        window.setMuted(sound.isMuted)
    }
}
