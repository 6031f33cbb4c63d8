package import GantryCore
package import GantryPlatform
import Glibc

/// A V4L2 camera that is open and set up (single planar, memory mapped).
///
/// `init` chooses the mode and takes the device for itself; `run` streams on the caller's thread, once. Only `stop` may
/// be called from elsewhere.
package final class CameraCapture: @unchecked Sendable {  // All but `stopper` belongs to the running thread.
    /// What the driver calls the camera, made fit for showing.
    package let name: String
    /// What was agreed on; the pictures are of this size, cut to even.
    package let mode: CameraMode
    /// Of the pictures. JPEG cameras are in full range.
    package let color: ColorDescription
    /// Pictures that the driver marked as damaged, that were too short, or no JPEG.
    package private(set) var damagedCount = 0
    /// Pictures for which all pooled ones were in use.
    package private(set) var droppedCount = 0

    private let device: V4L2Device
    private let memory: V4L2Memory
    private let pictures: CameraPictures
    private let stopper: EventDescriptor

    /// After this a camera counts as silent. The slowest webcams give a picture a second in the dark.
    private static let patience = MediaDuration.seconds(5)
    /// EIO may pass ("temporary problems like signal loss", VIDIOC_DQBUF); so many in a row do not.
    private static let failureLimit = 10
    /// A driver's stamp that is further from now than this is not on our clock.
    private static let stampLimit = MediaDuration.seconds(2)

    /// - Parameters:
    ///   - device: a path such as `/dev/video0`.
    ///   - stopper: ends `run` when it is signalled; nil makes one.
    /// - Throws: `sourceNotFound`, `sourceNotPermitted`, `sourceBusy`, `sourceUnreadable` (not a camera),
    ///   `unsupportedCodec` (no usable format), `sourceLost`.
    package init(device path: String, wish: CameraWish = CameraWish(), stopper: EventDescriptor? = nil)
        throws(GantryError)
    {
        if let stopper { self.stopper = stopper } else { self.stopper = try EventDescriptor() }
        device = try V4L2Device(path: path)
        let setup = try CameraSetup(device, wish: wish)
        (name, mode, color) = (setup.name, setup.mode, setup.color)
        guard
            let pictures = try CameraPictures(
                pixels: mode.pixels, width: mode.width, height: mode.height, stride: setup.stride, color: color)
        else { throw CameraFailure.impossibleSize(path, mode) }
        self.pictures = pictures
        do throws(SystemError) { memory = try V4L2Memory(device) } catch {
            throw CameraFailure.during(path, error)
        }
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
        try start()
        defer { device.stopStreaming() }
        var failures = 0
        var newest = MonotonicClock.now()
        while true {
            if let deadline, deadline <= MonotonicClock.now() { return }
            let silence = newest + Self.patience
            switch try wait(until: deadline.map { min($0, silence) } ?? silence) {
            case .stopped: return
            case .timeout:
                // It was the deadline, or a signal ended the wait early.
                guard silence <= MonotonicClock.now() else { continue }
                throw CameraFailure.silent(device.path, seconds: Self.patience.microseconds / 1_000_000)
            case .ready(let isFaulty):
                guard let filled = try dequeue(isFaulty: isFaulty, &failures) else { continue }
                let stamp = stamp(of: filled)
                let picture = try convert(filled, isWanted: wants(stamp))
                if !filled.isDamaged { newest = MonotonicClock.now() }
                guard let picture else { continue }
                (picture.captureTime, picture.presentationTime) = (stamp, stamp)
                if try !body(picture) { return }
            }
        }
    }

    /// Makes `run` return soon. Any thread, any time, also before `run`.
    package func stop() { stopper.signal() }

    private func start() throws(GantryError) {
        do throws(SystemError) {
            for index in 0..<memory.count { try device.enqueue(index) }
            try device.startStreaming()
        } catch {
            // v4l2loopback answers EIO as long as nobody writes.
            throw error.errno == EIO
                ? CameraFailure.silent(device.path, seconds: 0) : CameraFailure.during(device.path, error)
        }
    }

    private enum Event {
        case ready(isFaulty: Bool)
        case timeout, stopped
    }

    private func wait(until deadline: MediaTimestamp) throws(GantryError) -> Event {
        let left = max(0, (deadline - MonotonicClock.now()).microseconds)
        var waiting = (
            pollfd(fd: device.rawValue, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stopper.rawValue, events: Int16(POLLIN), revents: 0)
        )
        let status = withUnsafeMutableBytes(of: &waiting) { bytes in
            // Rounded up: a wait that is too short by a part of a millisecond would spin.
            poll(bytes.assumingMemoryBound(to: pollfd.self).baseAddress, 2, CInt(clamping: (left + 999) / 1000))
        }
        if status < 0, errno != EINTR {
            throw CameraFailure.lost(device.path, SystemError(errno: errno, during: "poll"))
        }
        if status > 0, waiting.1.revents != 0 { return .stopped }
        if status > 0, waiting.0.revents != 0 {
            return .ready(isFaulty: waiting.0.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0)
        }
        return .timeout
    }

    /// Nil when there is no buffer after all.
    ///
    /// - Parameter failures: how many have failed in a row.
    private func dequeue(isFaulty: Bool, _ failures: inout Int) throws(GantryError) -> V4L2Device.Filled? {
        do throws(SystemError) {
            if let filled = try device.dequeue() {
                failures = 0
                return filled
            }
            // A fault and no buffer: the same would be said again at once.
            if !isFaulty { return nil }
            throw SystemError(errno: EIO, during: "poll")
        } catch {
            failures += 1
            if error.errno == EIO, failures < Self.failureLimit { return nil }
            throw CameraFailure.lost(device.path, error)
        }
    }

    /// The buffer goes back to the driver at once: what comes out is a copy.
    private func convert(_ filled: V4L2Device.Filled, isWanted: Bool) throws(GantryError) -> Picture? {
        var picture: Picture?
        if filled.isDamaged {
            damagedCount &+= 1
        } else if isWanted, let bytes = memory.bytes(filled) {
            switch try pictures.convert(bytes) {
            case .picture(let converted): picture = converted
            case .damaged: damagedCount &+= 1
            case .full: droppedCount &+= 1
            }
        }
        do throws(SystemError) { try device.enqueue(filled.index) } catch {
            throw CameraFailure.lost(device.path, error)
        }
        return picture
    }

    private func stamp(of filled: V4L2Device.Filled) -> MediaTimestamp {
        let now = MonotonicClock.now()
        guard let stamp = filled.stamp, stamp <= now, now - stamp < Self.stampLimit else { return now }
        return stamp
    }
}
