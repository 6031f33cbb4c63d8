public import GantryCore
package import GantryMedia
package import GantryPlatform

extension ProducerController {
    // MARK: Pictures

    /// Hands in one picture; the memory is the caller's again on return. Newest wins: what the encoder has not taken yet
    /// is replaced. Size and format may change from one picture to the next: studios then get a new beginning.
    ///
    /// It is copied or converted here (1280x720: 0.1 ms BGRA); JPEG and H.264 are decoded here, a few milliseconds, unless
    /// `VideoSettings.coded` says that they are handed on. H.264 begins with a key frame: see `needsKeyFrame`.
    ///
    /// - Returns: false when it was let go: not running, no video offered, or ended (`endStream`), paused, captured before the last `resume()`, every
    ///   buffer in use, or H.264 that waits for a key frame.
    /// - Throws: `invalidArgument`, with what was expected, when size, stride and byte count do not fit each other, a coded
    ///   picture is damaged, or the format is not that of `VideoSettings.coded`; `decoder`, `unsupportedCodec` for coded ones.
    @discardableResult
    public func enqueueVideo(_ frame: CapturedFrame) throws(GantryError) -> Bool {
        if let codec = frame.format.codec { return try enqueueCoded(frame, codec) }
        guard let layout = frame.format.layout else { return false }
        let raw = try checked(frame, layout)
        guard let server = running, !server.isPaused,
            let picture = try frames.picture(from: raw, rotation: frame.rotation)
        else { return false }
        return enqueue(picture, frame.captureTime, to: server)
    }

    /// As `enqueueVideo(_:)`, without a copy where the encoder reads the format as it is: NV12 and I420, upright. Their memory
    /// must stay as it is until `release`. All others are converted here, and released before this returns.
    ///
    /// At most two pictures are held at one time, one that waits and one that is being encoded; on return of `stop()` none.
    /// One small object is allocated for each.
    ///
    /// - Parameters:
    ///   - frame: the picture.
    ///   - release: called exactly once, whatever becomes of the picture, also when this returns false or throws; on any
    ///     thread, never under a lock. It may call every method of the controller, but holds up the encoder while it runs.
    /// - Returns: as `enqueueVideo(_:)`.
    /// - Throws: as `enqueueVideo(_:)`.
    @discardableResult
    public func enqueueVideo(
        _ frame: CapturedFrame, release: @escaping @Sendable () -> Void
    ) throws(GantryError) -> Bool {
        guard frame.rotation == 0, let layout = frame.format.layout, layout.pixelFormat != nil else {
            defer { release() }
            return try enqueueVideo(frame)
        }
        let raw: RawFrame
        do throws(GantryError) {
            raw = try checked(frame, layout)
        } catch {
            release()
            throw error
        }
        guard let server = running, !server.isPaused, let picture = Picture(borrowing: raw, release: release) else {
            release()
            return false
        }
        return enqueue(picture, frame.captureTime, to: server)
    }

    /// As `enqueueVideo(_:)` for BGRA.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `stride` bytes (the last may be shorter); 4 bytes a pixel.
    ///   - width: pixels, 16…8192.
    ///   - height: pixels, 16…8192.
    ///   - stride: bytes from one row to the next.
    ///   - captureTime: on `CLOCK_MONOTONIC`, in microseconds; nil: now.
    /// - Returns: as `enqueueVideo(_:)`.
    /// - Throws: as `enqueueVideo(_:)`.
    @discardableResult
    public func enqueueVideo(
        bgra pixels: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int, captureTime: MediaTimestamp? = nil
    ) throws(GantryError) -> Bool {
        var frame = CapturedFrame(.bgra, width: width, height: height, .init(pixels, stride: stride))
        frame.captureTime = captureTime
        return try enqueueVideo(frame)
    }

    /// Whether the next picture of H.264 must be a key frame: nothing goes out before one comes. Ask the encoder of your device
    /// for one then. False for other formats, and when not running.
    public var needsKeyFrame: Bool {
        guard let server = running else { return false }
        guard server.videoSettings?.coded == nil else { return server.wantsDeviceKeyFrame }
        return server.isReceived(.video) && (codedInput(nil)?.needsKeyFrame ?? false)
    }

    /// Of the run that is on; else what the next one begins with.
    private var videoSettings: ProducerConfiguration.VideoSettings? {
        guard let running else { return configuration.video }
        return running.videoSettings
    }

    private func checked(_ frame: CapturedFrame, _ layout: RawFrame.Layout) throws(GantryError) -> RawFrame {
        if let coded = videoSettings?.coded { throw Self.wrongFormat(frame.format, coded.codec) }
        return try frame.raw(layout)
    }

    private static func wrongFormat(_ given: CapturedFrame.Format, _ wanted: MediaCodec) -> GantryError {
        GantryError(
            .invalidArgument,
            "This producer hands on \(wanted) as it comes (VideoSettings.coded), and the picture is \(given). Set `coded` to nil "
                + "to have pictures encoded.")
    }

    private func enqueue(_ picture: Picture, _ captureTime: MediaTimestamp?, to server: ProducerServer) -> Bool {
        let time = captureTime ?? MonotonicClock.now()
        picture.captureTime = time
        picture.presentationTime = time
        return server.enqueue(.picture(picture))
    }

