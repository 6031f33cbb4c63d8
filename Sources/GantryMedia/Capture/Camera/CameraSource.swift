package import GantryCore
import GantryPlatform
import Glibc

/// A camera as a source. It comes back by itself: a camera that is unplugged, fails or falls silent is looked for until it
/// gives pictures again, under its path or, by its name, under another one.
package final class CameraSource: MediaSource, @unchecked Sendable {  // `first` belongs to the thread of `run`.
    /// Between two looks for a camera that has gone.
    private static let pause = MediaDuration.milliseconds(250)

    package let info: MediaSourceInfo
    /// What the driver calls the camera, made fit for showing.
    package let name: String

    private let path: String
    private let wish: CameraWish
    private let stopping: EventDescriptor
    /// Open from `init` to `run`.
    private var first: CameraCapture?

    /// - Parameter path: such as `/dev/video0` or `/dev/v4l/by-id/…`; nil takes `CameraList.best`.
    /// - Throws: as `CameraCapture`; `sourceNotFound` when there is none.
    package init(path: String?, wish: CameraWish = CameraWish()) throws(GantryError) {
        stopping = try EventDescriptor()
        let path: String = if let path { path } else { try CameraList.best().path }
        let camera = try CameraCapture(device: path, wish: wish, stopper: stopping)
        self.path = path
        self.wish = wish
        name = camera.name
        info = MediaSourceInfo(
            video: .init(
                width: camera.mode.width & ~1, height: camera.mode.height & ~1,
                frameRate: camera.mode.frameRate ?? wish.frameRate, color: camera.color,
                codec: "\(camera.mode.pixels)"),
            isLive: true)
        first = camera
        Log.debug("camera \(path) (\(camera.name)): \(camera.mode)")
    }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        var told: GantryError.Code?
        var next = first
        first = nil
        while !isStopped {
            do throws(GantryError) {
                let camera = if let next { next } else { try reopened() }
                next = nil
                try stream(camera, told != nil, sink)
                return .stopped
            } catch {
                if told == nil { Log.warning("\(reason(error)) It goes on when it is back.") }
                if told != error.code { Log.info("\(error)") }
                told = error.code
                wait()
            }
        }
        return .stopped
    }

    private func reason(_ error: GantryError) -> String {
        switch error.code {
        case .sourceSilent: "The camera \(name) gives no picture any more."
        case .sourceBusy: "Another program has taken the camera \(name)."
        default: "The camera \(name) was unplugged, or has failed."
        }
    }

    private func stream(_ camera: CameraCapture, _ wasGone: Bool, _ sink: some MediaSink) throws(GantryError) {
        var isBack = wasGone
        try camera.run { picture in
            if isBack { Log.warning("The camera \(name) is back.") }
            isBack = false
            sink.video(picture)
            return true
        }
    }

    /// The same camera, wherever it is now.
    private func reopened() throws(GantryError) -> CameraCapture {
        var failure: GantryError?
        for path in [path] + CameraFailure.devices() {
            do throws(GantryError) {
                let camera = try CameraCapture(device: path, wish: wish, stopper: stopping)
                if camera.name == name { return camera }
            } catch {
                if failure == nil { failure = error }
            }
        }
        throw failure ?? CameraFailure.lost(path, SystemError(errno: ENODEV, during: "open"))
    }

    private var isStopped: Bool { waitForStop(0) }
    private func wait() { _ = waitForStop(CInt(clamping: Self.pause.microseconds / 1000)) }

    private func waitForStop(_ milliseconds: CInt) -> Bool {
        var waiting = pollfd(fd: stopping.rawValue, events: Int16(POLLIN), revents: 0)
        return poll(&waiting, 1, milliseconds) > 0
    }

    package func stop() { stopping.signal() }
}
