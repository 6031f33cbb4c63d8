import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryCore
@testable import StudioKit

@Suite struct FrameGateTests {
    @Test func anIdleLinkIsAlwaysReady() {
        let gate = FrameGate()
        #expect(gate.permits(VideoBacklog(bytes: 0, count: 0, isBlocked: true)))
        // Less than one TLS record says nothing.
        #expect(gate.permits(VideoBacklog(bytes: 16 * 1024, count: 5, isBlocked: true)))
    }

    @Test func aBacklogOfMoreThanAFrameAndAHalfStops() {
        var gate = FrameGate()
        gate.encoded(bytes: 20_000)
        #expect(gate.permits(VideoBacklog(bytes: 30_000, count: 2, isBlocked: true)))
        #expect(!gate.permits(VideoBacklog(bytes: 30_001, count: 2, isBlocked: true)))
        #expect(!gate.permits(VideoBacklog(bytes: 20_000, count: 3, isBlocked: true)))
        // Nothing whole waits, only the rest of one that is on its way.
        #expect(gate.permits(VideoBacklog(bytes: 1_000_000, count: 0, isBlocked: true)))
    }

    @Test func aBusyMachineIsNotASlowLink() {
        var gate = FrameGate()
        gate.encoded(bytes: 20_000)
        #expect(gate.permits(VideoBacklog(bytes: 140_000, count: 7, isBlocked: false)))
        #expect(!gate.permits(VideoBacklog(bytes: 160_000, count: 8, isBlocked: false)))
    }

    /// The queue may stand in the kernel or in the network.
    @Test func whatTheLinkHasNotDeliveredCounts() {
        var gate = FrameGate()
        gate.encoded(bytes: 20_000)
        #expect(gate.permits(VideoBacklog(unconfirmed: 30_000)))
        #expect(!gate.permits(VideoBacklog(unconfirmed: 30_001)))
        #expect(!gate.permits(VideoBacklog(bytes: 11_000, count: 1, unconfirmed: 20_000)))
        #expect(gate.permits(VideoBacklog(unconfirmed: -1_000_000)))
    }

    @Test func theMeanFollowsSlowly() {
        var gate = FrameGate()
        gate.encoded(bytes: 16_000)
        gate.encoded(bytes: 160_000)
        // 16000 + 144000 / 16 = 25000, and a half more.
        #expect(gate.permits(VideoBacklog(bytes: 37_500, count: 1, isBlocked: true)))
        #expect(!gate.permits(VideoBacklog(bytes: 37_501, count: 1, isBlocked: true)))
        for _ in 0..<200 { gate.encoded(bytes: 20_000) }
        #expect(!gate.permits(VideoBacklog(bytes: 31_000, count: 1, isBlocked: true)))
    }
}

@Suite struct StreamCounterTests {
    private func header(_ sequence: UInt32, _ milliseconds: Int64) -> MediaHeader {
        MediaHeader(sequence: sequence, presentationTime: MediaTimestamp(microseconds: milliseconds * 1000))
    }

    @Test func itCountsWhatComesAndWhatIsMissing() {
        var counter = StreamCounter()
        for (sequence, time) in [(5, 0), (6, 100), (9, 400), (10, 500)] as [(UInt32, Int64)] {
            counter.add(header(sequence, time), bytes: 1000, arrived: .init(microseconds: 0))
        }
        #expect(counter.received == 4)
        #expect(counter.lost == 2)
        #expect(counter.bytes == 4000)
        #expect(counter.span == .milliseconds(500))
        #expect(counter.packetsPerSecond == 6)
        #expect(counter.bitrate == 64_000)
    }

    @Test func aPauseIsNoTimeOfTheStream() {
        var counter = StreamCounter()
        counter.add(header(5, 0), bytes: 1000, arrived: .init(microseconds: 0))
        counter.interrupted()
        counter.paused()
        counter.add(header(90, 60_000), bytes: 1000, arrived: .init(microseconds: 0))
        #expect(counter.lost == 0)
        #expect(counter.span == .milliseconds(33))
    }

