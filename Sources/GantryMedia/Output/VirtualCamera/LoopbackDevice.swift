import CV4L2
import GantryCore
import GantryPlatform
import Glibc

/// A device of v4l2loopback that we write to, by `write`: that works alike in all versions of the module, whereas buffers
/// of the old ones (0.12) hand the writer the very picture that readers look at.
///
/// Owned by one thread; the device is free again when it is let go.
final class LoopbackDevice: VirtualCameraDevice {
    let path: String
    let layout: VirtualCameraLayout
    private let node: LoopbackNode

    /// Opens the device, sets format and rate, and makes it a camera for readers.
    ///
    /// - Throws: `outputNotFound`, `outputNotPermitted`, `outputBusy`, `outputFailed`, `outputLost`.
    init(path: String, wish: VirtualCameraWish) throws(GantryError) {
        self.path = path
        let node = try LoopbackNode(path: path)
        let capabilities = try node.checkedCapabilities()
        if !capabilities.isOutput, !capabilities.isCapture {
            // With exclusive_caps, the module (0.12) leaves a device like this when a writer has gone that never said
            // STREAMON, such as ffmpeg. Closing one that has said it makes an output of it again.
            _ = node.startStreaming()
            try node.reopen()
            _ = try node.checkedCapabilities()
        }
        if try LoopbackProbe.isWrittenTo(path) { throw VirtualCameraFailure.busy(path) }
        var layout = try node.setFormat(wish.layout)
        if layout != wish.layout, node.keepsFormat == true {
            // The format of an earlier writer is kept by request: without that, closing the device clears it.
            node.setKeepsFormat(false)
            defer { node.setKeepsFormat(true) }
            try node.reopen()
            layout = try node.setFormat(wish.layout)
        }
        node.setRate(wish.frameRate)
        // Refused by newer modules (0.14), in which `write` does it.
        _ = node.startStreaming()
        self.node = node
        self.layout = layout
        if layout != wish.layout {
            Log.warning(
                "The virtual camera \(path) stays at \(layout.width)x\(layout.height) as long as a program reads from it."
            )
        }
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) { try node.write(bytes) }
}
