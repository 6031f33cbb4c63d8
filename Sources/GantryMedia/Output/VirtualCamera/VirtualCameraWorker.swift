import GantryCore
import GantryPlatform

/// What the thread of a virtual camera does. It owns everything here but `state`.
final class VirtualCameraWorker: @unchecked Sendable {  // Made by one thread, then handed to the camera's.
    let state: VirtualCameraState
    private let open: VirtualCamera.Opener
    private let report: @Sendable (VirtualCameraEvent) -> Void
    private var device: (any VirtualCameraDevice)?
    private var frame: VirtualCameraFrame
    private var timing: VirtualCameraTiming
    /// Of the card that is drawn in `frame`.
    private var cardNumber: Int?
    /// The device has failed, and no write has worked since.
    private var isLost = false
    /// After a failure: when to try again, and how long to wait after that.
    private var nextTry = MediaTimestamp(microseconds: 0)
    private var pause = firstPause

    /// Then twice as long each time, up to `longestPause`.
    private static let firstPause = MediaDuration.milliseconds(100)
    private static let longestPause = MediaDuration.seconds(1)

    init(
        card: VirtualCameraCard, report: @escaping @Sendable (VirtualCameraEvent) -> Void,
        open: @escaping VirtualCamera.Opener
    ) throws(GantryError) {
        let device = try open()
        self.device = device
        self.open = open
        self.report = report
        state = VirtualCameraState(card: card, path: device.path, layout: device.layout)
        frame = VirtualCameraFrame(device.layout)
        timing = VirtualCameraTiming(now: MonotonicClock.now())
        try drawCard()
        // Here, so that a reader that is started next finds a camera with a picture.
        do throws(SystemError) { try device.write(frame.card) } catch {
            throw VirtualCameraFailure.lost(device.path, error)
        }
    }

    func run() {
        while true {
            let item = state.slot.take(until: device == nil ? nextTry : timing.due)
            if state.slot.closed { break }
            let isNew = item.map(take) ?? false
            timing.timePassed(MonotonicClock.now())
            if device == nil { reopen() }
            // What came while there was no device is shown as the repetition that is due.
            if device != nil { write(isNew: isNew) } else if isNew { state.count { $0.dropped += 1 } }
        }
        end()
    }

    /// True for a picture that can be shown.
    private func take(_ item: VirtualCameraState.Item) -> Bool {
        do throws(GantryError) {
            switch item {
            case .picture(let picture):
                try frame.fill(picture)
                timing.pictureCame(MonotonicClock.now())
                return true
            case .card:
                timing.cardIsWanted()
                return false
            }
        } catch {
            Log.debug("virtual camera: \(error)")
            state.count { $0.dropped += 1 }
            return false
        }
    }

    private func drawCard() throws(GantryError) {
        if let card = state.card(after: &cardNumber) { try frame.draw(card) }
    }

    private func write(isNew: Bool) {
        guard let device else { return }
        do throws(GantryError) { try drawCard() } catch { Log.debug("virtual camera: \(error)") }
        do throws(SystemError) {
            try device.write(timing.shown == .picture ? frame.picture : frame.card)
            timing.wrote(MonotonicClock.now())
            state.count { if isNew { $0.written += 1 } else { $0.repeated += 1 } }
            if isLost { report(.restored(device.path)) }
            isLost = false
        } catch {
            if isNew { state.count { $0.dropped += 1 } }
            lose(VirtualCameraFailure.lost(device.path, error))
        }
    }

    private func lose(_ error: GantryError) {
        // Closed now: the module cannot be loaded again as long as somebody holds a device.
        device = nil
        if !isLost {
            isLost = true
            pause = Self.firstPause
            state.count { $0.losses += 1 }
            report(.lost(error))
        } else {
            Log.debug("virtual camera: \(error)")
            pause = min(.microseconds(pause.microseconds * 2), Self.longestPause)
        }
        nextTry = MonotonicClock.now() + pause
    }

    private func reopen() {
        guard nextTry <= MonotonicClock.now() else { return }
        do throws(GantryError) {
            let device = try open()
            if device.layout != frame.layout {
                frame = VirtualCameraFrame(device.layout)
                cardNumber = nil
                // The picture was of the old size.
                timing.cardIsWanted()
            }
            self.device = device
            state.deviceChanged(path: device.path, layout: device.layout)
        } catch {
            lose(error)
        }
    }

    /// Programs that go on reading keep the last picture: let it be the card.
    private func end() {
        timing.cardIsWanted()
        do throws(GantryError) { try drawCard() } catch {}
        do throws(SystemError) { try device?.write(frame.card) } catch {}
        device = nil
    }
}
