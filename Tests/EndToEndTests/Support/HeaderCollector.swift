import GantryCore
import GantryPlatform
import GantryTestSupport
import StudioKit

/// Keeps what the headers of all packets say.
final class HeaderCollector: PacketOutput {
    struct Entry: Sendable {
        let isVideo: Bool
        let header: MediaHeader
    }

    let entries = Watched<[Entry]>([])
    var returnsAtOnce: Bool { true }
    let wantsRegularKeyFrames = false

    func expect(video: Bool, audio: Bool) {}
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {}
    func receive(_ coded: CodedPacket) {
        let packet = coded.packet
        entries.change { $0.append(Entry(isVideo: packet.codec.isVideo, header: packet.header)) }
    }
    func finish() {}
}
