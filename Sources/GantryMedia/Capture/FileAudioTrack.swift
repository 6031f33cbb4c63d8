import CLibAV
import GantryCore
import GantryPlatform

/// The sound of a file: packets in, blocks of 10 ms of 48 kHz stereo float with stamps out, whatever rate, layout and
/// sample format the file has. Owned by the reading thread.
final class FileAudioTrack {
    typealias Step = FileVideoTrack.Step

    static let blockSamples = 480
    /// A stamp that differs more than that from the count of samples is a gap; less is rounding.
    private static let gap = MediaDuration.milliseconds(20)

    /// What the resampler was made for.
    private struct Kind: Equatable {
        var rate: CInt
        var format: CInt
        var channels: CInt
        var mask: UInt64
    }

    let decoder: LibAVStreamDecoder
    let info: MediaSourceInfo.Audio
    private(set) var clock = StreamClock()
    private let blocks = ReusePool<AudioBlock>(capacity: FileMediaQueue.blockCapacity + 28) {
        AudioBlock(capacity: FileAudioTrack.blockSamples)
    }
    private var resampler: OpaquePointer?
    private var kind: Kind?
    /// Being filled.
    private var block: AudioBlock?
    /// The time of the first sample that came out of the resampler since the last gap, and how many have since.
    private var anchor: MediaDuration?
    private var produced: Int64 = 0
    private var frameWaits = false
    /// The time of the frame that waits; worked out once.
    private var pendingTime: MediaDuration?
    private var resamplerIsEmpty = true
    private var isFlushed = false

    /// - Throws: `unsupportedCodec`, `decoder`, `sourceUnreadable` when rate or channels are unknown.
    init(input: LibAVInput, stream: UnsafeMutablePointer<AVStream>) throws(GantryError) {
        decoder = try LibAVStreamDecoder(stream: stream, isLive: input.isLive)
        guard let parameters = stream.pointee.codecpar?.pointee, 1000...768_000 ~= parameters.sample_rate,
            1...64 ~= parameters.ch_layout.nb_channels
        else {
            throw GantryError(
                .sourceUnreadable,
                "The sound in the file has no rate or no channels. It may be damaged; check it with: "
                    + "ffprobe FILE")
        }
        info = MediaSourceInfo.Audio(
            sampleRate: Int(parameters.sample_rate), channels: Int(parameters.ch_layout.nb_channels),
            codec: decoder.codecName)
    }

    deinit { swr_free(&resampler) }

    /// Does one small thing: fills the block further, or gets what is needed for that.
    func step(into queue: FileMediaQueue, input: LibAVInput, inputEnded: Bool, origin: MediaTimestamp) -> Step {
        guard queue.hasBlockRoom else { return .noRoom }
        if block == nil {
            guard let free = blocks.take() else { return .noRoom }
            free.count = 0
            block = free
        }
        if !resamplerIsEmpty {
            resamplerIsEmpty = !pull(nil, 0, into: queue, origin: origin)
            return .progressed
        }
        if !frameWaits {
            switch decoder.step(inputEnded: inputEnded) {
            case .frame: frameWaits = true
            case .progressed: return .progressed
            case .needsPacket: return .needsPacket
            case .ended: return finish(into: queue, origin: origin)
            }
        }
        return takeFrame(into: queue, input: input, origin: origin)
    }

    func restart() {
        decoder.flush()
        clock.restart()
        forgetResampler()
        block?.count = 0
        anchor = nil
        pendingTime = nil
        frameWaits = false
        isFlushed = false
    }

    private func takeFrame(into queue: FileMediaQueue, input: LibAVInput, origin: MediaTimestamp) -> Step {
        let frame = decoder.frame
        guard frame.pointee.nb_samples > 0, frame.pointee.sample_rate > 0 else {
            frameWaits = false
            return .progressed
        }
        let kind = Kind(
            rate: frame.pointee.sample_rate, format: frame.pointee.format,
            channels: frame.pointee.ch_layout.nb_channels, mask: frame.pointee.ch_layout.u.mask)
        let time = peekTime(input)
        let isGap =
            anchor.map { anchor in
                let expected = anchor + AudioPacketizer.duration(ofSamples: produced) + resamplerDelay
                return time > expected + Self.gap || expected > time + Self.gap
            } ?? true
        if isGap || kind != self.kind {
            // First what came before the gap.
            if resampler != nil {
                if pull(nil, 0, into: queue, origin: origin, flush: true) { return .progressed }
                emit(into: queue)
            }
            guard makeResampler(for: kind, frame) else {
                frameWaits = false
                return .progressed
            }
            anchor = time
            produced = 0
            // The block went out: take the frame in the next step.
            if block == nil { return .progressed }
        }
        frameWaits = false
        pendingTime = nil
        let count = frame.pointee.nb_samples
        resamplerIsEmpty = !pull(frame.pointee.extended_data, count, into: queue, origin: origin)
        return .progressed
    }

