import CLibAV
import GantryCore

/// One stream of a muxer: its parameters, and the last stamp that was given out.
struct Track {
    private let index: Int
    private var last: Int64 = -1

    private static let microseconds = AVRational(num: 1, den: 1_000_000)

    init(_ format: VideoStreamFormat, in context: UnsafeMutablePointer<AVFormatContext>) throws(GantryError) {
        let stream = try Self.newStream(context)
        index = Int(stream.pointee.index)
        // 90 kHz, the clock of MPEG: exact for 24, 25, 30, 50, 60 frames a second, and fine for uneven ones.
        stream.pointee.time_base = AVRational(num: 1, den: 90_000)
        stream.pointee.avg_frame_rate = AVRational(
            num: CInt(clamping: format.frameRate.numerator), den: CInt(clamping: format.frameRate.denominator))
        guard let parameters = stream.pointee.codecpar else { throw Self.noMemory }
        parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        parameters.pointee.codec_id = format.codec == .mjpeg ? AV_CODEC_ID_MJPEG : AV_CODEC_ID_H264
        parameters.pointee.width = CInt(clamping: format.width)
        parameters.pointee.height = CInt(clamping: format.height)
        parameters.pointee.format = format.codec == .mjpeg ? AV_PIX_FMT_YUVJ420P.rawValue : AV_PIX_FMT_YUV420P.rawValue
        parameters.pointee.color_primaries = AVColorPrimaries(rawValue: UInt32(format.color.primaries))
        parameters.pointee.color_trc = AVColorTransferCharacteristic(rawValue: UInt32(format.color.transfer))
        parameters.pointee.color_space = AVColorSpace(rawValue: UInt32(format.color.matrix))
        parameters.pointee.color_range = format.color.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        parameters.pointee.sample_aspect_ratio = AVRational(num: 1, den: 1)
        try Self.setExtradata(format.parameterSets, of: parameters)
        if format.rotation != 0, CLibAV_set_rotation(stream, CInt(clamping: format.rotation)) < 0 {
            throw Self.noMemory
        }
    }

    init(_ format: AudioStreamFormat, in context: UnsafeMutablePointer<AVFormatContext>) throws(GantryError) {
        let stream = try Self.newStream(context)
        index = Int(stream.pointee.index)
        stream.pointee.time_base = AVRational(num: 1, den: 48_000)
        guard let parameters = stream.pointee.codecpar else { throw Self.noMemory }
        let channels: CInt = format.channels == 1 ? 1 : 2
        parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
        parameters.pointee.codec_id = AV_CODEC_ID_OPUS
        parameters.pointee.sample_rate = 48_000
        parameters.pointee.frame_size = CInt(clamping: format.samplesPerPacket)
        av_channel_layout_default(&parameters.pointee.ch_layout, channels)
        let isHead = format.head.starts(with: Array("OpusHead".utf8)) && 19...255 ~= format.head.count
        try Self.setExtradata(isHead ? format.head : Self.head(channels: UInt8(channels)), of: parameters)
    }

    init(_ encoder: AACEncoder, in context: UnsafeMutablePointer<AVFormatContext>) throws(GantryError) {
        let stream = try Self.newStream(context)
        index = Int(stream.pointee.index)
        stream.pointee.time_base = encoder.context.pointee.time_base
        guard avcodec_parameters_from_context(stream.pointee.codecpar, encoder.context) >= 0 else {
            throw Self.noMemory
        }
    }

    /// Where a packet stands in its stream, in the stream's own ticks.
    typealias Stamps = (index: CInt, stamp: Int64, duration: Int64)

    /// Stream index, stamp and duration in the stream's own ticks; each stamp is larger than the one before.
    mutating func stamps(
        position: Int64, duration: Int64, in context: UnsafeMutablePointer<AVFormatContext>
    ) -> Stamps? {
        guard index < Int(context.pointee.nb_streams), let stream = context.pointee.streams[index] else { return nil }
        // The muxer may have replaced the time base with its own.
        let ticks = stream.pointee.time_base
        let stamp = max(last &+ 1, av_rescale_q(max(0, position), Self.microseconds, ticks))
        last = stamp
        return (CInt(index), stamp, max(1, av_rescale_q(max(0, duration), Self.microseconds, ticks)))
    }

    /// OpusHead, RFC 7845 section 5.1: version 1, no pre-skip, 48 kHz, no gain, mapping family 0.
    private static func head(channels: UInt8) -> [UInt8] {
        Array("OpusHead".utf8) + [1, channels, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0]
    }

    private static func newStream(_ context: UnsafeMutablePointer<AVFormatContext>)
        throws(GantryError) -> UnsafeMutablePointer<AVStream>
    {
        guard let stream = avformat_new_stream(context, nil) else { throw noMemory }
        return stream
    }

    private static func setExtradata(_ bytes: [UInt8], of parameters: UnsafeMutablePointer<AVCodecParameters>)
        throws(GantryError)
    {
        guard !bytes.isEmpty else { return }
        guard let memory = av_mallocz(bytes.count + 64) else { throw noMemory }
        UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyBytes(from: bytes)
        parameters.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
        parameters.pointee.extradata_size = CInt(clamping: bytes.count)
    }

    private static var noMemory: GantryError { GantryError(.outputFailed, "There is not enough memory to record.") }
}

extension UnsafeMutablePointer<AVPacket> {
    /// Makes it one that a muxer takes, of bytes that stay whose they are. False for none, and for more than 2 GB.
    func fill(_ bytes: UnsafeRawBufferPointer, _ stamps: Track.Stamps, isKey: Bool) -> Bool {
        guard let size = CInt(exactly: bytes.count), size > 0, let data = bytes.baseAddress else { return false }
        pointee.data = UnsafeMutablePointer<UInt8>(mutating: data.assumingMemoryBound(to: UInt8.self))
        pointee.size = size
        pointee.stream_index = stamps.index
        pointee.pts = stamps.stamp
        pointee.dts = stamps.stamp
        pointee.duration = stamps.duration
        pointee.flags = isKey ? AV_PKT_FLAG_KEY : 0
        return true
    }
}
