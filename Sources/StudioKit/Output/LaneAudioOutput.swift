import GantryCore
import GantryPlatform

/// An output of the application on a thread of its own.
final class LaneAudioOutput: AudioOutput, EndingOutput {
    private enum Item: Sendable {
        case frame(AudioFrame)
        case interrupted
    }

    let followsReplay: Bool
    let returnsAtOnce = true
    private let lane: OutputLane<Item>

    init(_ output: any AudioOutput) {
        followsReplay = output.followsReplay
        // Of the 32 of the decoder.
        lane = OutputLane("audio-output", capacity: 24) { item in
            switch item {
            case .frame(let frame): output.receive(frame)
            case .interrupted: output.audioInterrupted()
            }
        } finish: {
            output.audioEnded()
        }
    }

    func start() throws(GantryError) { try lane.start() }
    func receive(_ frame: AudioFrame) { lane.queue.pushDroppingOldest(.frame(frame)) }
    func audioInterrupted() { lane.queue.pushDroppingOldest(.interrupted) }
    func beginEnd() { lane.beginEnd() }
    func audioEnded() { lane.close() }
}
