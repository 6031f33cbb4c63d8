public import GantryCore
package import GantryMedia
import GantryPlatform

/// Shows the pictures of a session as a camera of this machine.
///
/// It outlives sessions: give the same object to one after the other, so that readers keep their camera. Between them,
/// and when the stream stalls, the card is shown. Whoever made it closes it.
public final class VirtualCameraOutput: VideoOutput, @unchecked Sendable {  // `name` is guarded by `lock`.
    package let camera: VirtualCamera
    private let lock = Lock()
    private var name = ""

    package init(_ camera: VirtualCamera) { self.camera = camera }

    /// Opens a v4l2loopback device (docs/virtual-camera.md), and shows the card until pictures come.
    ///
    /// - Parameters:
    ///   - device: as in /dev/video10; nil: the first that is free.
    ///   - width: pixels of the camera, whatever the stream has; even, 48 to 8192. Pictures are fitted, with black beside them.
    ///   - height: even, 32 to 8192.
    /// - Throws: `invalidArgument`, and what is wrong with the device: `outputNotFound`, `outputBusy`, `outputNotPermitted`.
    public convenience init(device: String? = nil, width: Int = 1280, height: Int = 720) throws(GantryError) {
        guard let layout = VirtualCameraLayout(width: width, height: height) else {
            throw GantryError(
                .invalidArgument,
                "A virtual camera cannot be \(width)x\(height). It takes even numbers from 48x32 to 8192x8192, as in 1280x720."
            )
        }
        self.init(try VirtualCamera(VirtualCameraWish(device: device, layout: layout)))
    }

    /// The device, as in /dev/video10.
    public var path: String { camera.path }

    public var returnsAtOnce: Bool { true }
    public func receive(_ frame: VideoFrame) { camera.show(frame.picture) }
    public func videoInterrupted() { camera.showCard() }
    public func videoEnded() { camera.showCard() }

    /// Keeps what the card says in step with the session. Any thread, in the order of the events.
    public func follow(_ event: StudioEvent) {
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
    public func say(_ detail: String) { camera.setCard(VirtualCameraCard(detail: detail)) }

    /// Lets go of the device. Blocks until its thread has ended; does nothing the second time.
    public func close() { camera.close() }
}
