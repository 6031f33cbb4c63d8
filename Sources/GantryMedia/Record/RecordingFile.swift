import GantryCore
import GantryPlatform

/// One file of a recording: starts at 0, ends fragments, fills gaps of the sound, and knows what is safe on disk.
///
/// Belongs to the recorder's thread. Positions are those of the recording's time line, in microseconds.
final class RecordingFile {
    private let muxer: PacketMuxer
    private let frameRate: FrameRate?
    /// Where time 0 of the file lies on the time line.
    private var origin: Int64?
    /// The last video packet, kept until the next one tells how long it lasts.
    private var held: (packet: MediaPacket, position: Int64)?
    private var fragmentStart: Int64 = 0
    private var audioEnd: Int64 = 0
    private var end: Int64 = 0
    private var frames = 0
    /// Up to the last whole fragment.
    private var safe: (bytes: Int64, end: Int64, frames: Int)

    /// Shorter than the second that is promised, so that a frame more does not break it.
    private static let fragmentDuration: Int64 = 500_000
    /// A gap within the sound that is not jitter of the stamps.
    private static let audioTolerance: Int64 = 20_000
    /// A longer gap is left to the stamps.
    private static let longestFill: Int64 = 600_000_000

    init(_ muxer: PacketMuxer, frameRate: FrameRate?) {
        self.muxer = muxer
        self.frameRate = frameRate
        safe = (muxer.output.position, 0, 0)
    }

    func writeVideo(_ packet: MediaPacket, at timePosition: Int64) throws(GantryError) {
        let position = timePosition &- start(timePosition)
        if let held {
            try writeHeld(held.packet, at: held.position, duration: max(1, position &- held.position))
        }
        held = (packet, max(position, held.map { $0.position &+ 1 } ?? 0))
        try endFragment(before: position)
    }

    /// - Parameter duration: of the packet, never 0.
    func writeAudio(_ packet: MediaPacket, at timePosition: Int64, duration: Int64) throws(GantryError) {
        let position = timePosition &- start(timePosition)
        // Sound from before the first picture.
        guard position >= 0 else { return }
        try fill(upTo: position)
        try muxer.write(.audio, packet.bytes, position: position, duration: duration, isKey: true)
        audioEnd = max(audioEnd, position &+ duration)
        end = max(end, audioEnd)
        try endFragment(before: position)
    }

    /// Writes the held packet and the trailer.
    func finish() throws(GantryError) {
        if let held {
            let known = held.packet.duration
            let duration = known > .zero ? known : frameRate?.frameDuration ?? .milliseconds(33)
            self.held = nil
            try writeHeld(held.packet, at: held.position, duration: min(duration.microseconds, 1_000_000))
        }
        try muxer.flush()
        noteSafe()
        try muxer.finish()
        try muxer.output.synchronize()
        safe.bytes = muxer.output.size ?? muxer.output.byteCount
    }

    /// After a failure: cuts off the fragment that is not whole.
    func cut() {
        held = nil
        muxer.output.truncate(to: safe.bytes)
    }

    /// Adds what is safe on disk.
    func add(to summary: inout RecordingSummary) {
        summary.duration = summary.duration + .microseconds(safe.end)
        summary.frames += safe.frames
        summary.bytes += safe.bytes
    }

    private func start(_ position: Int64) -> Int64 {
        if let origin { return origin }
        origin = position
        return position
    }

    private func writeHeld(_ packet: MediaPacket, at position: Int64, duration: Int64) throws(GantryError) {
        try muxer.write(.video, packet.bytes, position: position, duration: duration, isKey: packet.header.isKey)
        frames &+= 1
        end = max(end, position &+ duration)
    }

    /// Silence up to `position`: exactly at the start of the file, later only where a gap is more than jitter.
    private func fill(upTo position: Int64) throws(GantryError) {
        let gap = position &- audioEnd
        guard gap <= Self.longestFill, audioEnd == 0 || gap > Self.audioTolerance else { return }
        while let silence = SilentOpus.packet(fitting: position &- audioEnd) {
            // A stream must start at 0; the rest that no packet fits into lengthens the last one.
            try silence.bytes.withUnsafeBufferPointer { bytes throws(GantryError) in
                try muxer.write(
                    .audio, UnsafeRawBufferPointer(bytes), position: audioEnd, duration: silence.duration, isKey: true)
            }
            audioEnd &+= silence.duration
        }
    }

    private func endFragment(before position: Int64) throws(GantryError) {
        guard position &- fragmentStart >= Self.fragmentDuration else { return }
        fragmentStart = position
        try muxer.flush()
        noteSafe()
    }

    private func noteSafe() { safe = (muxer.output.position, end, frames) }
}
