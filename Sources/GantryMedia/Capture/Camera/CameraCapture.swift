package import GantryCore
package import GantryPlatform
import Glibc

/// A V4L2 camera that is open and set up (single planar, memory mapped).
///
/// `init` chooses the mode and takes the device for itself; `run` or `runCoded` streams on the caller's thread, once. Only
/// `stop` may be called from elsewhere, and `statistics` be read.
package final class CameraCapture: @unchecked Sendable {  // `published` by `lock`; the rest: running thread.
    /// What the driver calls the camera, made fit for showing.
    package let name: String
    /// What was agreed on; the pictures are of this size, cut to even.
    package let mode: CameraMode
    /// Of the pictures. JPEG cameras are in full range.
    package let color: ColorDescription
    /// What is passed on as it is, by `runCoded`; nil when there are pictures, by `run`.
    package let codedAs: MediaCodec?
    /// Up to about a second old. Any thread.
    package var statistics: CameraStatistics { lock.withLock { published } }

    private let device: V4L2Device
    private let memory: V4L2Memory
    private let output: Output
    private let stopper: EventDescriptor
    private let hasKeyFrameControl: Bool
    /// The order of H.264 matters; of independent pictures only the newest does.
    private let takesAll: Bool

    private var counts = CameraStatistics()
    private var rate = CameraRate()
    private var watch: CameraRateWatch
    private var sequence: CameraSequence
    private var nextReport = MediaTimestamp(microseconds: 0)
    private var nextKeyFrame = MediaTimestamp(microseconds: 0)
    private let lock = Lock()
    private var published = CameraStatistics()

    private enum Output {
        case pictures(CameraPictures)
        case packets(CameraPackets)
    }

    /// After this a camera counts as silent. The slowest webcams give a picture a second in the dark.
    private static let patience = MediaDuration.seconds(5)
    /// EIO may pass ("temporary problems like signal loss", VIDIOC_DQBUF); so many in a row do not.
    private static let failureLimit = 10
    /// A driver's stamp that is further from now than this is not on our clock.
    private static let stampLimit = MediaDuration.seconds(2)
    private static let keyFrameInterval = MediaDuration.milliseconds(500)
    /// What waits in the queues of several studios.
    private static let packetCapacity = 64

    /// - Parameters:
    ///   - device: a path such as `/dev/video0`.
    ///   - firstSequence: the number of the first coded packet.
    ///   - stopper: ends `run` when it is signalled; nil makes one.
    /// - Throws: `sourceNotFound`, `sourceNotPermitted`, `sourceBusy`, `sourceUnreadable` (not a camera),
    ///   `unsupportedCodec` (no usable format), `invalidArgument` (a control), `sourceSilent`, `sourceLost`.
    package init(
        device path: String, wish: CameraWish = CameraWish(), options: CameraOptions = CameraOptions(),
        firstSequence: UInt32 = 0, stopper: EventDescriptor? = nil
    ) throws(GantryError) {
        if let stopper { self.stopper = stopper } else { self.stopper = try EventDescriptor() }
        device = try V4L2Device(path: path)
        let setup = try CameraSetup(device, wish: wish, options: options)
        (name, mode, color) = (setup.name, setup.mode, setup.color)
        try CameraTuning(device, camera: setup.name).apply(options.controls)
        if let codec = mode.pixels.codec, options.delivery.passesOn(mode.pixels) {
            output = .packets(CameraPackets(codec: codec, capacity: Self.packetCapacity))
            codedAs = codec
        } else {
            guard
                let pictures = try CameraPictures(
                    pixels: mode.pixels, width: mode.width, height: mode.height, stride: setup.stride, color: color)
            else { throw CameraFailure.impossibleSize(path, mode) }
            output = .pictures(pictures)
            codedAs = nil
        }
        takesAll = mode.pixels == .h264
        hasKeyFrameControl = takesAll && device.hasKeyFrameControl
        watch = CameraRateWatch(nominal: mode.frameRate ?? wish.frameRate)
        sequence = CameraSequence(first: firstSequence)
        do throws(SystemError) { memory = try V4L2Memory(device) } catch {
            throw CameraFailure.during(path, error)
        }
    }

    /// Streams pictures until `stop`, until `deadline`, or until `body` says false. Nothing comes where `codedAs` is not
    /// nil.
    ///
    /// - Parameters:
    ///   - wants: asked with the stamp of each picture before it is converted; false leaves it out.
    ///   - body: gets a pooled I420 picture whose capture and presentation time are the driver's stamp.
    /// - Throws: `sourceLost` (unplugged, or the driver failed), `sourceSilent` (no picture for five seconds),
    ///   `sourceBusy` (or no USB bandwidth), and what `body` throws.
    package func run(
        until deadline: MediaTimestamp? = nil, wants: (MediaTimestamp) -> Bool = { _ in true },
        _ body: (Picture) throws(GantryError) -> Bool
    ) throws(GantryError) {
        try stream(until: deadline) { (bytes, number, stamp) throws(GantryError) in
            // All of H.264 must be decoded for the next to be.
            guard case .pictures(let pictures) = output, wants(stamp) || takesAll,
                let picture = try convert(bytes, number, pictures)
            else { return true }
            (picture.captureTime, picture.presentationTime) = (stamp, stamp)
            counts.delivered &+= 1
            return try body(picture)
        }
    }

    /// Streams what the camera has coded until `stop`. Nothing comes where `codedAs` is nil.
    ///
    /// - Parameters:
    ///   - goesOn: asked after each picture; false ends it.
    ///   - body: gets a pooled packet; true asks for a key frame. Cameras that cannot be asked give one when they please.
    /// - Throws: as `run`.
    package func runCoded(
        while goesOn: () -> Bool = { true }, _ body: (MediaPacket) -> Bool
    ) throws(GantryError) {
        try stream(until: nil) { (bytes, number, stamp) throws(GantryError) in
            guard case .packets(let packets) = output else { return true }
            switch packets.pack(bytes, sequence: number, stamp: stamp) {
            case .packet(let packet):
                counts.delivered &+= 1
                if body(packet) { requestKeyFrame() }
            case .damaged: counts.damaged &+= 1
            case .full: counts.dropped &+= 1
            }
            return goesOn()
        }
    }

    /// Makes `run` return soon. Any thread, any time, also before `run`.
    package func stop() { stopper.signal() }

    // MARK: Streaming

    /// - Parameter each: gets the bytes of a picture, which hold during the call, its number and its stamp; false ends it.
    private func stream(
        until deadline: MediaTimestamp?,
        _ each: (UnsafeRawBufferPointer, UInt32, MediaTimestamp) throws(GantryError) -> Bool
    ) throws(GantryError) {
        try start()
        defer {
            device.stopStreaming()
            publish()
        }
        var failures = 0
        var newest = MonotonicClock.now()
        var promise = EmptyPromise(patience: Self.patience)
        while true {
            if let deadline, deadline <= MonotonicClock.now() { return }
            let silence = newest + Self.patience
            switch try wait(until: deadline.map { min($0, silence) } ?? silence) {
            case .stopped: return
            case .timeout:
                // It was the deadline, or a signal ended the wait early.
                guard silence <= MonotonicClock.now() else { continue }
                throw silent()
            case .ready(let isFaulty):
                let filled = try next(isFaulty: isFaulty, &failures)
                let now = MonotonicClock.now()
                let damaged = counts.damaged
                var goesOn = true
                if let filled {
                    if let bytes = memory.bytes(filled.buffer) { goesOn = try each(bytes, filled.number, filled.stamp) }
                    // What came out is a copy.
                    try enqueue(filled.buffer.index)
                    report(now)
                }
                if !goesOn { return }
                if filled != nil && counts.damaged == damaged {
                    newest = now
                    promise.kept()
                } else if promise.broken(now: now) {
                    throw silent()
                }
            }
        }
    }

    private func silent() -> GantryError {
        CameraFailure.silent(device.path, seconds: Self.patience.microseconds / 1_000_000)
    }

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

    private struct Numbered {
        var buffer: V4L2Device.Filled
        var number: UInt32
        var stamp: MediaTimestamp
    }

    /// Empties the driver's queue and keeps the newest good picture; of H.264 the oldest.
    private func next(isFaulty: Bool, _ failures: inout Int) throws(GantryError) -> Numbered? {
        var kept: Numbered?
        for _ in 0..<memory.count {
            guard let buffer = try dequeue(isFaulty: isFaulty && kept == nil, &failures) else { break }
            let numbered = Numbered(buffer: buffer, number: sequence.next(buffer.sequence), stamp: stamp(of: buffer))
            rate.add(numbered.stamp)
            // Empty: of raw pictures drivers may leave the count out, of coded ones there is nothing but an old one.
            let isEmpty = buffer.count == 0 && mode.pixels.codec != nil
            guard !buffer.isDamaged, !isEmpty, memory.holds(buffer.index) else {
                counts.damaged &+= 1
                try enqueue(buffer.index)
                continue
            }
            if let older = kept {
                counts.skipped &+= 1
                try enqueue(older.buffer.index)
            }
            kept = numbered
            if takesAll { break }
        }
        return kept
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

    private func enqueue(_ index: Int) throws(GantryError) {
        do throws(SystemError) { try device.enqueue(index) } catch { throw CameraFailure.lost(device.path, error) }
    }

    private func stamp(of filled: V4L2Device.Filled) -> MediaTimestamp {
        let now = MonotonicClock.now()
        guard let stamp = filled.stamp, stamp <= now, now - stamp < Self.stampLimit else { return now }
        return stamp
    }

    // MARK: Pictures

    private func convert(
        _ bytes: UnsafeRawBufferPointer, _ number: UInt32, _ pictures: CameraPictures
    ) throws(GantryError) -> Picture? {
        var picture: Picture?
        switch try pictures.convert(bytes, sequence: number) {
        case .picture(let converted): picture = converted
        case .damaged: counts.damaged &+= 1
        case .full: counts.dropped &+= 1
        case .waiting: counts.skipped &+= 1
        }
        if pictures.needsKeyFrame { requestKeyFrame() }
        return picture
    }

    private func requestKeyFrame() {
        let now = MonotonicClock.now()
        guard hasKeyFrameControl, now >= nextKeyFrame else { return }
        nextKeyFrame = now + Self.keyFrameInterval
        device.requestKeyFrame()
    }

    // MARK: Reports

    private func report(_ now: MediaTimestamp) {
        guard now >= nextReport else { return }
        nextReport = now + .seconds(1)
        publish()
        guard let measured = counts.measuredRate, let notice = watch.note(measured, now: now) else { return }
        let nominal = mode.frameRate.map { " instead of \($0)" } ?? ""
        switch notice {
        case .slow(let rate):
            Log.info(
                "The camera \(name) gives \(CameraCandidate.text(rate)) pictures a second\(nominal). If it is dark, more light or a "
                    + "shorter exposure helps; if pictures are lost (\(counts.lost) so far), another USB port.")
        case .recovered(let rate):
            Log.info("The camera \(name) gives \(CameraCandidate.text(rate)) pictures a second again.")
        }
    }

    private func publish() {
        counts.measuredRate = rate.perSecond
        counts.lost = sequence.lostCount
        lock.withLock { published = counts }
    }
}
