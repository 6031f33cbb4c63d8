package import GantryMedia
import GantryPlatform

/// Shows the pictures of a session as a camera of this machine.
///
/// It outlives sessions: give the same object to one after the other, so that readers keep their camera. Between them,
/// and when the stream stalls, the card is shown. Whoever made it closes it.
package final class VirtualCameraOutput: VideoOutput, @unchecked Sendable {  // `name` is guarded by `lock`.
    package let camera: VirtualCamera
    private let lock = Lock()
    private var name = ""

    package init(_ camera: VirtualCamera) { self.camera = camera }

    package func receive(_ frame: VideoFrame) { camera.show(frame.picture) }
    package func videoInterrupted() { camera.showCard() }
    package func videoEnded() { camera.showCard() }

    /// Keeps what the card says in step with the session. Any thread, in the order of the events.
    package func follow(_ event: StudioEvent) {
        switch event {
        case .connecting(let name), .connected(let name, _, _):
            lock.withLock { self.name = name }
            wait()
        case .paused:
            say("\(lock.withLock { name }) has paused")
            camera.showCard()
        case .stoppedHere(let media) where media.contains(.video):
            say("Paused here")
            camera.showCard()
        case .resumed, .stoppedHere, .disconnected, .ended: wait()
        default: break
        }
    }

    private func wait() { say("Waiting for \(lock.withLock { name })…") }

    /// What the card says from now on, below "NO SIGNAL".
    package func say(_ detail: String) { camera.setCard(VirtualCameraCard(detail: detail)) }

    package func close() { camera.close() }
}