    private func enqueueCoded(_ frame: CapturedFrame, _ codec: MediaCodec) throws(GantryError) -> Bool {
        let passesOn = videoSettings?.coded
        if let passesOn, passesOn.codec != codec { throw Self.wrongFormat(frame.format, passesOn.codec) }
        if passesOn != nil, frame.rotation != 0 {
            throw GantryError(
                .invalidArgument,
                "Pictures that are handed on cannot be turned: say it in VideoSettings.coded.rotation.")
        }
        guard let server = running, !server.isPaused, server.offers(.video), let input = codedInput(codec) else {
            return false
        }
        let (bytes, time) = (frame.planes.0.bytes, frame.captureTime ?? MonotonicClock.now())
        if passesOn != nil {
            guard case .packet(let packet) = try input.packet(bytes, stamp: time) else { return false }
            return server.enqueue(.coded(packet))
        }
        guard server.isReceived(.video) else {
            input.skip()
            return true
        }
        guard case .picture(let picture) = try input.decode(bytes, stamp: time),
            let upright = try frames.turned(picture, by: frame.rotation)
        else { return false }
        return enqueue(upright, time, to: server)
    }

    // MARK: Sound

    /// Hands in sound of any length up to a second; the memory is the caller's again on return. Pieces follow each other by their
    /// stamps: a gap of more than 100 ms is a new beginning.
    ///
    /// - Parameters:
    ///   - data: samples, interleaved, as `format` says; by default 32-bit integers, stereo, 48 kHz.
    ///   - format: what the bytes are.
    ///   - captureTime: of the first sample, on `CLOCK_MONOTONIC`, in microseconds; nil: the last one is captured just now.
    /// - Returns: false when it was let go: not running, no sound offered, or ended (`endStream`), paused, or too much waits.
    /// - Throws: `invalidArgument`, with what was expected, for other rates and channels, a count that is no whole number of
    ///   samples, and more than a second at once.
    @discardableResult
    public func enqueuePCMAudio(
        data: UnsafeRawBufferPointer, format: PCMFormat = PCMFormat(), captureTime: MediaTimestamp? = nil
    ) throws(GantryError) -> Bool {
        try format.check(count: data.count)
        guard let server = running, server.offers(.audio), !server.isPaused else { return false }
        let count = data.count / format.frameSize
        let length = MediaDuration.microseconds(Int64(count) * 1_000_000 / Int64(format.sampleRate))
        return try sound.convert(
            data, format.sample.input, channels: format.channels, rate: format.sampleRate,
            stamp: captureTime ?? MonotonicClock.now() - length
        ) { server.enqueue($0) }
    }

    /// As `enqueuePCMAudio(data:format:captureTime:)`, of an array of `Int16`, `Int32` or `Float`.
    ///
    /// - Parameters:
    ///   - samples: left, right, left, right; or of one channel.
    ///   - channels: 1 or 2.
    ///   - sampleRate: hertz.
    ///   - captureTime: of the first sample; nil: the last one is captured just now.
    /// - Returns: as `enqueuePCMAudio(data:format:captureTime:)`.
    /// - Throws: as `enqueuePCMAudio(data:format:captureTime:)`.
    @discardableResult
    public func enqueuePCMAudio(
        _ samples: [some PCMSample], channels: Int = 2, sampleRate: Int = 48_000, captureTime: MediaTimestamp? = nil
    ) throws(GantryError) -> Bool {
        try samples.withUnsafeBufferPointer { buffer throws(GantryError) in
            try enqueuePCMAudio(
                data: UnsafeRawBufferPointer(buffer), format: Self.format(samples, channels, sampleRate),
                captureTime: captureTime)
        }
    }

    private static func format<Sample: PCMSample>(_: [Sample], _ channels: Int, _ sampleRate: Int) -> PCMFormat {
        PCMFormat(Sample.pcmSample, channels: channels, sampleRate: sampleRate)
    }

    /// Samples of each channel that studios take in one packet, while at least one wants sound; else 0. The best length for
    /// `enqueuePCMAudio`, which takes others as well; changes are told (`ProducerEvent.demandChanged`, the delegate).
    public var audioSamplesRequired: Int { running?.audioSamplesRequired ?? 0 }

    /// Whether a studio receives pictures, or sound. Whoever feeds the producer from a device may close that meanwhile; changes
    /// are told (`ProducerEvent.demandChanged`).
    public func isReceived(_ kind: MediaKind) -> Bool { running?.isReceived(kind) ?? false }

    // MARK: For gantry-producer: from our own sources, without a copy

    /// As `enqueueVideo` for a picture in memory of ours.
    @discardableResult
    package func enqueue(_ picture: Picture) -> Bool { running?.enqueue(.picture(picture)) ?? false }

    /// Hands on what a device has coded, as `VideoSettings.coded` says. The packet is the producer's from now on.
    ///
    /// - Returns: true when the device shall make a key frame soon.
    package func enqueue(coded packet: MediaPacket) -> Bool {
        guard let server = running else { return false }
        _ = server.enqueue(.coded(packet))
        return server.takesKeyFrameRequest
    }

    /// Sound of any length; becomes packets of 10 ms.
    package func enqueue(_ block: AudioBlock) { running?.enqueue(block) }

    /// Waits until the encoder has taken the last picture: for sources that can wait. False after `deadline`.
    package func waitForVideoRoom(until deadline: MediaTimestamp) -> Bool {
        running?.waitForVideoRoom(until: deadline) ?? false
    }
}
