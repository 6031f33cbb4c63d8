package import GantryCore
import GantryPlatform
import Glibc

/// A camera as a source. It comes back by itself: a camera that is unplugged, fails or falls silent is looked for until it
/// gives pictures again, under its path or, by its name, under another one. While nobody receives pictures it is closed.
package final class CameraSource: MediaSource, @unchecked Sendable {  // `current`, `past` by `lock`; the rest: `run`.
    package let info: MediaSourceInfo
    /// What the driver calls the camera, made fit for showing.
    package let name: String
    /// Over all openings of it; up to about a second old. Any thread.
    package var statistics: CameraStatistics {
        lock.withLock { past + (current?.statistics ?? CameraStatistics()) }
    }

    private let identity: CameraIdentity
    private let wish: CameraWish
    private let options: CameraOptions
    private let stopping: EventDescriptor
    private let lock = Lock()
    private var current: CameraCapture?
    private var past = CameraStatistics()
    /// Open from `init` to `run`.
    private var first: CameraCapture?
    /// Of the next coded packet.
    private var nextSequence: UInt32 = 0
    private var told: GantryError.Code?
    private var demand = DeviceDemand()

    /// Between two looks whether somebody wants it again.
    private static let glance = MediaDuration.milliseconds(50)
    /// Between two looks for a camera that has gone.
    private static let pause = MediaDuration.milliseconds(250)
    /// For one that is there and cannot be used, the most.
    private static let longestPause = MediaDuration.seconds(1)

    /// - Parameters:
    ///   - path: such as `/dev/video0` or `/dev/v4l/by-id/…`; nil takes `CameraList.best`.
    ///   - options: with `.auto` the camera's own H.264 is passed on when that is its best mode: see
    ///     `MediaSourceInfo.Video.codedAs`.
    /// - Throws: as `CameraCapture`; `sourceNotFound` when there is none.
    package init(path: String?, wish: CameraWish = CameraWish(), options: CameraOptions = CameraOptions())
        throws(GantryError)
    {
        stopping = try EventDescriptor()
        let path: String = if let path { path } else { try CameraList.best().path }
        let camera = try Self.opened(path, wish, options, stopping)
        identity = CameraIdentity(path: path, name: camera.name)
        self.wish = wish
        self.options = options
        name = camera.name
        info = MediaSourceInfo(
            video: .init(
                width: camera.mode.width & ~1, height: camera.mode.height & ~1,
                frameRate: camera.mode.frameRate ?? wish.frameRate, color: camera.color,
                codec: "\(camera.mode.pixels)", codedAs: camera.codedAs),
            isLive: true)
        first = camera
        Log.debug(
            "camera \(path) (\(camera.name)): \(camera.mode)" + (camera.codedAs == nil ? "" : ", passed on as it is"))
    }

    /// Once more when the driver fails, which is often over then.
    private static func opened(
        _ path: String, _ wish: CameraWish, _ options: CameraOptions, _ stopper: EventDescriptor
    ) throws(GantryError) -> CameraCapture {
        do throws(GantryError) {
            return try CameraCapture(device: path, wish: wish, options: options, stopper: stopper)
        } catch {
            guard error.code == .sourceLost else { throw error }
            return try CameraCapture(device: path, wish: wish, options: options, stopper: stopper)
        }
    }

    package func run(start: MediaTimestamp, sink: some MediaSink) -> MediaSourceEnd {
        var next = first
        first = nil
        var pause = Self.pause
        while !isStopped {
            do throws(GantryError) {
                let camera = if let next { next } else { try reopened() }
                next = nil
                lock.withLock { current = camera }
                do {
                    defer { close(camera) }
                    try stream(camera, sink)
                }
            } catch {
                tell(error)
                // What is there and cannot be used is asked less and less often.
                let isGone = error.code == .sourceNotFound || error.code == .sourceLost
                pause = isGone ? Self.pause : min(pause + Self.pause, Self.longestPause)
                _ = stopping.wait(for: pause)
                continue
            }
            waitUntilWanted(sink)
        }
        return .stopped
    }

    /// Nobody receives: others may have the camera, and its light goes out.
    private func waitUntilWanted(_ sink: some MediaSink) {
        guard !isStopped else { return }
        Log.info("Nobody receives pictures: the camera \(name) is free until somebody does.")
        while !sink.wantsVideo, !stopping.wait(for: Self.glance) {}
    }

    private func tell(_ error: GantryError) {
        if told == nil { Log.warning("\(reason(error)) It goes on when it is back.") }
        if told != error.code { Log.info("\(error)") }
        told = error.code
    }

    private func reason(_ error: GantryError) -> String {
        switch error.code {
        case .sourceSilent: "The camera \(name) gives no picture any more."
        case .sourceLost, .sourceNotFound: "The camera \(name) was unplugged, or has failed."
        // Another program, no bandwidth: what is to be done differs.
        default: error.message
        }
    }

    /// Its buffers and its node go with the last reference: before the next one is looked for.
    private func close(_ camera: CameraCapture) {
        lock.withLock {
            past = past + camera.statistics
            current = nil
        }
    }

    private func stream(_ camera: CameraCapture, _ sink: some MediaSink) throws(GantryError) {
        if camera.codedAs != nil {
            demand.begin()
            try camera.runCoded {
                demand.keeps(sink.wantsVideo, now: MonotonicClock.now())
            } _: { packet in
                noteBack()
                nextSequence = packet.header.sequence &+ 1
                return sink.coded(packet)
            }
        } else {
            demand.begin()
            try camera.run { picture in
                noteBack()
                sink.video(picture)
                return demand.keeps(sink.wantsVideo, now: MonotonicClock.now())
            }
        }
    }

    private func noteBack() {
        guard told != nil else { return }
        told = nil
        Log.warning("The camera \(name) is back.")
    }

    /// The same camera, wherever it is now.
    private func reopened() throws(GantryError) -> CameraCapture {
        var failure: GantryError?
        for path in identity.places() {
            do throws(GantryError) {
                // One more than the last: whatever came between is lost.
                let camera = try CameraCapture(
                    device: path, wish: wish, options: options, firstSequence: nextSequence &+ 1, stopper: stopping)
                guard isAsBefore(camera) else { throw CameraFailure.changed(path, camera.mode) }
                return camera
            } catch {
                if failure == nil { failure = error }
            }
        }
        throw failure ?? CameraFailure.lost(identity.path, SystemError(errno: ENODEV, during: "open"))
    }

    /// Pictures may be of any size; who gets packets has been told what they are.
    private func isAsBefore(_ camera: CameraCapture) -> Bool {
        guard let video = info.video, camera.codedAs == video.codedAs else { return false }
        return video.codedAs == nil || (camera.mode.width & ~1, camera.mode.height & ~1) == (video.width, video.height)
    }

    private var isStopped: Bool { stopping.wait(for: .zero) }

    package func stop() { stopping.signal() }
}
