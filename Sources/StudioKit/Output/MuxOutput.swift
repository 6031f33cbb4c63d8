package import GantryCore
package import GantryMedia
package import GantryPlatform

/// Writes packets as they are into a container, on a thread of its own: a recording, or a transport stream.
package final class MuxOutput: PacketOutput, Sendable {
    private enum Item: Sendable {
        case expect(video: Bool, audio: Bool)
        case format(StreamFormat)
        case packet(MediaPacket)
    }

    /// About five seconds of picture and sound: what a stalled disk may hold back before packets are left out.
    private static let capacity = 800
    private let thread: OutputThread<Item>
    private let box: SummaryBox
    package let wantsRegularKeyFrames: Bool

    /// Filled by the output's thread when the file is closed.
    private final class SummaryBox: @unchecked Sendable {  // `value` is guarded by `lock`.
        private let lock = Lock()
        private var value: RecordingSummary?
        func set(_ summary: RecordingSummary?) { lock.withLock { value = summary } }
        func get() -> RecordingSummary? { lock.withLock { value } }
    }

    /// Records to a file that ends in .mp4 or .mkv.
    ///
    /// - Throws: what is wrong with the path, at once.
    package static func recording(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) -> MuxOutput {
        _ = try Container.ofRecording(path)
        try OutputPath.check(path, overwrite: overwrite)
        return try MuxOutput("recorder", wantsRegularKeyFrames: true, failed: failed) {
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
        // Used by the output's thread alone from here on.
        nonisolated(unsafe) let file = try OutputFile(path: path, overwrite: overwrite)
        return try MuxOutput("ts-output", wantsRegularKeyFrames: true, failed: failed) {
            video, audio throws(GantryError) in
            try TransportStreamWriter(output: file, video: video, audio: audio)
        }
    }

    private init(
        _ name: String, wantsRegularKeyFrames: Bool, failed: @escaping @Sendable (GantryError) -> Void,
        open: @escaping @Sendable (VideoStreamFormat?, AudioStreamFormat?) throws(GantryError) -> any PacketWriter
    ) throws(GantryError) {
        self.wantsRegularKeyFrames = wantsRegularKeyFrames
        let box = SummaryBox()
        self.box = box
        thread = try OutputThread(name, capacity: Self.capacity, failed: failed) { queue throws(GantryError) in
            box.set(try Self.write(queue, open))
        }
    }

    package func expect(video: Bool, audio: Bool) { thread.queue.push(.expect(video: video, audio: audio)) }
    package func formatChanged(_ format: StreamFormat, epoch: UInt16) { thread.queue.push(.format(format)) }
    package func receive(_ packet: MediaPacket) { thread.queue.push(.packet(packet)) }
    package func finish() { thread.finish() }

    /// What is in the file; nil before `finish`, after a failure, and for a stream.
    package var summary: RecordingSummary? { box.get() }
    /// Packets that the disk or reader was too slow for.
    package var droppedCount: Int { thread.queue.droppedCount }

    /// The output's thread: opens the container when every stream that will come is described.
    private static func write(
        _ queue: BoundedQueue<Item>,
        _ open: (VideoStreamFormat?, AudioStreamFormat?) throws(GantryError) -> any PacketWriter
    ) throws(GantryError) -> RecordingSummary? {
        var expected = (video: false, audio: false)
        var video: VideoStreamFormat?
        var audio: AudioStreamFormat?
        var writer: (any PacketWriter)?
        while let item = queue.pop() {
            switch item {
            case .expect(let hasVideo, let hasAudio): expected = (hasVideo, hasAudio)
            case .packet(let packet): try writer?.write(packet)
            case .format(let format):
                switch format {
                case .video(let new): video = new
                case .audio(let new): audio = new
                }
                if let writer {
                    try writer.setFormat(format)
                } else if (video != nil) == expected.video && (audio != nil) == expected.audio {
                    writer = try open(video, audio)
                }
            }
        }
        return try writer?.close()
    }
}
