package import GantryCore
package import GantryPlatform

/// A V4L2 camera that is open and set up (single planar, memory mapped).
///
/// `init` chooses the mode and takes the device for itself; `run` streams on the caller's thread, once. Only `stop` may
/// be called from elsewhere.
package final class CameraCapture: @unchecked Sendable {  // All but `stopper` belongs to the running thread.
    /// What the driver calls the camera, made fit for showing.
    package let name: String
    /// What was agreed on.
    package let mode: CameraMode
    /// Of the pictures. JPEG cameras are in full range.
    package let color: ColorDescription
    /// Pictures that the driver marked as damaged, that were too short, or no JPEG.
    package private(set) var damagedCount = 0
    /// Pictures for which all pooled ones were in use.
    package private(set) var droppedCount = 0

    private let stopper: EventDescriptor

    /// - Parameters:
    ///   - device: a path such as `/dev/video0`.
    ///   - stopper: ends `run` when it is signalled; nil makes one.
    /// - Throws: `sourceNotFound`, `sourceNotPermitted`, `sourceBusy`, `sourceUnreadable` (not a camera),
    ///   `unsupportedCodec` (no usable format), `sourceLost`.
    package init(device: String, wish: CameraWish = CameraWish(), stopper: EventDescriptor? = nil) throws(GantryError) {
        if let stopper { self.stopper = stopper } else { self.stopper = try EventDescriptor() }
        name = device
        mode = CameraMode(pixels: .yuyv, width: wish.width, height: wish.height, frameRate: wish.frameRate)
        color = .unspecified
        throw GantryError(.sourceNotFound, "Cameras are not supported yet.")
    }

    /// Streams until `stop`, until `deadline`, or until `body` says false.
    ///
    /// - Parameters:
    ///   - wants: asked with the stamp of each picture before it is converted; false leaves it out.
    ///   - body: gets a pooled I420 picture whose capture and presentation time are the driver's stamp.
    /// - Throws: `sourceLost` (unplugged, or the driver failed), `sourceSilent` (no picture for five seconds),
    ///   `sourceBusy`, and what `body` throws.
    package func run(
        until deadline: MediaTimestamp? = nil, wants: (MediaTimestamp) -> Bool = { _ in true },
        _ body: (Picture) throws(GantryError) -> Bool
    ) throws(GantryError) {
    }

    /// Makes `run` return soon. Any thread, any time, also before `run`.
    package func stop() { stopper.signal() }
}
