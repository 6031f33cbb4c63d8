import CLibAV
import GantryCore
import GantryPlatform

/// The video of a file: packets in, upright I420 pictures with stamps out. Owned by the reading thread.
final class FileVideoTrack {
    enum Step { case progressed, needsPacket, noRoom, ended }

    let decoder: LibAVStreamDecoder
    let info: MediaSourceInfo.Video
    /// In this pass, from the beginning of the file.
    private(set) var clock = StreamClock()
    private let fitter: FrameFitter
    private let pictures: ReusePool<Picture>
    private let frameRateLimit: FrameRate?
    /// `decoder.frame` waits for a free picture.
    private var frameWaits = false
    private var lastSlot: Int64 = -1
    /// The first reason why a frame could not be converted.
    private(set) var conversionError: GantryError?

    /// - Throws: `unsupportedCodec`, `decoder`, `sourceUnreadable` when the size is unknown or too large,
    ///   `invalidArgument` when the wanted size is odd or out of range.
    init(input: LibAVInput, stream: UnsafeMutablePointer<AVStream>, options: MediaFileOptions) throws(GantryError) {
        decoder = try LibAVStreamDecoder(stream: stream, isLive: input.isLive)
        guard let parameters = stream.pointee.codecpar?.pointee, parameters.width > 0, parameters.height > 0,
            parameters.width <= CInt(Picture.maximumSide), parameters.height <= CInt(Picture.maximumSide)
        else {
            throw GantryError(
                .sourceUnreadable,
                "The pictures in the file have no size, or one above 8192x8192. It may be damaged; "
                    + "check it with: ffprobe FILE")
        }
        let rotation = Self.rotation(of: stream)
        fitter = FrameFitter(rotation: rotation)
        var size = FrameFitter.evenSize(
            width: Int(parameters.width), height: Int(parameters.height), rotation: rotation)
        if let wanted = options.size {
            guard wanted.width % 2 == 0, wanted.height % 2 == 0, 16...Picture.maximumSide ~= wanted.width,
                16...Picture.maximumSide ~= wanted.height
            else {
                throw GantryError(
                    .invalidArgument,
                    "\(wanted.width)x\(wanted.height) is not a picture size. Choose an even one, for "
                        + "example --size 1280x720.")
            }
            size = (wanted.width, wanted.height)
        }
        var color = FrameConverter.color(
            format: AVPixelFormat(parameters.format), height: Int(parameters.height),
            primaries: parameters.color_primaries, transfer: parameters.color_trc, matrix: parameters.color_space,
            range: parameters.color_range)
        color.isFullRange = false
        let rate = Self.frameRate(of: stream, in: input)
        frameRateLimit = options.frameRate
        let slower = options.frameRate.map { $0.framesPerSecond < rate.framesPerSecond ? $0 : rate } ?? rate
        info = MediaSourceInfo.Video(
            width: size.width, height: size.height, frameRate: slower, color: color, codec: decoder.codecName)
        let (width, height, promised) = (size.width, size.height, color)
        // The queue's, one in the sink's slot, two being encoded or shown, one being filled, one to spare.
        pictures = ReusePool(capacity: FileMediaQueue.pictureCapacity + 5) {
            Picture(format: .i420, width: width, height: height, color: promised)
        }
    }

    /// Does one small thing.
    ///
    /// - Parameter origin: The presentation time of the file's first stamp in this pass.
    func step(into queue: FileMediaQueue, input: LibAVInput, inputEnded: Bool, origin: MediaTimestamp) -> Step {
        guard queue.hasPictureRoom else { return .noRoom }
        if !frameWaits {
            switch decoder.step(inputEnded: inputEnded) {
            case .frame: frameWaits = true
            case .progressed: return .progressed
            case .needsPacket: return .needsPacket
            case .ended: return .ended
            }
        }
        guard let picture = pictures.take() else { return .noRoom }
        frameWaits = false
        let time = timeOfFrame(input)
        guard isWanted(time) else { return .progressed }
        do throws(GantryError) {
            try fitter.fit(decoder.frame, into: picture)
        } catch {
            if conversionError == nil { conversionError = error }
            return .progressed
        }
        picture.presentationTime = origin + time
        queue.push(picture)
        return .progressed
    }

    func restart() {
        decoder.flush()
        clock.restart()
        frameWaits = false
        lastSlot = -1
    }

    private func timeOfFrame(_ input: LibAVInput) -> MediaDuration {
        let frame = decoder.frame.pointee
        let base = decoder.stream.pointee.time_base
        let micros = AVRational(num: 1, den: 1_000_000)
        var stamp: MediaDuration?
        if frame.best_effort_timestamp != libAVNoTimestamp {
            stamp = .microseconds(av_rescale_q(frame.best_effort_timestamp, base, micros) &- input.startTime)
        }
        let known = av_rescale_q(CLibAV_frame_duration(decoder.frame), base, micros)
        let duration = 1...10_000_000 ~= known ? .microseconds(known) : info.frameRate.frameDuration
        return clock.time(of: stamp, duration: duration)
    }

    /// With a rate limit: the first frame in each slot of 1 / rate.
    private func isWanted(_ time: MediaDuration) -> Bool {
        guard let limit = frameRateLimit else { return true }
        // A hundredth of a slot of tolerance: stamps are rounded.
        let slot = Int64((time.seconds * limit.framesPerSecond + 0.01).rounded(.down))
        defer { lastSlot = slot }
        return slot != lastSlot
    }

    /// Clockwise, from the display matrix; angles between are taken to the nearest right angle.
    private static func rotation(of stream: UnsafeMutablePointer<AVStream>) -> Int {
        guard let matrix = CLibAV_display_matrix(stream) else { return 0 }
        let angle = av_display_rotation_get(matrix)
        guard angle.isFinite else { return 0 }
        // av_display_rotation_get counts counter-clockwise, −180…180.
        let turns = Int((-angle / 90).rounded())
        return ((turns % 4) + 4) % 4 * 90
    }

    private static func frameRate(of stream: UnsafeMutablePointer<AVStream>, in input: LibAVInput) -> FrameRate {
        let guess = av_guess_frame_rate(input.context, stream, nil)
        for rate in [guess, stream.pointee.avg_frame_rate] {
            guard let numerator = UInt32(exactly: rate.num), let denominator = UInt32(exactly: rate.den),
                let result = FrameRate(numerator, denominator), result.framesPerSecond <= 240
            else { continue }
            return result
        }
        return .fps30
    }
}