    @Test func theNumberWrapsAroundWithoutALoss() {
        var counter = StreamCounter()
        counter.add(header(.max - 1, 0), bytes: 1, arrived: .init(microseconds: 0))
        counter.add(header(.max, 10), bytes: 1, arrived: .init(microseconds: 0))
        counter.add(header(0, 20), bytes: 1, arrived: .init(microseconds: 0))
        counter.add(header(2, 30), bytes: 1, arrived: .init(microseconds: 0))
        #expect(counter.lost == 1)
    }

    @Test func aNewBeginningIsNoLoss() {
        var counter = StreamCounter()
        counter.add(header(500_000, 0), bytes: 1, arrived: .init(microseconds: 0))
        counter.add(header(0, 10), bytes: 1, arrived: .init(microseconds: 0))
        counter.add(header(1, 20), bytes: 1, arrived: .init(microseconds: 0))
        #expect(counter.lost == 0)
        #expect(counter.received == 3)
    }

    @Test func nothingIsDividedByZero() {
        var counter = StreamCounter()
        #expect(counter.packetsPerSecond == 0)
        counter.add(header(0, 5), bytes: 1, arrived: .init(microseconds: 0))
        #expect(counter.packetsPerSecond == 0)
        #expect(counter.bitrate == 0)
        // Stamps that run backwards.
        counter.add(header(1, 0), bytes: 1, arrived: .init(microseconds: 0))
        #expect(counter.packetsPerSecond == 0)
    }
}

@Suite struct MediaReassemblerTests {
    private static let prefix = MediaPrefix(sequence: 7, presentationTime: 100, captureTime: 90, epoch: 3)

