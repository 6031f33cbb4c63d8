package import GantryCore
package import GantryPlatform

/// Records packets as they are, without coding them again, into fragmented MP4 or Matroska.
///
/// One thread drives it (the recorder's): every call may wait for the disk. A fragment ends at least every 0.6 s and is
/// then in the file, so that the file plays after SIGKILL without repair. Time 0 is the first key frame; sound from
/// before is left out, and silence stands where sound begins later or has a gap. One file goes on across sessions
/// (`setFormat` at each); a new picture size needs a new file, NAME-2.mp4, which begins with the next key frame.
/// It keeps one video packet until the next one comes, to know how long it lasts.
package final class RecordingWriter {
    private let path: String
    private let overwrite: Bool
    private let container: Container
    private var video: VideoStreamFormat?
    private var audio: AudioStreamFormat?
    private var timeline = RecordingTimeline()
    private var file: RecordingFile?
    /// Opened at the start, so that a wrong path is told before the first packet; taken by the first file.
    private var firstOutput: OutputFile?
    /// The current file cannot take the format: the next key frame begins a new one.
    private var needsNewFile = true
    private var waitsForKey = true
    private var summary = RecordingSummary()
    private var failure: GantryError?
    private var isFinished = false
    /// Of one recording: a producer that changes its picture all the time must not fill the folder.
    private static let maximumFiles = 256

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - path: ends in .mp4 or .mkv.
    ///   - video: nil records sound alone.
    ///   - audio: nil records the picture alone; it cannot be added to a file later.
    ///   - overwrite: replaces a file that exists.
    /// - Throws: `invalidArgument` (unknown ending, nothing to record), `outputNotWritable`, `outputFull`.
    package init(path: String, video: VideoStreamFormat?, audio: AudioStreamFormat?, overwrite: Bool = false)
        throws(GantryError)
    {
        container = try Container.ofRecording(path)
        guard video != nil || audio != nil else {
            throw GantryError(.invalidArgument, "There is neither picture nor sound to record.")
        }
        self.path = path
        self.overwrite = overwrite
        self.video = video
        self.audio = audio
        firstOutput = try OutputFile(path: path, overwrite: overwrite)
        summary.paths = [path]
    }

    /// What was recorded so far; complete after `finish`.
    package var progress: RecordingSummary {
        var progress = summary
        file?.add(to: &progress)
        return progress
    }

    /// A stream was described: a new session, or a change within one. The same codec, size and rotation go on in the
    /// file, at the next key frame; a stream that the file lacks, or another picture, begins a new file there.
    package func setFormat(_ format: StreamFormat) {
        switch format {
        case .video(let new):
            if !Self.fits(new, in: video) { needsNewFile = true }
            video = new
            waitsForKey = true
        case .audio(let new):
            if audio == nil || new.channels != audio?.channels {
                needsNewFile = true
                waitsForKey = true
            }
            audio = new
        }
        timeline.restart()
    }

    /// Records one packet. Packets before the first key frame are left out.
    ///
    /// - Throws: `outputFull`, `outputClosed`, `outputFailed`. Then the file has been cut behind its last whole fragment,
    ///   and every later call throws the same error.
    package func write(_ packet: MediaPacket) throws(GantryError) {
        if let failure { throw failure }
        guard !isFinished, packet.count > 0 else { return }
        do throws(GantryError) {
            if packet.codec.isVideo { try writeVideo(packet) } else { try writeAudio(packet) }
        } catch {
            fail(error)
            throw error
        }
    }

    /// Writes what is held back and the trailer. Calling it again returns the same.
    ///
    /// - Throws: as `write`, unless that has thrown already: then the summary tells what is safe.
    @discardableResult
    package func finish() throws(GantryError) -> RecordingSummary {
        guard !isFinished else { return summary }
        isFinished = true
        firstOutput = nil
        if failure != nil { return summary }
        do throws(GantryError) {
            try endFile()
        } catch {
            fail(error)
            throw error
        }
        return summary
    }

    private func writeVideo(_ packet: MediaPacket) throws(GantryError) {
        guard let video, packet.codec == video.codec else { return }
        if waitsForKey {
            guard packet.header.isKey else { return }
            if needsNewFile {
                guard let described = described(video, by: packet) else { return }
                try beginFile(video: described)
            }
            waitsForKey = false
        }
        let position = place(packet)
        try file?.writeVideo(packet, at: position)
    }

    private func writeAudio(_ packet: MediaPacket) throws(GantryError) {
        guard audio != nil else { return }
        if video == nil && needsNewFile { try beginFile(video: nil) }
        guard file != nil else { return }
        let position = place(packet)
        try file?.writeAudio(packet, at: position, duration: duration(of: packet))
    }

    private func place(_ packet: MediaPacket) -> Int64 {
        timeline.place(
            stamp: packet.header.presentationTime.microseconds, arrival: packet.arrivalTime.microseconds,
            duration: duration(of: packet))
    }

    private func duration(of packet: MediaPacket) -> Int64 {
        if packet.duration > .zero { return packet.duration.microseconds }
        if packet.codec.isVideo { return video?.frameRate.frameDuration.microseconds ?? 0 }
        // 2.5 to 120 ms: RFC 6716 section 2.1.4.
        return Int64(min(max(120, audio?.samplesPerPacket ?? 480), 5760)) * 1_000_000 / 48_000
    }

    private func beginFile(video: VideoStreamFormat?) throws(GantryError) {
        try endFile()
        let output: OutputFile
        if let first = firstOutput {
            output = first
            firstOutput = nil
        } else {
            guard summary.paths.count < Self.maximumFiles else {
                throw GantryError(
                    .outputFailed,
                    "The picture has changed its size \(Self.maximumFiles) times: the recording ends. Fix the size at "
                        + "the producer.")
            }
            let next = numbered(summary.paths.count + 1)
            output = try OutputFile(path: next, overwrite: overwrite)
            summary.paths.append(next)
            Log.warning("The stream has changed: what comes now is in \(next).")
        }
        file = try RecordingFile(
            PacketMuxer(container, output: output, video: video, audio: audio), frameRate: video?.frameRate)
        needsNewFile = false
    }

    private func endFile() throws(GantryError) {
        guard let file else { return }
        try file.finish()
        file.add(to: &summary)
        self.file = nil
    }

    private func fail(_ error: GantryError) {
        failure = error
        guard let file else { return }
        file.cut()
        file.add(to: &summary)
        self.file = nil
    }

    /// The format with SPS and PPS: those in front of the key frame, else those that were described before. Nil when there
    /// are none, so that no decoder could begin here.
    private func described(_ format: VideoStreamFormat, by packet: MediaPacket) -> VideoStreamFormat? {
        guard format.codec == .h264 else { return format }
        var format = format
        let sets = ParameterSets.extract(from: packet.bytes)
        if !sets.isEmpty { format.parameterSets = sets }
        return format.parameterSets.isEmpty ? nil : format
    }

    private func numbered(_ number: Int) -> String {
        guard let dot = path.lastIndex(of: ".") else { return "\(path)-\(number)" }
        return "\(path[..<dot])-\(number)\(path[dot...])"
    }

    private static func fits(_ new: VideoStreamFormat, in old: VideoStreamFormat?) -> Bool {
        guard let old else { return false }
        return new.codec == old.codec && new.width == old.width && new.height == old.height
            && new.rotation == old.rotation
    }
}
