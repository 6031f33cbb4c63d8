import CLibAV
import GantryCore
import GantryPlatform

/// One connection to a media server: packets go into libavformat's muxer for it, and at once on the network.
///
/// One thread drives it; each call blocks for `patience` at most, and returns soon after `stop` of the guardian. Positions are
/// microseconds, and rise within each stream. Letting go of it says goodbye to the server.
final class RelayMuxer {
    /// How long a server may take nothing, or not answer.
    static let patience = MediaDuration.seconds(10)

    private let address: RelayAddress
    private let guardian: InputGuardian
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private var video: Track?
    private var audio: Track?
    private var parameterSets: [UInt8]
    private var isOpen = false
    /// Position of what was sent first.
    private var origin: Int64?

    /// What the sound of a server's stream is.
    enum Sound {
        case opus(AudioStreamFormat)
        case aac(AACEncoder)
    }

    /// Connects, and says what will come.
    ///
    /// - Parameter video: with `parameterSets` that hold SPS and PPS.
    /// - Throws: `cannotConnect`, `rejected`, `cancelled`.
    init(
        _ address: RelayAddress, video: VideoStreamFormat?, sound: Sound?, guardian: InputGuardian
    ) throws(GantryError) {
        silenceLibAV()
        self.address = address
        self.guardian = guardian
        var context: UnsafeMutablePointer<AVFormatContext>?
        let status = avformat_alloc_output_context2(&context, nil, address.kind.muxerName, address.url)
        guard status >= 0, let context, let packet = av_packet_alloc() else {
            avformat_free_context(context)
            throw RelayFailure.opening(address, status, guardian)
        }
        self.context = context
        self.packet = packet
        parameterSets = video?.parameterSets ?? []
        // From here on deinit frees everything.
        context.pointee.flags |= AVFMT_FLAG_FLUSH_PACKETS
        context.pointee.interrupt_callback.callback = shouldInterrupt
        context.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(guardian).toOpaque()
        if let video { self.video = try Track(video, in: context) }
        switch sound {
        case .opus(let format): audio = try Track(format, in: context)
        case .aac(let encoder): audio = try Track(encoder, in: context)
        case nil: break
        }
        try connect()
    }

    deinit {
        guardian.deadline = MonotonicClock.now() + .seconds(1)
        // Says goodbye, and closes what RTSP's muxer has opened by itself.
        if isOpen { av_write_trailer(context) }
        if context.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 { avio_closep(&context.pointee.pb) }
        avformat_free_context(context)
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    private func connect() throws(GantryError) {
        guardian.deadline = MonotonicClock.now() + Self.patience
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        // The server's certificate is looked at; what is left over is unknown to the protocol, and no fault.
        for (name, value) in [
            ("tls_verify", "1"), ("tcp_nodelay", "1"), ("rtsp_transport", "tcp"),
            ("flvflags", "no_duration_filesize"), ("pes_payload_size", "0"), ("mpegts_flags", "resend_headers"),
            ("protocol_whitelist", "rtmp,rtmps,rtsp,rtp,srt,tcp,tls,udp,crypto"),
        ] { av_dict_set(&options, name, value, 0) }
        if context.pointee.oformat.pointee.flags & AVFMT_NOFILE == 0 {
            var interrupt = context.pointee.interrupt_callback
            let status = avio_open2(&context.pointee.pb, address.url, AVIO_FLAG_WRITE, &interrupt, &options)
            guard status >= 0 else { throw RelayFailure.opening(address, status, guardian) }
        }
        let status = avformat_write_header(context, &options)
        guard status >= 0 else { throw RelayFailure.opening(address, status, guardian) }
        isOpen = true
    }

    /// Sends one access unit.
    ///
    /// - Throws: `peerLost`, `cancelled`.
    func write(
        video bytes: UnsafeRawBufferPointer, position: Int64, duration: Int64, isKey: Bool
    ) throws(GantryError) {
        guard isAfterOrigin(position), let stamps = video?.stamps(position: position, duration: duration, in: context)
        else { return }
        if isKey { try noteParameterSets(of: bytes) }
        try write(bytes, stamps, isKey: isKey)
    }

    /// Sends one packet of sound.
    ///
    /// - Throws: `peerLost`, `cancelled`.
    func write(audio bytes: UnsafeRawBufferPointer, position: Int64, duration: Int64) throws(GantryError) {
        guard isAfterOrigin(position), let stamps = audio?.stamps(position: position, duration: duration, in: context)
        else { return }
        try write(bytes, stamps, isKey: true)
    }

    /// FLV counts from its first packet, and takes none from before: the sound that belongs to the time before the key frame, and what
    /// an encoder puts in front of the first sample.
    private func isAfterOrigin(_ position: Int64) -> Bool {
        let origin = origin ?? position
        self.origin = origin
        return position >= origin
    }

    /// FLV has the parameter sets outside of the pictures: new ones, of another size, go with their first packet.
    private func noteParameterSets(of bytes: UnsafeRawBufferPointer) throws(GantryError) {
        guard address.kind == .rtmp else { return }
        let sets = ParameterSets.extract(from: bytes)
        guard !sets.isEmpty, sets != parameterSets else { return }
        parameterSets = sets
        guard let memory = av_packet_new_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, sets.count) else {
            throw GantryError(.general, "There is no memory left.")
        }
        UnsafeMutableRawBufferPointer(start: memory, count: sets.count).copyBytes(from: sets)
    }

    private func write(
        _ bytes: UnsafeRawBufferPointer, _ stamps: Track.Stamps, isKey: Bool
    ) throws(GantryError) {
        defer { av_packet_unref(packet) }
        guard packet.fill(bytes, stamps, isKey: isKey) else { return }
        guardian.deadline = MonotonicClock.now() + Self.patience
        // Not the interleaving call: it would hold video back while no sound comes.
        let status = av_write_frame(context, packet)
        guard status >= 0 else { throw RelayFailure.writing(address, status, guardian) }
        if let io = context.pointee.pb {
            avio_flush(io)
            guard io.pointee.error >= 0 else { throw RelayFailure.writing(address, io.pointee.error, guardian) }
        }
    }
}
