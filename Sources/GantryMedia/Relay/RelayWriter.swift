package import GantryCore
package import GantryPlatform

/// Sends packets to a media server as they are: H.264 to all, Opus where the server takes it, else AAC. Outlives its
/// connections: positions go on over all of them, and never turn back.
///
/// One thread drives it; calls block as `RelayMuxer` says.
package final class RelayWriter {
    package let address: RelayAddress
    private let guardian: InputGuardian
    private var video: VideoStreamFormat?
    private var audio: AudioStreamFormat?
    private var muxer: RelayMuxer?
    private var sound: (decoder: OpusAudioDecoder, encoder: AACEncoder)?
    private var timeline = RecordingTimeline()
    private var waitsForKey = true
    /// Bytes of the packets that were sent.
    package private(set) var byteCount: Int64 = 0

    package init(_ address: RelayAddress, guardian: InputGuardian) {
        self.address = address
        self.guardian = guardian
    }

    package var isOpen: Bool { muxer != nil }

    /// What comes from now on; a new picture begins with a key frame. Where there was sound or picture and is none now, or the
    /// other way round, the connection ends, since a server is told once what comes.
    ///
    /// - Throws: `unsupportedCodec` for JPEG.
    package func setFormats(
        video: VideoStreamFormat?, audio: AudioStreamFormat?, isNewPicture: Bool
    ) throws(GantryError) {
        if let video, video.codec != .h264 {
            throw GantryError(
                .unsupportedCodec,
                "Media servers take H.264, not JPEG. Let the producer encode: gantry-producer run --pass-through off")
        }
        if (video == nil) != (self.video == nil) || (audio == nil) != (self.audio == nil) { close() }
        self.video = video
        self.audio = audio
        if isNewPicture { waitsForKey = true }
        timeline.restart()
    }

    /// Whether a connection can begin with it.
    package func canOpen(with packet: MediaPacket) -> Bool {
        video == nil ? audio != nil : packet.codec == .h264 && packet.header.isKey
    }

    /// Connects.
    ///
    /// - Parameter first: what will be written first.
    /// - Throws: `cannotConnect`, `rejected`, `cancelled`, `unsupportedCodec`.
    package func open(with first: MediaPacket) throws(GantryError) {
        var video = video
        if first.codec == .h264 {
            let sets = ParameterSets.extract(from: first.bytes)
            if !sets.isEmpty { video?.parameterSets = sets }
        }
        var kind: RelayMuxer.Sound?
        if let audio {
            if address.kind.takesOpus {
                kind = .opus(audio)
            } else {
                let encoder = try AACEncoder()
                sound = (try OpusAudioDecoder(), encoder)
                kind = .aac(encoder)
            }
        }
        muxer = try RelayMuxer(address, video: video, sound: kind, guardian: guardian)
        waitsForKey = video != nil
    }

    /// Sends one packet. False when it was left out: there is no connection, or it comes before the first key frame.
    ///
    /// - Throws: `peerLost`, `cancelled`; the connection has ended then.
    package func write(_ packet: MediaPacket) throws(GantryError) -> Bool {
        guard let muxer, packet.count > 0, packet.codec.isVideo ? video?.codec == packet.codec : audio != nil else {
            return false
        }
        if packet.codec.isVideo, packet.header.isKey { waitsForKey = false }
        guard !waitsForKey || !packet.codec.isVideo else { return false }
        let position = timeline.place(
            stamp: packet.header.presentationTime.microseconds, arrival: packet.arrivalTime.microseconds,
            duration: packet.duration.microseconds)
        guard position >= 0 else { return false }
        do throws(GantryError) {
            if packet.codec.isVideo {
                try muxer.write(
                    video: packet.bytes, position: position, duration: packet.duration.microseconds,
                    isKey: packet.header.isKey)
            } else if sound != nil {
                try transcode(packet, position: position, muxer)
            } else {
                try muxer.write(audio: packet.bytes, position: position, duration: packet.duration.microseconds)
            }
        } catch {
            close()
            throw error
        }
        byteCount &+= Int64(packet.count)
        return true
    }

    private func transcode(_ packet: MediaPacket, position: Int64, _ muxer: RelayMuxer) throws(GantryError) {
        guard let sound else { return }
        var failure: GantryError?
        // Blocks for lost packets come first, with stamps of their own.
        let offset = position &- packet.header.presentationTime.microseconds
        sound.decoder.decode(packet) { block in
            guard failure == nil else { return }
            let samples = UnsafeBufferPointer(rebasing: block.samples[..<(block.count * AudioBlock.channels)])
            do throws(GantryError) {
                try sound.encoder.encode(samples, position: block.presentationTime.microseconds &+ offset) {
                    bytes, position, duration throws(GantryError) in
                    try muxer.write(audio: bytes, position: position, duration: duration)
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Ends the connection in order, if there is one.
    package func close() {
        muxer = nil
        sound = nil
        waitsForKey = true
    }
}
