package import GantryCore

/// A camera as its driver describes it, without using it.
package struct CameraInfo: Sendable {
    /// Such as `/dev/video0`; another one may stand there after the next start.
    package var path: String
    /// A link of udev's to the node that stays with the camera or its socket (`/dev/v4l/by-id/…`, else
    /// `/dev/v4l/by-path/…`), or nil.
    package var stablePath: String?
    /// What the driver calls it, made fit for showing.
    package var name: String
    /// Of the kernel, such as `uvcvideo`; made fit for showing.
    package var driver: String
    /// Where it is plugged in, as the driver says it; made fit for showing.
    package var bus: String
    /// No device behind it but another program (v4l2loopback and its like).
    package var isVirtual: Bool
    /// What it offers in formats that can be used, in the order of the driver.
    package var modes: [CameraOffer]
    package var controls: [CameraControl]
    /// Why it cannot be used now: `sourceBusy`, `sourceNotPermitted`, `unsupportedCodec` (no usable format),
    /// `sourceUnreadable`; nil when it can.
    package var problem: GantryError?

    package init(
        path: String, stablePath: String? = nil, name: String, driver: String, bus: String, isVirtual: Bool = false,
        modes: [CameraOffer] = [], controls: [CameraControl] = [], problem: GantryError? = nil
    ) {
        self.path = path
        self.stablePath = stablePath
        self.name = name
        self.driver = driver
        self.bus = bus
        self.isVirtual = isVirtual
        self.modes = modes
        self.controls = controls
        self.problem = problem
    }
}
