package import GantryMedia

/// Shows the pictures of a session as a camera of this machine.
///
/// It outlives sessions: give the same object to one after the other, so that readers keep their camera. Between them,
/// and when the stream stalls, the card is shown. The camera's owner closes it.
package final class VirtualCameraOutput: VideoOutput, Sendable {
    package let camera: VirtualCamera

    package init(_ camera: VirtualCamera) { self.camera = camera }

    package func receive(_ frame: VideoFrame) { camera.show(frame.picture) }
    package func videoEnded() { camera.showCard() }

    /// Says on the card what is waited for, from now on: "Waiting for CAMERA…", "CAMERA has paused".
    package func say(_ detail: String) { camera.setCard(VirtualCameraCard(detail: detail)) }

    package func close() { camera.close() }
}
