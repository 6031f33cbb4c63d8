import CLibAV
import GantryCore

/// AAC-LC by libavcodec: 48 kHz stereo, 128 kbit/s, 1024 samples a packet. One thread at a time.
final class AACEncoder {
    let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let packet: UnsafeMutablePointer<AVPacket>
    /// Samples of each channel that are gathered for the next packet.
    private var fill = 0
    /// Where the first of them stands, in samples.
    private var start: Int64?

    /// Twice what telephone and meeting sound needs; what servers of live streams expect.
    private static let bitrate: Int64 = 128_000
    /// A jump of the stamps that is not evened out by what the ear would hear: 50 ms.
    private static let tolerance: Int64 = 2400
    /// A hole up to this is filled with silence, so that players that count samples stay in step: 2 s.
    private static let longestFill: Int64 = 96_000

    /// - Throws: `unsupportedCodec` where libavcodec has no AAC.
    init() throws(GantryError) {
        guard let codec = avcodec_find_encoder(AV_CODEC_ID_AAC), let context = avcodec_alloc_context3(codec) else {
            throw Self.unavailable(nil)
        }
        self.context = context
        guard let frame = av_frame_alloc(), let packet = av_packet_alloc() else {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
            throw GantryError(.general, "There is no memory left.")
        }
        self.frame = frame
        self.packet = packet
        // From here on deinit frees everything.
        context.pointee.sample_rate = CInt(AudioBlock.sampleRate)
        context.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        context.pointee.bit_rate = Self.bitrate
        context.pointee.time_base = AVRational(num: 1, den: CInt(AudioBlock.sampleRate))
        // Its configuration stands in front of the stream, not in each packet.
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        av_channel_layout_default(&context.pointee.ch_layout, CInt(AudioBlock.channels))
        let status = avcodec_open2(context, codec, nil)
        guard status >= 0, context.pointee.frame_size > 0 else { throw Self.unavailable(libAVText(status)) }
        frame.pointee.nb_samples = context.pointee.frame_size
        frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.pointee.sample_rate = context.pointee.sample_rate
        av_channel_layout_default(&frame.pointee.ch_layout, CInt(AudioBlock.channels))
        guard av_frame_get_buffer(frame, 0) >= 0 else { throw GantryError(.general, "There is no memory left.") }
    }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
    }

    /// Takes sound, and gives each packet that it completes.
    ///
    /// - Parameters:
    ///   - samples: left, right, left…
    ///   - position: of the first sample, microseconds.
    ///   - deliver: gets bytes, valid during the call, position and duration in microseconds.
    func encode(
        _ samples: UnsafeBufferPointer<Float>, position: Int64,
        deliver: (UnsafeRawBufferPointer, Int64, Int64) throws(GantryError) -> Void
    ) throws(GantryError) {
        let count = samples.count / AudioBlock.channels
        let place = Self.samples(position)
        if let start {
            let step = place - (start + Int64(fill))
            if step > Self.longestFill || step < -Self.longestFill {
                self.start = place
                fill = 0
            } else if step > Self.tolerance {
                try add(nil, count: Int(step), deliver)
            } else if step < -Self.tolerance {
                // Again what has been heard already.
                return
            }
        } else {
            start = place
        }
        try add(samples.baseAddress, count: count, deliver)
    }

    /// - Parameter samples: nil is silence.
    private func add(
        _ samples: UnsafePointer<Float>?, count: Int,
        _ deliver: (UnsafeRawBufferPointer, Int64, Int64) throws(GantryError) -> Void
    ) throws(GantryError) {
        let size = Int(context.pointee.frame_size)
        var taken = 0
        while taken < count {
            if fill == 0, av_frame_make_writable(frame) < 0 { throw GantryError(.general, "There is no memory left.") }
            guard let left = frame.pointee.data.0, let right = frame.pointee.data.1 else { return }
            let run = min(count - taken, size - fill)
            left.withMemoryRebound(to: Float.self, capacity: size) { left in
                right.withMemoryRebound(to: Float.self, capacity: size) { right in
                    for index in 0..<run {
                        left[fill + index] = samples.map { $0[(taken + index) * 2] } ?? 0
                        right[fill + index] = samples.map { $0[(taken + index) * 2 + 1] } ?? 0
                    }
                }
            }
            taken += run
            fill += run
            if fill == size { try send(deliver) }
        }
    }

    private func send(
        _ deliver: (UnsafeRawBufferPointer, Int64, Int64) throws(GantryError) -> Void
    ) throws(GantryError) {
        frame.pointee.pts = start ?? 0
        start = (start ?? 0) + Int64(fill)
        fill = 0
        guard avcodec_send_frame(context, frame) >= 0 else {
            throw GantryError(.encoder, "The sound could not be coded as AAC.")
        }
        while avcodec_receive_packet(context, packet) >= 0 {
            defer { av_packet_unref(packet) }
            let bytes = UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(max(0, packet.pointee.size)))
            let scale = Int64(AudioBlock.sampleRate)
            try deliver(
                bytes, max(0, packet.pointee.pts) * 1_000_000 / scale, packet.pointee.duration * 1_000_000 / scale)
        }
    }

    /// Bounded, so that no stamp overflows.
    private static func samples(_ microseconds: Int64) -> Int64 {
        min(max(0, microseconds), Int64.max / 1_000_000) * Int64(AudioBlock.sampleRate) / 1_000_000
    }

    private static func unavailable(_ cause: String?) -> GantryError {
        GantryError(
            .unsupportedCodec,
            "RTMP takes sound as AAC, which the FFmpeg libraries here cannot make. Leave the sound out: --no-audio",
            cause: cause)
    }
}