    private static func message(_ payload: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: MediaPrefix.size)
        bytes.withUnsafeMutableBytes { _ = prefix.write(to: $0) }
        return bytes + payload
    }

    /// Feeds a message in pieces of that size.
    private static func feed(
        _ reassembler: inout MediaReassembler, _ bytes: [UInt8], pieces: Int, flags: FrameFlags = [.key]
    ) throws -> MediaPacket? {
        var result: MediaPacket?
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            let end = min(start + pieces, bytes.count)
            try bytes.withUnsafeBytes { whole in
                let chunk = FrameChunk(
                    type: .video, flags: flags, channel: 1,
                    payload: UnsafeRawBufferPointer(rebasing: whole[start..<end]),
                    startsMessage: start == 0, endsMessage: end == bytes.count)
                if let packet = try reassembler.consume(chunk) {
                    #expect(result == nil)
                    result = packet
                }
            }
        }
        return result
    }

    @Test(arguments: [1, 2, 5, 21, 22, 23, 1000]) func piecesOfEverySizeGiveTheSame(pieces: Int) throws {
        let pool = ReusePool<MediaPacket>(capacity: 2) { MediaPacket() }
        var reassembler = MediaReassembler(codec: .h264, pool: pool)
        let payload = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
        let packet = try #require(try Self.feed(&reassembler, Self.message(payload), pieces: pieces))
        #expect(Array(packet.bytes) == payload)
        #expect(packet.header.sequence == 7)
        #expect(packet.header.presentationTime.microseconds == 100)
        #expect(packet.header.captureTime.microseconds == 90)
        #expect(packet.header.epoch == 3)
        #expect(packet.header.isKey)
        #expect(packet.codec == .h264)
        #expect(packet.arrivalTime <= MonotonicClock.now())
    }

    @Test func anEmptyPayloadIsAPacket() throws {
        let pool = ReusePool<MediaPacket>(capacity: 2) { MediaPacket() }
        var reassembler = MediaReassembler(codec: .opus, pool: pool)
        let packet = try #require(try Self.feed(&reassembler, Self.message([]), pieces: 100, flags: []))
        #expect(packet.count == 0)
        #expect(!packet.header.isKey)
    }

    @Test func aMessageWithoutItsPrefixIsRefused() {
        let pool = ReusePool<MediaPacket>(capacity: 2) { MediaPacket() }
        var reassembler = MediaReassembler(codec: .h264, pool: pool)
        let error = #expect(throws: GantryError.self) {
            try Self.feed(&reassembler, Array(repeating: 0, count: 21), pieces: 100)
        }
        #expect(error?.code == .protocolError)
    }

    /// What a packet out of the ordinary takes goes with it: the pool holds hundreds, each of which could be such a one.
    @Test func largePacketsDoNotStayInThePool() async {
        // In a process of its own: other tests take memory meanwhile.
        await #expect(processExitsWith: .success) {
            let pool = ReusePool<MediaPacket>(capacity: 200) { MediaPacket() }
            var reassembler = MediaReassembler(codec: .h264, pool: pool)
            var held: [MediaPacket] = []
            for _ in 0..<200 { held.append(try #require(try Self.feed(&reassembler, Self.message([1]), pieces: 100))) }
            held = []
            let payload = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let message = Self.message(payload)
            let before = ProcessUsage.current.residentBytes
            for number in 0..<60 {
                let packet = try #require(try Self.feed(&reassembler, message, pieces: 16_000))
                #expect(packet.count == payload.count)
                #expect(packet.header.sequence == 7)
                if number == 0 { #expect(Array(packet.bytes) == payload) }
            }
            // 240 MB otherwise.
            #expect(ProcessUsage.current.residentBytes - before < 100 << 20)
            #expect(reassembler.droppedCount == 0)
        }
    }

    @Test func memoryIsUsedAgainAndBounded() throws {
        let pool = ReusePool<MediaPacket>(capacity: 2) { MediaPacket() }
        var reassembler = MediaReassembler(codec: .h264, pool: pool)
        for number in 0..<50 as Range<UInt8> {
            let packet = try #require(try Self.feed(&reassembler, Self.message([number]), pieces: 100))
            #expect(Array(packet.bytes) == [number])
        }
        #expect(pool.count <= 2)
        // An output that holds all of them: what comes is counted and passed over.
        let held = try (0..<2).map { _ in try #require(try Self.feed(&reassembler, Self.message([1]), pieces: 100)) }
        #expect(try Self.feed(&reassembler, Self.message([2]), pieces: 5) == nil)
        #expect(reassembler.droppedCount == 1)
        withExtendedLifetime(held) { #expect(held.count == 2) }
    }
}

@Suite struct MeterTests {
    private func frame(
        number: UInt32, at milliseconds: Int64, age: Int64 = 5, flash: Bool = false
    ) throws -> VideoFrame {
        let picture = try #require(Picture(format: .i420, width: 320, height: 180))
        let layout = try #require(TestPatternLayout(width: 320, height: 180))
        if flash {
            for row in 0..<layout.flash.height {
                (picture.plane(0) + (layout.flash.y + row) * picture.stride(0) + layout.flash.x)
                    .update(repeating: 235, count: layout.flash.width)
            }
        }
        TimeCode.draw(on: picture, frameNumber: number, capture: MonotonicClock.now() - .milliseconds(age))
        picture.presentationTime = MediaTimestamp(microseconds: milliseconds * 1000)
        return VideoFrame(picture, frameRate: .fps30)
    }

    /// 10 ms of sound that begins then; a click at its beginning, or silence.
    private func sound(at milliseconds: Int64, click: Bool) -> AudioFrame {
        let block = AudioBlock(capacity: 480)
        if click { TestTone().fill(block, fromSample: 0) } else { block.count = 480 }
        block.presentationTime = MediaTimestamp(microseconds: milliseconds * 1000)
        return AudioFrame(block)
    }

    @Test func latencyIsWhatTheCodeSays() throws {
        let meter = LatencyMeter()
        #expect(meter.result == nil)
        for number in 0..<10 as Range<UInt32> { meter.receive(try frame(number: number, at: 0, age: 250)) }
        let result = try #require(meter.result)
        #expect(result.framesRead == 10)
        #expect(result.framesMissing == 0)
        #expect(result.p50 >= 250_000)
        #expect(result.p50 < 10_000_000)
        #expect(result.maximum >= result.p99 && result.p99 >= result.p50)
    }

    @Test func missingNumbersAreCounted() throws {
        let meter = LatencyMeter()
        for number in [3, 4, 7, 8, 8, 20] as [UInt32] { meter.receive(try frame(number: number, at: 0)) }
        #expect(meter.result?.framesRead == 6)
        #expect(meter.result?.framesMissing == 2 + 11)
    }

    @Test func picturesWithoutACodeArePassedOver() throws {
        let (latency, skew) = (LatencyMeter(), SkewMeter())
        let picture = try #require(Picture(format: .i420, width: 320, height: 180))
        latency.receive(VideoFrame(picture, frameRate: .fps30))
        skew.receive(VideoFrame(picture, frameRate: .fps30))
        #expect(latency.result == nil)
        #expect(skew.median == nil)
    }

    /// Sound that comes `late` milliseconds after the picture of the same moment; negative: before it.
    @Test(arguments: [0, 15, -15, 200, -200] as [Int64]) func skewIsFoundBothWays(late: Int64) throws {
        let meter = SkewMeter()
        for second in 1...4 as ClosedRange<Int64> {
            let time = second * 1000
            let picture = try frame(number: UInt32(second), at: time, flash: true)
            let dark = try frame(number: UInt32(second), at: time + 33)
            if late <= 0 { meter.receive(sound(at: time + late, click: true)) }
            meter.receive(picture)
            meter.receive(dark)
            if late > 0 { meter.receive(sound(at: time + late, click: true)) }
            meter.receive(sound(at: time + late + 10, click: false))
        }
        let skew = try #require(meter.median)
        #expect(skew.count == 4)
        #expect(abs(skew.microseconds - Int(late) * 1000) <= 1000)
    }

    /// What was given to outputs at which time, whatever the stamps say.
    @Test func howFarApartTheyAreAtTheOutputs() throws {
        let clock = Watched<Int64>(0)
        let pairs = Watched<[SkewMeter.Pair]>([])
        let meter = SkewMeter(
            now: { MediaTimestamp(microseconds: clock.value * 1000) },
            paired: { pair in pairs.change { $0.append(pair) } })
        for (second, late) in [(1, 12), (2, -40)] as [(Int64, Int64)] {
            clock.change { $0 = 50_000 + second * 1000 + min(0, late) }
            if late < 0 { meter.receive(sound(at: second * 1000, click: true)) }
            clock.change { $0 = 50_000 + second * 1000 }
            meter.receive(try frame(number: UInt32(second), at: second * 1000, flash: true))
            meter.receive(try frame(number: UInt32(second), at: second * 1000 + 33))
            clock.change { $0 = 50_000 + second * 1000 + max(0, late) }
            if late > 0 { meter.receive(sound(at: second * 1000, click: true)) }
        }
        #expect(pairs.value.map(\.flash.microseconds) == [1_000_000, 2_000_000])
        #expect(pairs.value.allSatisfy { abs($0.skew.microseconds) <= 1000 })
        #expect(zip(pairs.value, [12_000, -40_000]).allSatisfy { abs($0.apart.microseconds - $1) <= 1000 })
    }

    @Test func whatHasNoPartnerIsThrownAway() throws {
        let meter = SkewMeter()
        // A flash whose click was lost, then a click whose flash was.
        meter.receive(try frame(number: 1, at: 1000, flash: true))
        meter.receive(try frame(number: 2, at: 1033))
        meter.receive(sound(at: 2000, click: true))
        #expect(meter.median == nil)
        meter.receive(sound(at: 3010, click: true))
        meter.receive(try frame(number: 3, at: 3000, flash: true))
        let skew = try #require(meter.median)
        #expect(skew.count == 1)
        #expect(abs(skew.microseconds - 10_000) <= 1000)
    }
}

@Suite struct OutputThreadTests {
    /// An output of a session that never began.
    @Test func aThreadThatWasNeverFedEndsWithItsOwner() async throws {
        let hasEnded = Watched(false)
        do {
            let output = try OutputThread<Int>(
                "test-output", path: "test", capacity: 1, failed: { _ in },
                body: { queue throws(GantryError) in
                    _ = queue.pop()
                    hasEnded.change { $0 = true }
                })
            #expect(!hasEnded.value)
            withExtendedLifetime(output) {}
        }
        #expect(try await hasEnded.wait { $0 })
    }
}