    private func peekTime(_ input: LibAVInput) -> MediaDuration {
        if let pendingTime { return pendingTime }
        let frame = decoder.frame.pointee
        var stamp: MediaDuration?
        if frame.best_effort_timestamp != libAVNoTimestamp {
            let micros = av_rescale_q(
                frame.best_effort_timestamp, decoder.stream.pointee.time_base, AVRational(num: 1, den: 1_000_000))
            stamp = .microseconds(micros &- input.startTime)
        }
        let length = MediaDuration.microseconds(Int64(frame.nb_samples) * 1_000_000 / Int64(frame.sample_rate))
        let time = clock.time(of: stamp, duration: length)
        pendingTime = time
        return time
    }

    /// What is inside the resampler, in time.
    private var resamplerDelay: MediaDuration {
        guard let resampler else { return .zero }
        return .microseconds(swr_get_delay(resampler, 1_000_000))
    }

    /// Gives `count` samples to the resampler and takes as many out as the block has room for. True when the block went
    /// out full: there may be more.
    private func pull(
        _ input: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?, _ count: CInt, into queue: FileMediaQueue,
        origin: MediaTimestamp, flush: Bool = false
    ) -> Bool {
        guard let block, let resampler, let base = block.samples.baseAddress else { return false }
        let room = block.capacity - block.count
        var nothing: UnsafePointer<UInt8>?
        var target: UnsafeMutablePointer<UInt8>? = UnsafeMutableRawPointer(base + block.count * AudioBlock.channels)
            .assumingMemoryBound(to: UInt8.self)
        let made: CInt
        if let input {
            made = input.withMemoryRebound(to: UnsafePointer<UInt8>?.self, capacity: 1) {
                swr_convert(resampler, &target, CInt(room), $0, count)
            }
        } else if flush {
            made = swr_convert(resampler, &target, CInt(room), nil, 0)
        } else {
            // A pointer, but no samples: takes out without flushing.
            made = swr_convert(resampler, &target, CInt(room), &nothing, 0)
        }
        guard made > 0, Int(made) <= room else { return false }
        if block.count == 0 {
            let time = (anchor ?? .zero) + AudioPacketizer.duration(ofSamples: produced)
            block.presentationTime = origin + time
        }
        block.count += Int(made)
        produced &+= Int64(made)
        guard block.count == block.capacity else { return false }
        emit(into: queue)
        return true
    }

    /// Passes the block on, if there is something in it.
    private func emit(into queue: FileMediaQueue) {
        guard let full = block, full.count > 0 else { return }
        block = nil
        queue.push(full)
    }

    private func finish(into queue: FileMediaQueue, origin: MediaTimestamp) -> Step {
        if resampler != nil, !isFlushed {
            if pull(nil, 0, into: queue, origin: origin, flush: true) { return .progressed }
            isFlushed = true
        }
        emit(into: queue)
        return .ended
    }

    private func forgetResampler() {
        swr_free(&resampler)
        kind = nil
        resamplerIsEmpty = true
    }

    private func makeResampler(for kind: Kind, _ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        forgetResampler()
        var stereo = AVChannelLayout()
        av_channel_layout_default(&stereo, CInt(AudioBlock.channels))
        var source = AVChannelLayout()
        if frame.pointee.ch_layout.order == AV_CHANNEL_ORDER_UNSPEC {
            av_channel_layout_default(&source, kind.channels)
        } else {
            av_channel_layout_copy(&source, &frame.pointee.ch_layout)
        }
        defer { av_channel_layout_uninit(&source) }
        let status = swr_alloc_set_opts2(
            &resampler, &stereo, AV_SAMPLE_FMT_FLT, CInt(AudioBlock.sampleRate), &source,
            AVSampleFormat(kind.format), kind.rate, 0, nil)
        guard status >= 0, resampler != nil, swr_init(resampler) >= 0 else {
            forgetResampler()
            return false
        }
        self.kind = kind
        return true
    }
}
