package import GantryCore
package import GantryMedia
import GantryPlatform

/// Writes packets as they are into a container, on a thread of its own: a recording, or a transport stream.
package final class MuxOutput: PacketOutput, EndingOutput, Sendable {
    private enum Item: Sendable {
        case expect(video: Bool, audio: Bool)
        case format(StreamFormat)
        case packet(MediaPacket)
    }

    /// About five seconds of picture and sound: what a stalled disk may hold back before packets are left out.
    private static let capacity = 800
    private let thread: OutputThread<Item>
    private let state = MuxState(byteLimit: 32 * 1024 * 1024)
    package let wantsRegularKeyFrames: Bool

    /// Records to a file that ends in .mp4 or .mkv.
    ///
    /// - Throws: what is wrong with the path, at once.
    package static func recording(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) -> MuxOutput {
        _ = try Container.ofRecording(path)
        try OutputPath.check(path, overwrite: overwrite)
        return try MuxOutput("recorder", path: path, wantsRegularKeyFrames: true, failed: failed) {
            video, audio throws(GantryError) in
            try RecordingWriter(path: path, video: video, audio: audio, overwrite: overwrite)
        }
    }

    /// Writes MPEG-TS to a file, a pipe, or standard output for "-".
    ///
    /// - Throws: what is wrong with the path, at once.
    package static func transportStream(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) -> MuxOutput {
        try OutputPath.check(path, overwrite: overwrite)
        return try MuxOutput("ts-output", path: path, wantsRegularKeyFrames: true, failed: failed) {
            video, audio throws(GantryError) in
            try TransportStreamWriter(
                output: OutputFile(path: path, overwrite: overwrite), video: video, audio: audio)
        }
    }

    private init(
        _ name: String, path: String, wantsRegularKeyFrames: Bool, failed: @escaping @Sendable (GantryError) -> Void,
        open: @escaping @Sendable (VideoStreamFormat?, AudioStreamFormat?) throws(GantryError) -> any PacketWriter
    ) throws(GantryError) {
        self.wantsRegularKeyFrames = wantsRegularKeyFrames
        let state = state
        thread = try OutputThread(name, path: path, capacity: Self.capacity, failed: failed) {
            queue throws(GantryError) in
            try Self.write(queue, state, open)
        }
    }

    package var returnsAtOnce: Bool { true }
    package func expect(video: Bool, audio: Bool) { thread.queue.push(.expect(video: video, audio: audio)) }
    package func formatChanged(_ format: StreamFormat, epoch: UInt16) { thread.queue.push(.format(format)) }
    func beginEnd() { thread.beginEnd() }
    package func finish() { thread.finish() }

    package func receive(_ packet: CodedPacket) {
        let packet = packet.packet
        guard state.reserve(packet.count) else { return }
        if !thread.queue.push(.packet(packet)) { state.refuse(packet.count) }
    }

    /// What is in the file, also after a failure; nil before the end, and for a stream.
    package var summary: RecordingSummary? { state.summary }
    /// Packets that the disk or reader was too slow for.
    package var droppedCount: Int { state.droppedCount }

    /// The output's thread: opens the container when every stream that will come is described.
    private static func write(
        _ queue: BoundedQueue<Item>, _ state: MuxState,
        _ open: (VideoStreamFormat?, AudioStreamFormat?) throws(GantryError) -> any PacketWriter
    ) throws(GantryError) {
        var formats = ExpectedFormats()
        var writer: (any PacketWriter)?
        do throws(GantryError) {
            while let item = queue.pop() {
                switch item {
                case .expect(let video, let audio): formats.expect(video: video, audio: audio)
                case .packet(let packet):
                    state.release(packet.count)
                    try writer?.write(packet)
                case .format(let format):
                    formats.set(format)
                    if let writer {
                        try writer.setFormat(format)
                    } else if formats.areComplete {
                        writer = try open(formats.video, formats.audio)
                    }
                }
            }
            state.summary = try writer?.close()
        } catch {
            // What was written before stays, and is told.
            state.summary = try? writer?.close()
            throw error
        }
    }
}
