package import GantryCore
package import GantryPlatform

/// Writes packets as an MPEG transport stream, each of them at once: for `ffplay -`, OBS, or a pipe.
///
/// One thread drives it; a slow reader blocks `write`. Starts with the first key frame. Time goes on across sessions
/// (`setFormat`); a new picture size is allowed, the stream carries its own parameter sets.
package final class TransportStreamWriter {
    private let output: OutputFile
    private var video: VideoStreamFormat?
    private let audio: AudioStreamFormat?
    private var muxer: PacketMuxer?
    private var timeline = RecordingTimeline()
    private var waitsForKey = true
    private var isFinished = false
    /// Video frames written.
    package private(set) var frameCount = 0

    /// - Throws: `invalidArgument` when there is nothing to write, `unsupportedCodec` for JPEG, which a transport stream
    ///   cannot carry.
    package init(output: OutputFile, video: VideoStreamFormat?, audio: AudioStreamFormat?) throws(GantryError) {
        guard video != nil || audio != nil else {
            throw GantryError(.invalidArgument, "There is neither picture nor sound to write.")
        }
        if let video { try Self.check(video) }
        self.output = output
        self.video = video
        self.audio = audio
    }

    /// A new session or a change of the stream begins; the next video packet must be a key frame.
    ///
    /// - Throws: `unsupportedCodec`.
    package func setFormat(_ format: StreamFormat) throws(GantryError) {
        if case .video(let new) = format {
            try Self.check(new)
            if video != nil { video = new }
            waitsForKey = true
        }
        timeline.restart()
    }

    /// - Throws: `outputClosed` when the reader has gone, `outputFull`, `outputFailed`.
    package func write(_ packet: MediaPacket) throws(GantryError) {
        let stream: PacketMuxer.Stream = packet.codec.isVideo ? .video : .audio
        guard !isFinished, packet.count > 0, stream == .video ? video?.codec == packet.codec : audio != nil else {
            return
        }
        if stream == .video && waitsForKey {
            guard packet.header.isKey else { return }
            waitsForKey = false
        }
        if muxer == nil {
            // Sound from before the first picture is left out.
            guard stream == .video || video == nil else { return }
            if var format = video {
                let sets = ParameterSets.extract(from: packet.bytes)
                if !sets.isEmpty { format.parameterSets = sets }
                video = format
            }
            muxer = try PacketMuxer(.mpegTS, output: output, video: video, audio: audio)
        }
        let position = timeline.place(
            stamp: packet.header.presentationTime.microseconds, arrival: packet.arrivalTime.microseconds,
            duration: packet.duration.microseconds)
        guard position >= 0, let muxer else { return }
        try muxer.write(
            stream, packet.bytes, position: position, duration: packet.duration.microseconds,
            isKey: packet.header.isKey || stream == .audio)
        try muxer.flush()
        if stream == .video { frameCount &+= 1 }
    }

    /// Ends the stream; nothing may be written afterwards.
    package func finish() throws(GantryError) {
        isFinished = true
        guard let muxer else { return }
        self.muxer = nil
        try muxer.finish()
    }

    private static func check(_ format: VideoStreamFormat) throws(GantryError) {
        guard format.codec == .h264 else {
            throw GantryError(
                .unsupportedCodec,
                "A transport stream carries H.264, not JPEG. Let the producer encode."
            )
        }
    }
}
