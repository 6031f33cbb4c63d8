import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryCore
@testable import StudioKit

/// Writes down what it gets; its first call waits until it is let go.
private final class NotingOutput: PacketOutput {
    enum Note: Equatable {
        case expect(Bool, Bool)
        case format(width: Int, epoch: UInt16)
        case packet(UInt32, epoch: UInt16)
        case finish
    }

    let notes = Watched<[Note]>([])
    let isFree = Watched(false)

    private func note(_ note: Note) {
        isFree.waitBlocking { $0 }
        notes.change { $0.append(note) }
    }
    func expect(video: Bool, audio: Bool) { note(.expect(video, audio)) }
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {
        if case .video(let video) = format { note(.format(width: video.width, epoch: epoch)) }
    }
    func receive(_ packet: CodedPacket) { note(.packet(packet.sequence, epoch: packet.epoch)) }
    func finish() { note(.finish) }
}

@Suite struct OutputLaneTests {
    private func packet(_ sequence: UInt32, epoch: UInt16, isKey: Bool, codec: MediaCodec = .h264) throws -> CodedPacket
    {
        let packet = MediaPacket(capacity: 16)
        packet.codec = codec
        packet.header = MediaHeader(
            sequence: sequence, presentationTime: MediaTimestamp(microseconds: 1), epoch: epoch, isKey: isKey)
        return CodedPacket(packet)
    }

    private func format(_ width: Int) -> StreamFormat {
        .video(VideoStreamFormat(codec: .h264, width: width, height: 64, frameRate: .fps30, color: .bt709))
    }

    /// However many there are, the newest format is told before the packets that it is about.
    @Test func formatsAreNotLost() async throws {
        let output = NotingOutput()
        let lane = LanePacketOutput(output)
        try lane.start()
        lane.expect(video: true, audio: false)
        for index in 0..<500 as Range<UInt32> {
            lane.formatChanged(format(64 + Int(index)), epoch: UInt16(index))
            lane.receive(try packet(index, epoch: UInt16(index), isKey: true))
        }
        // There was room for 150 of both, and for the formats alone of 64 more.
        #expect(lane.framesDropped > 100)
        output.isFree.change { $0 = true }
        #expect(try await output.notes.wait { $0.contains { if case .packet = $0 { true } else { false } } })
        #expect(try await onThread { waitUntil { output.notes.value.count > 200 } })
        // With room again, what is owed comes first.
        #expect(
            try await onThread {
                waitUntil {
                    guard let last = try? packet(1000, epoch: 499, isKey: true) else { return false }
                    lane.receive(last)
                    return output.notes.value.contains(.packet(1000, epoch: 499))
                }
            })
        try await onThread { lane.finish() }
        let notes = output.notes.value
        #expect(notes.first == .expect(true, false) && notes.last == .finish)
        var epoch: UInt16?
        for note in notes {
            if case .format(let width, let new) = note {
                #expect(width == 64 + Int(new))
                epoch = new
            }
            if case .packet(_, let of) = note { #expect(of == epoch) }
        }
        #expect(epoch == 499)
    }

    /// After a hole the next key frame comes first, and what is left out until then counts.
    @Test func aHoleEndsWithAKeyFrame() async throws {
        let output = NotingOutput()
        let lane = LanePacketOutput(output)
        try lane.start()
        for index in 0..<400 as Range<UInt32> { lane.receive(try packet(index, epoch: 1, isKey: index == 0)) }
        let dropped = lane.framesDropped
        #expect(99...100 ~= dropped)
        output.isFree.change { $0 = true }
        #expect(try await output.notes.wait { $0.count == 400 - dropped })
        lane.receive(try packet(400, epoch: 1, isKey: false))
        #expect(lane.framesDropped == dropped + 1)
        lane.receive(try packet(401, epoch: 1, isKey: true))
        lane.receive(try packet(402, epoch: 1, isKey: false))
        try await onThread { lane.finish() }
        #expect(output.notes.value.suffix(3) == [.packet(401, epoch: 1), .packet(402, epoch: 1), .finish])
    }

    /// The end waits for five seconds, however much is still to be taken.
    @Test func aSlowOutputDoesNotHoldUpTheEnd() async throws {
        final class Slow: PacketOutput {
            func expect(video: Bool, audio: Bool) {}
            func formatChanged(_ format: StreamFormat, epoch: UInt16) {}
            func receive(_ packet: CodedPacket) { MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(1)) }
        }
        let lane = LanePacketOutput(Slow())
        try lane.start()
        for index in 0..<100 as Range<UInt32> { lane.receive(try packet(index, epoch: 1, isKey: true)) }
        let took = try await onThread {
            let start = MonotonicClock.now()
            lane.finish()
            return MonotonicClock.now() - start
        }
        #expect(took >= .seconds(4) && took < .seconds(60))
    }
}
