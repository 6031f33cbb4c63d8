import CLibAV
import GantryCore
import GantryPlatform

/// Reads and decodes a file ahead of its time, into a `FileMediaQueue`. Made by the opening thread, then owned by the
/// reading thread.
///
/// One thread does it all: sound first (a second of it is kept ready, so that a slow picture never makes it late), then
/// pictures. Packets of the stream that has no room wait in a bounded ring, which absorbs bad interleaving.
final class MediaFileReader: @unchecked Sendable {  // Handed from the opening to the reading thread; never shared.
    let info: MediaSourceInfo
    private let url: String
    private let input: LibAVInput
    private let guardian: LibAVInput.Guardian
    private let options: MediaFileOptions
    private let video: FileVideoTrack?
    private let audio: FileAudioTrack?
    private let packet: UnsafeMutablePointer<AVPacket>
    private var inputEnded = false
    private var readError: CInt?
    /// Read errors one after the other.
    private var errorRun = 0

    /// - Throws: See `MediaFileSource.init`.
    init(url: String, options: MediaFileOptions, guardian: LibAVInput.Guardian) throws(GantryError) {
        let input = try LibAVInput(url: url, guardian: guardian)
        guard let packet = av_packet_alloc() else { throw GantryError(.general, "There is no memory left.") }
        var unused: UnsafeMutablePointer<AVPacket>? = packet
        do throws(GantryError) {
            let tracks = try Self.openTracks(of: input, url: url, options: options)
            (video, audio) = (tracks.video, tracks.audio)
        } catch {
            av_packet_free(&unused)
            throw error
        }
        self.url = LibAVInput.shown(url)
        self.input = input
        self.guardian = guardian
        self.options = options
        self.packet = packet
        let length = input.context.pointee.duration
        info = MediaSourceInfo(
            video: video?.info, audio: audio?.info,
            duration: options.loops || length <= 0 ? nil : .microseconds(length), isLive: input.isLive)
        for index in 0..<Int(input.context.pointee.nb_streams) {
            guard let stream = input.context.pointee.streams[index] else { continue }
            if stream != video?.decoder.stream, stream != audio?.decoder.stream {
                stream.pointee.discard = AVDISCARD_ALL
            }
        }
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    private static func openTracks(
        of input: LibAVInput, url: String, options: MediaFileOptions
    ) throws(GantryError) -> (video: FileVideoTrack?, audio: FileAudioTrack?) {
        let url = LibAVInput.shown(url)
        let videoStream = bestVideo(in: input.context)
        let audioStream = options.audio ? best(AVMEDIA_TYPE_AUDIO, in: input.context) : nil
        guard videoStream != nil || audioStream != nil else {
            throw GantryError(
                .sourceHasNoMedia,
                options.audio
                    ? "\(url) has neither pictures nor sound. See what is in it with: ffprobe \(url)"
                    : "\(url) has no pictures, and sound is switched off. See what is in it with: ffprobe \(url)")
        }
        var video: FileVideoTrack?
        if let videoStream { video = try FileVideoTrack(input: input, stream: videoStream, options: options) }
        var audio: FileAudioTrack?
        if let audioStream {
            do throws(GantryError) {
                audio = try FileAudioTrack(input: input, stream: audioStream)
            } catch {
                guard video != nil else { throw error }
                Log.warning("The sound of \(url) is left out: \(error)")
            }
        }
        return (video, audio)
    }

    private static func best(
        _ type: AVMediaType, in context: UnsafeMutablePointer<AVFormatContext>
    ) -> UnsafeMutablePointer<AVStream>? {
        let index = av_find_best_stream(context, type, -1, -1, nil, 0)
        guard index >= 0, index < CInt(clamping: context.pointee.nb_streams) else { return nil }
        return context.pointee.streams[Int(index)]
    }

    /// The best video stream that is not the cover picture of a piece of music.
    private static func bestVideo(
        in context: UnsafeMutablePointer<AVFormatContext>
    ) -> UnsafeMutablePointer<AVStream>? {
        func isMovie(_ stream: UnsafeMutablePointer<AVStream>) -> Bool {
            stream.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_VIDEO
                && stream.pointee.disposition & CInt(AV_DISPOSITION_ATTACHED_PIC) == 0
        }
        if let stream = best(AVMEDIA_TYPE_VIDEO, in: context), isMovie(stream) { return stream }
        for index in 0..<Int(context.pointee.nb_streams) {
            if let stream = context.pointee.streams[index], isMovie(stream) { return stream }
        }
        return nil
    }

    /// Fills `queue` until the end, and finishes it.
    ///
    /// - Parameter start: The presentation time of the file's first stamp.
    func run(start: MediaTimestamp, queue: FileMediaQueue) -> MediaSourceEnd {
        defer { queue.finish() }
        var origin = start
        while true {
            guard playPass(origin: origin, queue: queue) else { return .stopped }
            let length = max(video?.clock.expected ?? .zero, audio?.clock.expected ?? .zero)
            let failure = passFailure(length)
            guard options.loops, !input.isLive, length > .zero, failure == nil else {
                return failure.map { .endedEarly($0) } ?? .finished
            }
            guard input.rewind() else {
                return .endedEarly(
                    GantryError(
                        .sourceUnreadable, "\(url) cannot be played again from its beginning. Leave out --loop."))
            }
            origin = origin + length
            inputEnded = false
            errorRun = 0
            video?.restart()
            audio?.restart()
        }
    }

    /// Once through the file. False when stopped.
    private func playPass(origin: MediaTimestamp, queue: FileMediaQueue) -> Bool {
        while !guardian.isStopped, !queue.closed {
            let sound = audio?.step(into: queue, input: input, inputEnded: inputEnded, origin: origin) ?? .ended
            if case .progressed = sound { continue }
            let picture = video?.step(into: queue, input: input, inputEnded: inputEnded, origin: origin) ?? .ended
            if case .progressed = picture { continue }
            if case .ended = sound, case .ended = picture { return true }
            if needsPacket(sound, picture) {
                readPacket()
            } else {
                // Room in the queue is signalled; a picture that comes free is not.
                queue.waitForChange(until: MonotonicClock.now() + .milliseconds(5))
            }
        }
        return false
    }

    private func needsPacket(_ sound: FileVideoTrack.Step, _ picture: FileVideoTrack.Step) -> Bool {
        if inputEnded { return false }
        let isHungry =
            switch (sound, picture) {
            case (.needsPacket, _), (_, .needsPacket): true
            case (.progressed, _), (.noRoom, _), (.ended, _): false
            }
        return isHungry && !(video?.decoder.pending.isFull ?? false) && !(audio?.decoder.pending.isFull ?? false)
    }

    private func readPacket() {
        input.allowRead()
        let status = av_read_frame(input.context, packet)
        guard status >= 0 else {
            readFailed(status)
            return
        }
        errorRun = 0
        let index = packet.pointee.stream_index
        if let video, index == video.decoder.stream.pointee.index {
            _ = video.decoder.push(packet)
        } else if let audio, index == audio.decoder.stream.pointee.index {
            _ = audio.decoder.push(packet)
        }
        av_packet_unref(packet)
    }

    private func readFailed(_ status: CInt) {
        if status == LibAVError.again {
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(2))
            return
        }
        if status == LibAVError.endOfFile {
            inputEnded = true
            return
        }
        if readError == nil { readError = status }
        errorRun += 1
        // A damaged part may be followed by a good one.
        if status != LibAVError.invalidData || errorRun > 100 { inputEnded = true }
    }

