import GantryCore
import GantryPlatform
import StudioKit

/// Recordings that begin and end while a session runs: each is a file of its own, which begins with the next key frame (asked
/// for at once).
final class RecordingSwitch: RestingPacketOutput, @unchecked Sendable {  // Everything is guarded by `lock`.
    private let lock = Lock()
    private var recording: (path: String, output: RecordingOutput)?
    // What a recording is told that begins in the middle.
    private var expected = (video: false, audio: false)
    private var video: (format: StreamFormat, epoch: UInt16)?
    private var audio: (format: StreamFormat, epoch: UInt16)?

    var returnsAtOnce: Bool { true }
    var wantsRegularKeyFrames: Bool { lock.withLock { recording != nil } }
    var isRecording: Bool { wantsRegularKeyFrames }

    /// Begins one; what runs already has to be ended first.
    ///
    /// - Parameters:
    ///   - path: ends in .mp4 or .mkv, and does not exist.
    ///   - failed: told once, on the recording's thread; it is ended then.
    /// - Throws: what is wrong with the path.
    func begin(_ path: String, failed: @escaping @Sendable (GantryError) -> Void) throws(GantryError) {
        let output = try RecordingOutput(path: path) { [weak self] error in
            self?.lock.withLock { self?.recording = nil }
            failed(error)
        }
        lock.withLock {
            output.expect(video: expected.video, audio: expected.audio)
            for stream in [video, audio].compactMap(\.self) {
                output.formatChanged(stream.format, epoch: stream.epoch)
            }
            recording = (path, output)
        }
    }

    /// Ends the one that runs; blocks until its file is whole. Nil: none runs.
    func end() -> (path: String, saved: SavedMedia?)? {
        let ended = lock.withLock {
            defer { recording = nil }
            return recording
        }
        guard let ended else { return nil }
        ended.output.finish()
        return (ended.path, ended.output.saved)
    }

    // MARK: The connection's thread

    func expect(video: Bool, audio: Bool) {
        lock.withLock {
            expected = (video, audio)
            if !video { self.video = nil }
            if !audio { self.audio = nil }
            recording?.output.expect(video: video, audio: audio)
        }
    }

    func formatChanged(_ format: StreamFormat, epoch: UInt16) {
        lock.withLock {
            switch format {
            case .video: video = (format, epoch)
            case .audio: audio = (format, epoch)
            }
            recording?.output.formatChanged(format, epoch: epoch)
        }
    }

    func receive(_ packet: CodedPacket) { lock.withLock { recording?.output.receive(packet) } }
}
