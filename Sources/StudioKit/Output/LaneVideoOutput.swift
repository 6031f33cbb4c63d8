import GantryCore
import GantryPlatform

/// An output of the application on a thread of its own.
final class LaneVideoOutput: VideoOutput, EndingOutput {
    private enum Item: Sendable {
        case frame(VideoFrame)
        case interrupted
    }

    let followsReplay: Bool
    let returnsAtOnce = true
    private let lane: OutputLane<Item>

    init(_ output: any VideoOutput) {
        followsReplay = output.followsReplay
        // Pictures that wait are missing in the decoder's pool.
        lane = OutputLane("video-output", capacity: 2) { item in
            switch item {
            case .frame(let frame): output.receive(frame)
            case .interrupted: output.videoInterrupted()
            }
        } finish: {
            output.videoEnded()
        }
    }

    func start() throws(GantryError) { try lane.start() }
    func receive(_ frame: VideoFrame) { lane.queue.pushDroppingOldest(.frame(frame)) }
    func videoInterrupted() { lane.queue.pushDroppingOldest(.interrupted) }
    func beginEnd() { lane.beginEnd() }
    func videoEnded() { lane.close() }

    /// Pictures that the output was too slow for. Any thread.
    var droppedCount: Int { lane.queue.droppedCount }
}
