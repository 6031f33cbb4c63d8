import CLibAV
import GantryCore

/// The decoder of one stream of a file, with the frame that it gave last and the packets that wait for it. Owned by one
/// thread.
final class LibAVStreamDecoder {
    enum Step {
        /// `frame` is filled.
        case frame
        /// A packet went in, or a damaged one was left out: call again.
        case progressed
        /// The packets have run out.
        case needsPacket
        /// All frames are out.
        case ended
    }

    let stream: UnsafeMutablePointer<AVStream>
    let frame: UnsafeMutablePointer<AVFrame>
    let codecName: String
    private(set) var pending: PacketRing
    /// Packets or frames that the decoder refused.
    private(set) var damagedCount = 0
    private let context: UnsafeMutablePointer<AVCodecContext>
    private var isDraining = false

    /// - Throws: `unsupportedCodec` when there is no decoder, `decoder` when it cannot be started.
    init(stream: UnsafeMutablePointer<AVStream>, isLive: Bool) throws(GantryError) {
        let parameters = stream.pointee.codecpar
        let id = parameters?.pointee.codec_id ?? AV_CODEC_ID_NONE
        let name = String(cString: avcodec_get_name(id))
        guard id != AV_CODEC_ID_NONE, let codec = avcodec_find_decoder(id) else {
            let label = id == AV_CODEC_ID_NONE ? Self.tag(parameters?.pointee.codec_tag ?? 0) : name
            throw GantryError(
                .unsupportedCodec,
                "The file is coded as \(label), for which this machine has no decoder. Convert it first, with: "
                    + "ffmpeg -i FILE -c:v libx264 -c:a aac OUT.mp4")
        }
        guard let context = avcodec_alloc_context3(codec), let frame = av_frame_alloc() else {
            throw GantryError(.general, "There is no memory left.")
        }
        // Files may take frame threads: their delay is hidden by reading ahead.
        context.pointee.thread_count = isLive ? 1 : 2
        if isLive { context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY }
        avcodec_parameters_to_context(context, parameters)
        // Bounds what a hostile header can make the decoder allocate, also in the middle of a stream.
        context.pointee.max_pixels = Int64(Picture.maximumSide * Picture.maximumSide)
        context.pointee.pkt_timebase = stream.pointee.time_base
        let status = avcodec_open2(context, codec, nil)
        guard status >= 0 else {
            var (context, frame): (UnsafeMutablePointer<AVCodecContext>?, UnsafeMutablePointer<AVFrame>?) = (
                context, frame
            )
            avcodec_free_context(&context)
            av_frame_free(&frame)
            throw GantryError(
                .decoder,
                "The decoder for \(name) could not be started. The file may be damaged; check it with: "
                    + "ffprobe FILE", cause: libAVText(status))
        }
        self.stream = stream
        self.context = context
        self.frame = frame
        codecName = name
        pending = PacketRing()
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        avcodec_free_context(&context)
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        av_frame_free(&frame)
    }

    /// The next frame, or what must happen first.
    ///
    /// - Parameter inputEnded: No more packets will come: what the decoder holds back is asked for.
    func step(inputEnded: Bool) -> Step {
        let status = avcodec_receive_frame(context, frame)
        if status >= 0 { return .frame }
        if status == LibAVError.endOfFile { return .ended }
        if status != LibAVError.again {
            damagedCount &+= 1
            return .progressed
        }
        if let packet = pending.first {
            let status = avcodec_send_packet(context, packet)
            if status < 0 && status != LibAVError.again { damagedCount &+= 1 }
            pending.removeFirst()
            return .progressed
        }
        guard inputEnded else { return .needsPacket }
        // Twice: the decoder gives neither frames nor an end.
        if isDraining { return .ended }
        isDraining = true
        avcodec_send_packet(context, nil)
        return .progressed
    }

    /// Takes the packet over; false when the ring is full.
    func push(_ packet: UnsafeMutablePointer<AVPacket>) -> Bool { pending.append(packet) }

    /// Ready for the beginning of the stream.
    func flush() {
        pending.removeAll()
        avcodec_flush_buffers(context)
        isDraining = false
    }

    private static func tag(_ value: UInt32) -> String {
        let letters = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        guard letters.allSatisfy({ 33...126 ~= $0 }) else { return "an unknown format" }
        return "\"\(String(decoding: letters, as: UTF8.self))\""
    }
}
