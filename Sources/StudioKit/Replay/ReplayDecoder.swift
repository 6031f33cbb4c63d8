import GantryCore
import GantryMedia
import GantryPlatform

/// Decodes what a replay shows, apart from the decoders of the connection. The player's thread only.
final class ReplayDecoder {
    private let videoPackets = ReusePool<MediaPacket>(capacity: 2) { MediaPacket() }
    private let audioPackets = ReusePool<MediaPacket>(capacity: 2) { MediaPacket(capacity: 1500) }
    private var video: VideoDecoder?
    private var audio: OpusAudioDecoder?
    private var connection = 0

    /// Nothing that comes refers to what came before.
    func reset() {
        video?.reset()
        audio?.reset()
    }

    func picture(_ packet: ReplayPacket) throws(GantryError) -> Picture? {
        if packet.connection != connection {
            connection = packet.connection
            reset()
        }
        if video?.codec != packet.codec { video = try VideoDecoder(codec: packet.codec) }
        guard let copy = videoPackets.take() else { return nil }
        packet.copy(to: copy)
        return try video?.decode(copy)
    }

    func sound(_ packet: ReplayPacket, _ deliver: (AudioBlock) -> Void) throws(GantryError) {
        if audio == nil { audio = try OpusAudioDecoder() }
        guard let copy = audioPackets.take() else { return }
        packet.copy(to: copy)
        audio?.decode(copy, deliver: deliver)
    }
}
