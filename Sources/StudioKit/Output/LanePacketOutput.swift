import GantryCore
import GantryPlatform

/// An output of the application on a thread of its own.
final class LanePacketOutput: PacketOutput, EndingOutput, @unchecked Sendable {  // What varies is guarded by `lock`.
    private enum Item: Sendable {
        case expect(video: Bool, audio: Bool)
        case format(StreamFormat, epoch: UInt16)
        case packet(CodedPacket)

        /// Whether it does not matter any more once `new` has been said.
        func isReplaced(by new: Item) -> Bool {
            switch (self, new) {
            case (.expect, .expect), (.format(.video, _), .format(.video, _)), (.format(.audio, _), .format(.audio, _)):
                true
            default: false
            }
        }
    }

    let returnsAtOnce = true
    private let output: any PacketOutput
    private let lane: OutputLane<Item>
    private let state = MuxState(byteLimit: 32 * 1024 * 1024)
    private let lock = Lock()
    private var needsKeyFrame = false
    private var dropped = 0
    /// What is to be said before the next packet, for which there was no room: the newest of each kind, in order.
    private var owed: [Item] = []

    /// About four seconds of picture and sound, and less than the connection's pools hold.
    private static let packetLimit = 300

    init(_ output: any PacketOutput) {
        self.output = output
        let state = state
        // There is room for what is said between packets, whatever waits of these.
        lane = OutputLane("packet-output", capacity: Self.packetLimit + 64) { item in
            switch item {
            case .expect(let video, let audio): output.expect(video: video, audio: audio)
            case .format(let format, let epoch): output.formatChanged(format, epoch: epoch)
            case .packet(let packet):
                state.release(packet.count)
                output.receive(packet)
            }
        } finish: {
            output.finish()
        }
    }

    func start() throws(GantryError) { try lane.start() }
    var wantsRegularKeyFrames: Bool { output.wantsRegularKeyFrames }
    var awaitsKeyFrame: Bool { output.awaitsKeyFrame }
    func expect(video: Bool, audio: Bool) { say(.expect(video: video, audio: audio)) }
    func formatChanged(_ format: StreamFormat, epoch: UInt16) { say(.format(format, epoch: epoch)) }
    func beginEnd() { lane.beginEnd() }
    func finish() { lane.close() }

    /// Pictures that the output was too slow for. Any thread.
    var framesDropped: Int { lock.withLock { dropped } }

    func receive(_ packet: CodedPacket) {
        lock.withLock {
            if packet.codec == .h264, packet.isKeyFrame { needsKeyFrame = false }
            let isUsable = packet.codec != .h264 || !needsKeyFrame
            guard !(isUsable && push(packet)), packet.codec.isVideo else { return }
            dropped += 1
            needsKeyFrame = packet.codec == .h264
        }
    }

    private func say(_ item: Item) {
        lock.withLock {
            if owed.isEmpty, lane.queue.push(item) { return }
            owed.removeAll { $0.isReplaced(by: item) }
            owed.append(item)
        }
    }

    /// Under the lock.
    private func push(_ packet: CodedPacket) -> Bool {
        guard lane.queue.countInside < Self.packetLimit else { return false }
        while let first = owed.first {
            guard lane.queue.push(first) else { return false }
            owed.removeFirst()
        }
        guard state.reserve(packet.count) else { return false }
        if lane.queue.push(.packet(packet)) { return true }
        state.refuse(packet.count)
        return false
    }
}
