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
        let writer = try RecordingWriter(path: path, video: video, audio: audio, overwrite: overwrite)
        do throws(GantryError) {
            return try write(snapshot, formats, to: writer, pool)
        } catch {
            throw Self.told(error, what: writer.progress)
        }
    }

    /// Names what is there all the same.
    private static func told(_ error: GantryError, what saved: RecordingSummary) -> GantryError {
        guard saved.duration > .zero else { return error }
        let tenths = (saved.duration.microseconds + 50_000) / 100_000
        // Of the last path nothing may be there.
        return GantryError(
            error.code,
            "\(error.message) The first \(tenths / 10).\(tenths % 10) s are saved in \(saved.paths.joined(separator: ", ")).",
            cause: error.cause)
    }

    private static func write(
        _ snapshot: ReplayBuffer.Snapshot, _ formats: [(index: Int, format: StreamFormat)], to writer: RecordingWriter,
        _ pool: ReusePool<MediaPacket>
    ) throws(GantryError) -> RecordingSummary {
        var changes = formats[...]
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
