import GantryCore
import GantryMedia
import GantryPlatform

/// Writes what a replay holds into a file, as a recording would have been. On the calling thread.
enum ReplayFile {
    static func write(
        _ snapshot: ReplayBuffer.Snapshot, to path: String, overwrite: Bool
    ) throws(GantryError) -> RecordingSummary {
        // The recorder keeps one picture until the next one comes.
        let pool = ReusePool<MediaPacket>(capacity: 4) { MediaPacket() }
        // The file begins with all there will be, also what comes a little later than the first packet.
        var (video, audio) = (nil as VideoStreamFormat?, nil as AudioStreamFormat?)
        var formats: [(index: Int, format: StreamFormat)] = []
        for entry in snapshot.formats {
            // What is described but never came would be waited for.
            guard snapshot.packets.contains(where: { $0.codec.isVideo == entry.format.isVideo }) else { continue }
            switch entry.format {
            case .video(let format) where video == nil: video = format
            case .audio(let format) where audio == nil: audio = format
            default: formats.append(entry)
            }
        }
        var changes = formats[...]
        let writer = try RecordingWriter(path: path, video: video, audio: audio, overwrite: overwrite)
        for (index, held) in snapshot.packets.enumerated() {
            while let next = changes.first, next.index <= index {
                writer.setFormat(next.format)
                changes.removeFirst()
            }
            guard let packet = pool.take() else { continue }
            held.copy(to: packet)
            try writer.write(packet)
        }
        return try writer.finish()
    }
}
