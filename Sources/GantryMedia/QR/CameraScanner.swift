package import GantryCore
package import GantryPlatform
import Glibc

/// Looks through a camera until a Gantry code is in front of it.
package enum CameraScanner {
    /// What happens on the way, for people.
    package enum Progress: Sendable {
        /// The camera is open.
        case started(camera: String, mode: CameraMode)
        /// A QR code that is not ours, or ours and not usable: the reason says what to do. Told once a reason.
        case unusable(GantryError)
    }

    /// Between two looks, begin to begin.
    private static let interval = MediaDuration.milliseconds(100)

    /// The text of the first code that `PairingCode.parse` accepts. Blocks the calling thread; looks at most ten times a
    /// second.
    ///
    /// - Parameters:
    ///   - device: a path such as `/dev/video0`.
    ///   - deadline: on the monotonic clock; nil waits for ever.
    ///   - cancel: ends it when signalled.
    ///   - progress: called on the same thread.
    ///   - watch: gets each picture that is looked at, on the same thread, for a preview.
    /// - Throws: `timeout`, `cancelled`, and the errors of `CameraCapture`.
    package static func scan(
        device: String, until deadline: MediaTimestamp?, cancel: EventDescriptor,
        progress: (Progress) -> Void = { _ in }, watch: (Picture) -> Void = { _ in }
    ) throws(GantryError) -> String {
        let camera = try CameraCapture(device: device, wish: CameraWish(frameRate: .fps30), stopper: cancel)
        let scanner = try QRScanner()
        progress(.started(camera: camera.name, mode: camera.mode))
        var found: String?
        var told: Set<GantryError.Code> = []
        var looks = 0
        var next = MonotonicClock.now()
        func wants(_: MediaTimestamp) -> Bool { MonotonicClock.now() >= next }
        try camera.run(until: deadline, wants: wants) { picture in
            next = MonotonicClock.now() + interval
            looks &+= 1
            watch(picture)
            let texts = scanner.scan(picture, effort: .glance(looks))
            for text in texts {
                do throws(GantryError) {
                    _ = try PairingCode.parse(text)
                    found = text
                    return false
                } catch {
                    if told.insert(error.code).inserted { progress(.unusable(error)) }
                }
            }
            return true
        }
        if let found { return found }
        if let deadline, deadline <= MonotonicClock.now() {
            throw GantryError(
                .timeout,
                "The camera \(device) saw no pairing code in time. Hold it so that the whole code of `gantry-studio pair` "
                    + "fills a third of the picture or more, without reflections, and try again.")
        }
        throw GantryError(.cancelled, "Scanning was cancelled.")
    }
}
