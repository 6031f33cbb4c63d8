package import GantryCore
import GantryMedia
import GantryPlatform

/// Writes what became of each picture, and what disturbed the session, as JSON lines (docs/trace.md). It never holds
/// anything up: what its disk is too slow for is counted, and told in the last line.
///
/// Give it to a session twice, as the last of the picture outputs and as a packet output. Threads: any; "trace" writes.
package final class TraceOutput: VideoOutput, PacketOutput, Sendable {
    /// About half a minute of picture and sound.
    private static let capacity = 4096
    private let thread: OutputThread<TraceItem>

    package var returnsAtOnce: Bool { true }
    package var wantsRegularKeyFrames: Bool { false }

    package var followsReplay: Bool { false }

    /// - Throws: what is wrong with the path, at once.
    package init(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) {
        try OutputPath.check(path, overwrite: overwrite)
        thread = try OutputThread("trace", path: path, capacity: Self.capacity, failed: failed) {
            queue throws(GantryError) in
            guard let first = queue.pop() else { return }
            // Opened only now: without a connection an older file stays as it is.
            var writer = try TraceWriter(OutputFile(path: path, overwrite: overwrite))
            try writer.write(first)
            while let item = queue.pop() { try writer.write(item) }
            try writer.finish(unwritten: queue.droppedCount)
        }
    }

    // MARK: Packets, I/O thread

    package func expect(video: Bool, audio: Bool) {}
    package func formatChanged(_ format: StreamFormat, epoch: UInt16) {}

    package func receive(_ packet: CodedPacket) {
        let packet = packet.packet
        let item = TraceItem.Packet(header: packet.header, arrival: packet.arrivalTime, bytes: packet.count)
        thread.queue.push(packet.codec.isVideo ? .video(item) : .sound(item))
    }

    package func finish() { thread.finish() }

    // MARK: Pictures, decoding thread

    package func receive(_ frame: VideoFrame) {
        let picture = TraceItem.Picture(
            presentation: frame.presentationTime, arrival: frame.arrivalTime, decoded: frame.decodedTime,
            output: MonotonicClock.now(), offset: frame.clockOffset)
        thread.queue.push(.picture(picture))
    }

    package func videoEnded() {}

    // MARK: Any thread

    /// Once for each second of the test pattern.
    package func note(_ pair: SkewMeter.Pair) { thread.queue.push(.lipSync(pair, MonotonicClock.now())) }

    /// What happens in the session.
    package func follow(_ event: StudioEvent) { thread.queue.push(.event(event, MonotonicClock.now())) }

    /// What the producer has sent and left out so far.
    package func note(_ statistics: StudioStatistics) {
        guard statistics.producerFramesSent > 0 else { return }
        thread.queue.push(
            .producer(
                sent: statistics.producerFramesSent, skipped: statistics.producerFramesDropped, MonotonicClock.now()))
    }
}
