import CLibAV
import GantryCore
import GantryPlatform

/// Copies packets into a container through libavformat, written by an `OutputFile`. One thread drives it.
///
/// Positions are microseconds from the start of the file, and rise within each stream (a packet that does not is moved
/// by one tick). Without `finish` nothing but the trailer is missing.
final class PacketMuxer {
    enum Stream { case video, audio }

    let output: OutputFile
    private let context: UnsafeMutablePointer<AVFormatContext>
    private let packet: UnsafeMutablePointer<AVPacket>
    private var video: Track?
    private var audio: Track?

    /// Writes the header.
    ///
    /// - Parameter video: with `parameterSets` that hold SPS and PPS for H.264.
    /// - Throws: `outputFailed` for a codec that the container does not take, and what `OutputFile.write` throws.
    init(_ container: Container, output: OutputFile, video: VideoStreamFormat?, audio: AudioStreamFormat?)
        throws(GantryError)
    {
        silenceLibAV()
        self.output = output
        var context: UnsafeMutablePointer<AVFormatContext>?
        let status = avformat_alloc_output_context2(&context, nil, container.muxerName, nil)
        guard status >= 0, let context, let packet = av_packet_alloc() else {
            avformat_free_context(context)
            throw GantryError(
                .outputFailed, "The FFmpeg libraries here cannot write \(container.muxerName).",
                cause: libAVText(status))
        }
        self.context = context
        self.packet = packet
        // From here on deinit frees everything.
        let size: CInt = 64 * 1024
        guard let buffer = av_malloc(Int(size)) else { throw Self.noMemory }
        context.pointee.pb = CLibAV_avio_alloc_output(
            buffer.assumingMemoryBound(to: UInt8.self), size, Unmanaged.passUnretained(output).toOpaque(),
            writeToOutput, output.isRegular ? seekInOutput : nil)
        guard context.pointee.pb != nil else {
            av_free(buffer)
            throw Self.noMemory
        }
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
        if let video { self.video = try Track(video, in: context) }
        if let audio { self.audio = try Track(audio, in: context) }
        try writeHeader(container)
    }

    deinit {
        let io = context.pointee.pb
        avformat_free_context(context)
        CLibAV_avio_free(io)
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        av_packet_free(&packet)
    }

    /// Hands one packet to the muxer, which may keep it until `flush`.
    ///
    /// - Throws: `outputFailed` and what `OutputFile.write` throws. Packets of a stream that was not declared are
    ///   ignored.
    func write(
        _ stream: Stream, _ bytes: UnsafeRawBufferPointer, position: Int64, duration: Int64, isKey: Bool
    ) throws(GantryError) {
        guard !bytes.isEmpty, let stamps = stamps(stream, position: position, duration: duration),
            packet.fill(bytes, stamps, isKey: isKey)
        else { return }
        // Not the interleaving call: it would hold video back while no sound comes.
        let status = av_write_frame(context, packet)
        packet.pointee.data = nil
        packet.pointee.size = 0
        try check(status)
    }

    /// Ends the fragment or cluster; everything so far is in the file afterwards.
    func flush() throws(GantryError) {
        try check(av_write_frame(context, nil))
        avio_flush(context.pointee.pb)
        try check(0)
    }

    /// Flushes and writes the trailer. Nothing may be written afterwards.
    func finish() throws(GantryError) {
        let status = av_write_trailer(context)
        avio_flush(context.pointee.pb)
        try check(status)
    }

    private func stamps(_ stream: Stream, position: Int64, duration: Int64) -> Track.Stamps? {
        switch stream {
        case .video: video?.stamps(position: position, duration: duration, in: context)
        case .audio: audio?.stamps(position: position, duration: duration, in: context)
        }
    }

    private func writeHeader(_ container: Container) throws(GantryError) {
        var options: OpaquePointer?
        for option in container.options { av_dict_set(&options, option.name, option.value, 0) }
        let status = avformat_write_header(context, &options)
        av_dict_free(&options)
        avio_flush(context.pointee.pb)
        try check(status)
    }

    private func check(_ status: CInt) throws(GantryError) {
        if let failure = output.failure { throw failure }
        guard status < 0 else { return }
        throw GantryError(
            .outputFailed, "The stream cannot be written to \(output.path).", cause: libAVText(status))
    }

    private static var noMemory: GantryError { GantryError(.outputFailed, "There is not enough memory to record.") }
}

private func writeToOutput(_ opaque: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: CInt) -> CInt {
    guard let opaque, let bytes else { return LibAVError.invalidData }
    return Unmanaged<OutputFile>.fromOpaque(opaque).takeUnretainedValue().write(bytes, count)
}

private func seekInOutput(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: CInt) -> Int64 {
    guard let opaque else { return Int64(LibAVError.invalidData) }
    return Unmanaged<OutputFile>.fromOpaque(opaque).takeUnretainedValue().seekForLibAV(offset, whence)
}

extension OutputFile {
    fileprivate func write(_ bytes: UnsafePointer<UInt8>, _ count: CInt) -> CInt {
        do throws(GantryError) {
            try write(UnsafeRawBufferPointer(start: bytes, count: Int(max(0, count))))
            return count
        } catch {
            // Only a number goes through libavformat; the muxer throws `failure`.
            return LibAVError.noSpace
        }
    }

    fileprivate func seekForLibAV(_ offset: Int64, _ whence: CInt) -> Int64 {
        if whence & AVSEEK_SIZE != 0 { return size ?? Int64(LibAVError.invalidData) }
        return seek(offset, whence & ~AVSEEK_FORCE) ?? Int64(LibAVError.invalidData)
    }
}
