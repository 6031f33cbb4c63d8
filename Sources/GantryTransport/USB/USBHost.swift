import CLibUSB
package import GantryCore
import GantryPlatform

/// The studio's side of a USB cable: opens a device that `USBScan` has found, and gives its link.
package enum USBHost {
    /// Opens the device, begins a session with RESET, and returns when the device has answered with its preface.
    ///
    /// Blocks: up to a second for RESET, and `openLimit` for the preface. The link ends when the device goes.
    ///
    /// - Throws: `usbNotFound` (gone meanwhile), `usbDeviceNotPermitted`, `usbBusy`, `usbNotGantry`, `usbTransfer`,
    ///   `peerLost`, `timeout`.
    package static func open(
        _ device: USBDevice, openLimit: MediaDuration = .seconds(3)
    ) throws(GantryError) -> BulkLink {
        let session = try USBHostSession(device)
        let pipe = try USBHostPipe(session, try session.endpoints())
        let nonce = KernelRandom.bytes(USBProtocol.nonceSize)
        guard let own = LinkPreface(nonce: nonce, from: .host), let peer = LinkPreface(nonce: nonce, from: .device)
        else { throw GantryError(.general, "No nonce could be made.") }
        try reset(session, nonce, device)
        let link = try BulkLink(pipe: pipe, peerAddress: device.description, ownPreface: own, peerPreface: peer)
        try link.open(limit: openLimit)
        return link
    }

    /// The device ends what went on before. A stall is the answer of a device that does not know the request.
    private static func reset(
        _ session: USBHostSession, _ nonce: [UInt8], _ device: USBDevice
    ) throws(GantryError) {
        let status = session.request(USBProtocol.Request.reset, data: nonce, limit: 1000)
        guard status != 0 else { return }
        if status == LIBUSB_ERROR_PIPE.rawValue {
            throw GantryError(
                .usbNotGantry,
                "The USB device at \(device.port) does not know Gantry's start. It is no Gantry producer, or one of "
                    + "another version.")
        }
        throw USBHostSession.error(status, "no answer to the start")
    }
}
