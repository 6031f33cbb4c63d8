public import GantryCore

/// Records a session to a file as it came, without coding it again. The file plays even if the machine dies in the middle:
/// it is made of fragments of at most 0.6 seconds. Give it to `StudioSessionConfiguration.packetOutputs` of one session.
public final class RecordingOutput: PacketOutput, EndingOutput, Sendable {
    private let output: MuxOutput

    /// - Parameters:
    ///   - path: ends in .mp4 or .mkv. The file appears with the first packet.
    ///   - overwrite: replaces a file that exists.
    ///   - failed: told once, on the recording's thread, when the disk is full or fails; what was written stays.
    /// - Throws: `invalidArgument`, `outputNotWritable`: what is wrong with the path, at once.
    public init(
        path: String, overwrite: Bool = false, failed: @escaping @Sendable (GantryError) -> Void = { _ in }
    ) throws(GantryError) {
        output = try .recording(path: path, overwrite: overwrite, failed: failed)
    }

    public var returnsAtOnce: Bool { true }
    public func expect(video: Bool, audio: Bool) { output.expect(video: video, audio: audio) }
    public func formatChanged(_ format: StreamFormat, epoch: UInt16) { output.formatChanged(format, epoch: epoch) }
    public func receive(_ packet: CodedPacket) { output.receive(packet) }
    func beginEnd() { output.beginEnd() }
    public func finish() { output.finish() }
    public var wantsRegularKeyFrames: Bool { true }

    /// What is in the file, also after a failure; nil before the session's end, and when nothing has come.
    public var saved: SavedMedia? { output.summary.map(SavedMedia.init) }
    /// Packets that the disk was too slow for.
    public var droppedCount: Int { output.droppedCount }
}
