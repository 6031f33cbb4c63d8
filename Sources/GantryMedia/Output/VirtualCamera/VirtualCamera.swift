package import GantryCore
import GantryPlatform

/// A camera that other programs on this machine can use: shows pictures through v4l2loopback, and a card while there are
/// none.
///
/// Its size stays the same for its whole life; pictures of other sizes are shown whole, with black beside them. One
/// thread, "virtual-camera", converts and writes; it repeats what is shown, so that a reader that comes late sees
/// something at once. A device that fails is told once and tried again until it is back. Any thread may call.
package final class VirtualCamera: @unchecked Sendable {  // `thread` is set once, before anyone else has us.
    private let state: VirtualCameraState
    private var thread: NamedThread?

    package typealias Opener = @Sendable () throws(GantryError) -> any VirtualCameraDevice

    /// Opens the device, and shows the card.
    ///
    /// - Parameter report: hears that the device was lost, and that it is back; on the camera's thread.
    /// - Throws: `outputNotFound` (no such device, module not loaded), `outputBusy`, `outputNotPermitted`,
    ///   `outputFailed`, `outputLost`.
    package convenience init(
        _ wish: VirtualCameraWish, card: VirtualCameraCard = VirtualCameraCard(),
        report: @escaping @Sendable (VirtualCameraEvent) -> Void = { $0.log() }
    ) throws(GantryError) {
        try self.init(card: card, report: report) { () throws(GantryError) in try LoopbackSearch.open(wish) }
    }

    /// With a device of any kind.
    ///
    /// - Parameter open: called here, and on the camera's thread each time that the device has failed.
    package init(
        card: VirtualCameraCard = VirtualCameraCard(),
        report: @escaping @Sendable (VirtualCameraEvent) -> Void = { $0.log() }, open: @escaping Opener
    ) throws(GantryError) {
        let worker = try VirtualCameraWorker(card: card, report: report, open: open)
        state = worker.state
        thread = try NamedThread("virtual-camera", urgency: .picture) { worker.run() }
    }

    deinit { state.slot.close() }

    /// Shows a picture of any size and format. Returns at once; the newest wins. The picture is let go within moments.
    package func show(_ picture: Picture) { state.slot.put(.picture(picture)) }

    /// Shows the card, until a picture comes.
    ///
    /// - Parameter card: another one from now on; nil stays with the one before.
    package func showCard(_ card: VirtualCameraCard? = nil) {
        if let card { setCard(card) }
        state.slot.put(.card)
    }

    /// What is shown from now on whenever there is no picture. Does not take away a picture that is there.
    package func setCard(_ card: VirtualCameraCard) { state.setCard(card) }

    /// Such as `/dev/video10`. It may change when the device was lost and none was named.
    package var path: String { state.path }
    package var layout: VirtualCameraLayout { state.layout }
    package var statistics: VirtualCameraStatistics { state.statistics }

    /// Shows the card a last time and gives the device back. Waits for that; what comes later is let go.
    package func close() {
        state.slot.close()
        thread?.join()
    }
}