    /// Why the pass that has just ended was not all of the file; nil when it was.
    private func passFailure(_ length: MediaDuration) -> GantryError? {
        if length == .zero {
            return video?.conversionError
                ?? GantryError(
                    .sourceUnreadable,
                    "Nothing in \(url) could be decoded; it is damaged. Check it with: ffprobe \(url)",
                    cause: readError.map(libAVText))
        }
        let damaged = (video?.decoder.damagedCount ?? 0) + (audio?.decoder.damagedCount ?? 0)
        if damaged > 0 { Log.warning("\(damaged) damaged parts of \(url) were left out.") }
        if input.isNetwork, let readError {
            return GantryError(
                .sourceUnreadable, "\(url) was lost. Check that its server is running.", cause: libAVText(readError))
        }
        let missing = expectedLength - length
        if readError != nil || missing > tolerance {
            return GantryError(
                .sourceUnreadable,
                "\(url) is damaged or cut short: it was played up to \(Int(length.seconds)) s. Get a whole copy of it.",
                cause: readError.map(libAVText))
        }
        return nil
    }

    /// Half a second, or a fiftieth of the file: durations in headers are rounded, and rarely exact.
    private var tolerance: MediaDuration {
        max(.milliseconds(500), .microseconds(expectedLength.microseconds / 50))
    }

    /// How long the file says that its tracks are; zero when it does not say, or was guessed from the bitrate.
    private var expectedLength: MediaDuration {
        let context = input.context.pointee
        guard context.duration_estimation_method != AVFMT_DURATION_FROM_BITRATE else { return .zero }
        var longest: Int64 = 0
        for stream in [video?.decoder.stream, audio?.decoder.stream] {
            guard let stream = stream?.pointee, stream.duration != libAVNoTimestamp else { continue }
            longest = max(longest, av_rescale_q(stream.duration, stream.time_base, AVRational(num: 1, den: 1_000_000)))
        }
        return .microseconds(longest > 0 ? longest : max(0, context.duration))
    }
}
