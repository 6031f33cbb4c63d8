public import GantryCore

/// Writes a session as MPEG-TS, without coding it again, to a file or to a program that reads a pipe. Give it to
/// `StudioSessionConfiguration.packetOutputs` of one session. It has what there is when it begins: sound or a picture that the producer
/// offers later only is left out.
public final class TransportStreamOutput: PacketOutput, EndingOutput, Sendable {
    private let output: MuxOutput

    /// - Parameters:
    ///   - path: a file, a named pipe, or "-" for standard output.
    ///   - overwrite: replaces a file that exists.
    ///   - failed: told once, on the output's thread, for instance when the reader has gone.
    /// - Throws: `invalidArgument`, `outputNotWritable`: what is wrong with the path, at once.
    public init(
        path: String, overwrite: Bool = false, failed: @escaping @Sendable (GantryError) -> Void = { _ in }
    ) throws(GantryError) {
        output = try .transportStream(path: path, overwrite: overwrite, failed: failed)
    }

    public var returnsAtOnce: Bool { true }
    public func expect(video: Bool, audio: Bool) { output.expect(video: video, audio: audio) }
    public func formatChanged(_ format: StreamFormat, epoch: UInt16) { output.formatChanged(format, epoch: epoch) }
    public func receive(_ packet: CodedPacket) { output.receive(packet) }
    func beginEnd() { output.beginEnd() }
    public func finish() { output.finish() }
    public var wantsRegularKeyFrames: Bool { true }

    /// Packets that the disk or reader was too slow for.
    public var droppedCount: Int { output.droppedCount }
}
