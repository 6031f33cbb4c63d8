package import GantryCore
import GantryMedia
import GantryPlatform
package import StudioKit

/// Shows a session in a window of the desktop (SDL 2): the picture, what becomes of it, and the level of the sound.
///
/// One thread, "preview", from `init` to `close`, owns the window. It draws the newest picture as soon as that is decoded. The
/// window outlives connections, and sessions: give the same object to one after the other. Keys that need more than the
/// window (`PreviewCommand`) are handed to the application.
package final class PreviewWindow: VideoOutput, AudioOutput, @unchecked Sendable {
    // `thread` is set once in `init`.
    private let state = PreviewState()
    private let slot = LatestSlot<PreviewLoop.Item>()
    private let meter = LevelMeter()
    private var thread: NamedThread?

    private static let messageTime = MediaDuration.seconds(2)

    /// Opens the window, and waits until it is there.
    ///
    /// - Parameter failed: called once, on the window's thread, when the desktop goes: must return at once.
    /// - Throws: `outputNotFound` without a display, `busy` where the process has a preview already, `outputFailed`.
    package init(failed: @escaping @Sendable (GantryError) -> Void) throws(GantryError) {
        let opening = PreviewOpening()
        let (state, slot, meter) = (state, slot, meter)
        thread = try NamedThread("preview", urgency: .picture) {
            guard let window = opening.open() else { return }
            do throws(GantryError) {
                try PreviewLoop(window, state: state, slot: slot, meter: meter).run()
            } catch {
                failed(error)
            }
        }
        do throws(GantryError) {
            try opening.wait()
        } catch {
            thread?.join()
            throw error
        }
    }

    deinit { slot.close() }

    // MARK: Output

    package var returnsAtOnce: Bool { true }
    package func receive(_ frame: VideoFrame) { slot.put(.picture(frame)) }
    package func videoInterrupted() { slot.put(.noSignal) }
    package func videoEnded() { slot.put(.noSignal) }
    package func receive(_ frame: AudioFrame) { frame.withSamples { meter.feed($0) } }

    // MARK: Any thread

    /// Whose figures are shown from now on, and who does what the keys want. The session is not held.
    ///
    /// - Parameter perform: called on the window's thread: must return at once. The picture is the one that is shown; nil
    ///   where there is none.
    package func attach(
        _ session: StudioSession, perform: @escaping @Sendable (PreviewCommand, VideoFrame?) -> Void
    ) { state.attach(session, perform) }

    /// Keeps what the window says in step with the session, in the order of the events.
    package func follow(_ event: StudioEvent) {
        state.change { content in
            switch event {
            case .connecting(let name):
                content.producer = name
                if !content.isLost { content.waiting = "Connecting to \(name)…" }
            case .connected(let name, _, _):
                content.producer = name
                content.waiting = "Waiting for the picture of \(name)…"
                content.isLost = false
                content.isProducerPaused = false
                content.isPictureOff = false
            case .format(.video(let format)): content.format = format
            case .paused: content.isProducerPaused = true
            case .resumed: content.isProducerPaused = false
            case .videoState(let status) where status.state == .disabled: content.isPictureOff = true
            case .videoState(let status) where status.state == .enabled: content.isPictureOff = false
            case .disconnected(let error):
                content.isLost = true
                content.waiting =
                    error == nil
                    ? "\(content.producer) has ended: waiting for it…"
                    : "\(content.producer) is lost: trying again…"
            case .ended: content.waiting = "\(content.producer) has ended"
            default: break
            }
        }
    }

    /// Shows a line for two seconds.
    package func say(_ text: String) {
        let until = MonotonicClock.now() + Self.messageTime
        state.change { $0.message = (text, until) }
    }

    /// Whether the window says that nothing is heard.
    package func setMuted(_ isMuted: Bool) { state.change { $0.isMuted = isMuted } }

    /// Whether the window says that it is recorded, and for how long.
    package func setRecording(_ isRecording: Bool) {
        let now = MonotonicClock.now()
        state.change { $0.recordingSince = isRecording ? now : nil }
    }

    package var statistics: PreviewStatistics {
        var statistics = state.statistics
        statistics.notShown = slot.droppedCount
        return statistics
    }

    /// Takes the window away, and waits for that. Does nothing the second time. Not from `perform`.
    package func close() {
        slot.close()
        thread?.join()
    }
}
