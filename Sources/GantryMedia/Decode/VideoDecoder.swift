import CLibAV
package import GantryCore
package import GantryPlatform
import Glibc

/// Makes pictures of H.264 access units or JPEG pictures, one packet in, at most one picture out, without delay.
///
/// One thread at a time calls it. It asks for a key frame (`needsKeyFrame`) and stays silent after anything that
/// leaves references damaged: a gap in the sequence numbers, a packet that cannot be read, concealed errors. The
/// pictures come from a pool of `poolSize`; letting go of a picture gives it back.
package final class VideoDecoder {
    package let codec: MediaCodec
    /// Nothing comes out until a key packet goes in. True at the start.
    package private(set) var needsKeyFrame = true
    /// Packets that were damaged, or came after a loss and could not be used.
    package private(set) var damagedCount = 0
    /// Pictures that were decoded but thrown away because all of the pool was in use.
    package private(set) var droppedCount = 0

    private let context: UnsafeMutablePointer<AVCodecContext>
    private let frame: UnsafeMutablePointer<AVFrame>
    private let input: UnsafeMutablePointer<AVPacket>
    private let pictures: DecodedPictures
    private var lastSequence: UInt32?
    /// Stamps of the packets inside the decoder, found again through the frame's `pts`, a running number.
    private var stamps = [Stamps](repeating: Stamps(), count: 32)
    private var number: Int64 = 0

    /// - Parameters:
    ///   - codec: `.h264` or `.mjpeg`.
    ///   - threadCount: threads that share the slices of one picture; never a thread per frame, which costs a frame
    ///     of delay each. Nil takes one for each core, at most 4, as the encoder cuts its pictures.
    ///   - parameterSets: SPS and PPS in Annex B form when they come outside the packets, otherwise empty.
    ///   - poolSize: pictures that can be in use at the same time.
    /// - Throws: `unsupportedCodec`, `decoder`.
    package init(codec: MediaCodec, threadCount: Int? = nil, parameterSets: [UInt8] = [], poolSize: Int = 8)
        throws(GantryError)
    {
        silenceLibAV()
        self.codec = codec
        context = try Self.makeContext(
            codec, threadCount: threadCount ?? min(4, Int(clamping: sysconf(CInt(_SC_NPROCESSORS_ONLN)))),
            parameterSets: parameterSets)
        guard let frame = av_frame_alloc(), let input = av_packet_alloc() else {
            var context: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&context)
            throw GantryError(.decoder, "There is not enough memory for the video decoder.")
        }
        self.frame = frame
        self.input = input
        pictures = DecodedPictures(poolSize: poolSize)
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        var frame: UnsafeMutablePointer<AVFrame>? = frame
        var input: UnsafeMutablePointer<AVPacket>? = input
        avcodec_free_context(&context)
        av_frame_free(&frame)
        av_packet_free(&input)
    }

    /// Decodes one packet. Nil when it gave no picture to show: damaged, not decodable before a key frame, or all
    /// pictures of the pool are in use.
    ///
    /// - Throws: `unsupportedCodec` for a pixel format that the wire does not allow, `decoder` when memory is out.
    ///   Damaged input does not throw.
    package func decode(_ packet: MediaPacket) throws(GantryError) -> Picture? {
        noteSequence(of: packet)
        // Every JPEG stands alone, whatever its header says.
        let isKey = packet.header.isKey || codec == .mjpeg
        if needsKeyFrame && !isKey {
            damagedCount &+= 1
            return nil
        }
        guard packet.codec == codec, packet.count > 0, let size = CInt(exactly: packet.count) else {
            return damaged()
        }
        let slot = Int(number & 31)
        stamps[slot] = Stamps(packet)
        input.pointee.data = UnsafeMutablePointer(
            mutating: packet.bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        input.pointee.size = size
        input.pointee.pts = number
        input.pointee.dts = number
        input.pointee.flags = isKey ? AV_PKT_FLAG_KEY : 0
        number &+= 1
        let status = avcodec_send_packet(context, input)
        input.pointee.data = nil
        input.pointee.size = 0
        if status == LibAVError.noMemory {
            throw GantryError(.decoder, "There is not enough memory to decode the video.")
        }
        if status < 0 { return damaged() }
        return try receive(isKey: isKey)
    }

    /// Forgets all references: the next packet must be a key packet. For a new session or a seek.
    package func reset() {
        avcodec_flush_buffers(context)
        needsKeyFrame = true
        lastSequence = nil
    }

    /// Takes out all frames that are ready and keeps the newest good one.
    private func receive(isKey: Bool) throws(GantryError) -> Picture? {
        var newest: Picture?
        // A packet gives at most two frames (fields); the limit is for damaged input only.
        for _ in 0..<4 {
            let status = avcodec_receive_frame(context, frame)
            if status == LibAVError.again || status == LibAVError.endOfFile { break }
            if status < 0 { return damaged() }
            defer { av_frame_unref(frame) }
            if frame.pointee.decode_error_flags != 0 || frame.pointee.flags & AV_FRAME_FLAG_CORRUPT != 0 {
                return damaged()
            }
            let stamps = stamps[Int(frame.pointee.pts & 31)]
            guard let picture = try pictures.take(frame) else {
                droppedCount &+= 1
                continue
            }
            picture.captureTime = stamps.capture
            picture.presentationTime = stamps.presentation
            picture.arrivalTime = stamps.arrival
            newest = picture
        }
        if isKey { needsKeyFrame = false }
        return newest
    }

    private func noteSequence(of packet: MediaPacket) {
        if let last = lastSequence, packet.header.sequence != last &+ 1, codec == .h264 { needsKeyFrame = true }
        lastSequence = packet.header.sequence
    }

    private func damaged() -> Picture? {
        damagedCount &+= 1
        needsKeyFrame = true
        avcodec_flush_buffers(context)
        return nil
    }

    /// Level 6.2 of H.264 (ITU-T H.264 table A-1: 139 264 macroblocks of 16x16): a peer cannot ask for more memory.
    private static let maximumPixels: Int64 = 139_264 * 256

    private static func makeContext(_ codec: MediaCodec, threadCount: Int, parameterSets: [UInt8])
        throws(GantryError) -> UnsafeMutablePointer<AVCodecContext>
    {
        let id: AVCodecID
        switch codec {
        case .h264: id = AV_CODEC_ID_H264
        case .mjpeg: id = AV_CODEC_ID_MJPEG
        case .opus: throw GantryError(.unsupportedCodec, "Opus is sound: it cannot be decoded to pictures.")
        }
        guard let decoder = avcodec_find_decoder(id), let context = avcodec_alloc_context3(decoder) else {
            throw GantryError(
                .decoder,
                "The FFmpeg libraries here cannot decode \(codec). Install the full ones: apt-get install libavcodec-dev"
            )
        }
        context.pointee.thread_count = CInt(clamping: min(max(threadCount, 1), 16))
        context.pointee.thread_type = FF_THREAD_SLICE
        context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
        // Bounds what a hostile header can make the decoder allocate.
        context.pointee.max_pixels = Self.maximumPixels
        if !parameterSets.isEmpty, parameterSets.count < 1 << 16,
            let memory = av_mallocz(parameterSets.count + MediaPacket.padding)
        {
            UnsafeMutableRawBufferPointer(start: memory, count: parameterSets.count).copyBytes(from: parameterSets)
            context.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
            context.pointee.extradata_size = CInt(parameterSets.count)
        }
        let status = avcodec_open2(context, decoder, nil)
        guard status >= 0 else {
            var freed: UnsafeMutablePointer<AVCodecContext>? = context
            avcodec_free_context(&freed)
            throw GantryError(.decoder, "The video decoder cannot start.", cause: libAVText(status))
        }
        return context
    }

    private struct Stamps {
        var capture = MediaTimestamp(microseconds: 0)
        var presentation = MediaTimestamp(microseconds: 0)
        var arrival = MediaTimestamp(microseconds: 0)

        init() {}
        init(_ packet: MediaPacket) {
            capture = packet.header.captureTime
            presentation = packet.header.presentationTime
            arrival = packet.arrivalTime
        }
    }
}
