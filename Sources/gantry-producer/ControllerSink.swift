import GantryCore
import GantryMedia
import GantryPlatform
import ProducerKit

/// Hands what a source makes to the producer.
final class ControllerSink: MediaSink {
    private let controller: ProducerController
    private let streams: OfferedStreams
    private let keepsDevices: Bool
    private let levels: LevelMeter?

    /// - Parameter levels: meters the sound.
    init(_ controller: ProducerController, _ streams: OfferedStreams, keepsDevices: Bool, levels: LevelMeter?) {
        self.controller = controller
        self.streams = streams
        self.keepsDevices = keepsDevices
        self.levels = levels
    }

    func video(_ picture: Picture) { controller.enqueue(picture) }
    func coded(_ packet: MediaPacket) -> Bool { controller.enqueue(coded: packet) }
    func audio(_ block: AudioBlock) {
        levels?.feed(block)
        controller.enqueue(block)
    }
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { controller.waitForVideoRoom(until: deadline) }
    var wantsVideo: Bool { keepsDevices || controller.isReceived(.video) }
    var wantsAudio: Bool { keepsDevices || controller.isReceived(.audio) || streams.isMissed(.audio) }
    func soundChanged(isThere: Bool) { streams.set(.audio, isThere: isThere) }
}
