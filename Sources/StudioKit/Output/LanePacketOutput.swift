import GantryCore
import GantryPlatform

/// An output of the application on a thread of its own.
final class LanePacketOutput: PacketOutput, @unchecked Sendable {  // `needsKeyFrame` is guarded by `lock`.
    private enum Item: Sendable {
        case expect(video: Bool, audio: Bool)
        case format(StreamFormat, epoch: UInt16)
        case packet(CodedPacket)
    }

    let returnsAtOnce = true
    private let output: any PacketOutput
    private let lane: OutputLane<Item>
    private let state = MuxState(byteLimit: 32 * 1024 * 1024)
    private let lock = Lock()
    private var needsKeyFrame = false

    /// About four seconds of picture and sound, and less than the connection's pools hold.
    private static let packetLimit = 300

    init(_ output: any PacketOutput) {
        self.output = output
        let state = state
        // There is always room for what is said between packets.
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
    func expect(video: Bool, audio: Bool) { _ = lane.queue.push(.expect(video: video, audio: audio)) }
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {
        _ = lane.queue.push(.format(format, epoch: epoch))
    }
    func finish() { lane.close() }

    func receive(_ packet: CodedPacket) {
        let isUsable = lock.withLock {
            if packet.codec == .h264, packet.isKeyFrame { needsKeyFrame = false }
            return packet.codec != .h264 || !needsKeyFrame
        }
        guard isUsable, !push(packet), packet.codec == .h264 else { return }
        lock.withLock { needsKeyFrame = true }
    }

    private func push(_ packet: CodedPacket) -> Bool {
        guard lane.queue.countInside < Self.packetLimit, state.reserve(packet.count) else { return false }
        if lane.queue.push(.packet(packet)) { return true }
        state.refuse(packet.count)
        return false
    }
}
