import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import Testing

/// Both ends over real sockets, with a network between them that a test controls.
@Suite(.timeLimit(.minutes(10))) struct DatagramLoopbackTests {
    /// Loses a part of the datagrams, the same ones in each run that sends the same.
    private final class Loss: Sendable {
        private let random = Watched(SeededRandom(seed: 9))
        func takes(_ part: Double) -> Bool {
            var taken = false
            random.change { taken = Double.random(in: 0..<1, using: &$0) < part }
            return taken
        }
    }

    private func expectAll(_ units: [[UInt8]], _ ends: DatagramEnds) async throws {
        #expect(try await ends.video.units.wait { $0.count >= units.count })
        #expect(try await ends.sound.units.wait { $0.count >= units.count })
        // Without the bytes themselves in the report: they are megabytes.
        let isSame = ends.video.units.value.map(\.bytes) == units
        #expect(isSame, "\(ends.video.units.value.count) of \(units.count)")
        #expect(ends.video.units.value.map(\.header.sequence) == Array(0..<UInt32(units.count)))
        #expect(ends.sound.units.value.map { $0.bytes.last } == units.indices.map { UInt8($0 & 0xFF) })
    }

    @Test func theLargestPayloadIsFoundAndMediaPasses() async throws {
        let ends = try await DatagramEnds(try DatagramRelay())
        #expect(try await ends.begin() == .opened(payload: 1472))
        var random = SeededRandom(seed: 1)
        let units = try await ends.play(100, random: &random)
        try await expectAll(units, ends)
        // On a machine that stalls something may be asked for that was only late.
        #expect(ends.receiver.statistics.0.refused <= ends.sender.statistics.packetsSentAgain)
        try await ends.end()
        #expect(ends.events.value == [.opened(payload: 1472)])
    }

    @Test func aNarrowPathGetsSmallerPackets() async throws {
        let ends = try await DatagramEnds(try DatagramRelay { datagram, _ in datagram.count > 1300 ? [] : [datagram] })
        #expect(try await ends.begin() == .opened(payload: 1232))
        var random = SeededRandom(seed: 2)
        let units = try await ends.play(50, random: &random)
        try await expectAll(units, ends)
        try await ends.end()
    }

    @Test func aFirewallIsNoticed() async throws {
        let ends = try await DatagramEnds(try DatagramRelay { _, _ in [] })
        let start = MonotonicClock.now()
        #expect(try await ends.begin() == .blocked)
        #expect(MonotonicClock.now() - start < .seconds(60))
        #expect(!ends.sender.send(DatagramEnds.packet([0, 0, 0, 1, 0x65, 1], sequence: 0), channel: 1))
        try await ends.end()
    }

    @Test func whatIsLostComesAgain() async throws {
        let loss = Loss()
        let ends = try await DatagramEnds(try DatagramRelay { datagram, _ in loss.takes(0.05) ? [] : [datagram] })
        guard case .opened = try await ends.begin() else {
            Issue.record("\(ends.events.value)")
            return
        }
        var random = SeededRandom(seed: 3)
        let units = try await ends.play(300, random: &random)
        try await expectAll(units, ends)
        let video = ends.receiver.statistics.1[0]
        #expect(video.unitsLost == 0)
        #expect(video.repaired > 0)
        #expect(ends.sender.statistics.packetsSentAgain > 0)
        #expect(0.02...0.1 ~= ends.sender.statistics.loss)
        try await ends.end()
    }

    @Test func silenceIsNoticed() async throws {
        let ends = try await DatagramEnds(try DatagramRelay())
        #expect(try await ends.begin() == .opened(payload: 1472))
        var random = SeededRandom(seed: 4)
        _ = try await ends.play(10, random: &random)
        ends.relay.change { _, _ in [] }
        _ = try await ends.play(100, from: 10, random: &random)
        #expect(try await ends.events.wait { $0.count > 1 })
        #expect(ends.events.value.last == .silent)
        try await ends.end()
    }

    /// Two pictures a second and no sound are enough to notice, and one direction as well as both.
    @Test(arguments: [[DatagramRelay.Direction.toStudio], [.toProducer], [.toStudio, .toProducer]])
    func aDeadPathIsNoticedWithFewPictures(dead: [DatagramRelay.Direction]) async throws {
        let ends = try await DatagramEnds(try DatagramRelay())
        #expect(try await ends.begin() == .opened(payload: 1472))
        let unit: [UInt8] = [0, 0, 0, 1, 0x65, 1, 2, 3]
        func show(_ sequence: UInt32) async throws {
            _ = ends.sender.send(DatagramEnds.packet(unit, sequence: sequence), channel: 1)
            try await Task.sleep(for: .milliseconds(500))
        }
        for sequence in 0..<6 as Range<UInt32> { try await show(sequence) }
        #expect(ends.events.value.count == 1)
        #expect(ends.video.units.value.count == 6)
        ends.relay.change { datagram, direction in dead.contains(direction) ? [] : [datagram] }
        for sequence in 6..<40 as Range<UInt32> where ends.events.value.count == 1 { try await show(sequence) }
        #expect(ends.events.value.last == .silent)
        try await ends.end()
    }

    @Test func feedbackGoesBesideTheConnection() async throws {
        let ends = try await DatagramEnds(try DatagramRelay())
        #expect(try await ends.begin() == .opened(payload: 1472))
        @Sendable func news(_ channel: UInt16, _ sequence: UInt32) -> Feedback {
            Feedback(
                channel: channel, sequence: sequence, presentationTime: MediaTimestamp(microseconds: 5), delay: nil,
                jitter: 0, bytes: 7, late: 0, dropped: 0)
        }
        // Not before media comes this way.
        #expect(!ends.receiver.tell(news(1, 1)))
        var random = SeededRandom(seed: 12)
        let units = try await ends.play(5, random: &random)
        try await expectAll(units, ends)
        #expect(ends.receiver.tell(news(1, 2)))
        #expect(ends.receiver.tell(news(2, 3)))
        #expect(try await ends.feedback.wait { $0.contains(news(2, 3)) && $0.contains(news(1, 2)) })
        try await ends.end()
    }

    @Test func aRouteOutOfUseStaysOpen() async throws {
        let ends = try await DatagramEnds(try DatagramRelay())
        #expect(try await ends.begin() == .opened(payload: 1472))
        var random = SeededRandom(seed: 5)
        let before = try await ends.play(5, random: &random)
        // Longer than the studio goes on reporting, and than the patience with one that does not.
        try await Task.sleep(for: .milliseconds(4500))
        let after = try await ends.play(5, from: 5, random: &random)
        try await expectAll(before + after, ends)
        #expect(ends.events.value.count == 1)
        try await ends.end()
    }

    // MARK: Attackers on the path

    @Test func withOtherKeysNothingPasses() async throws {
        let ends = try await DatagramEnds(try DatagramRelay(), studioToken: [UInt8](repeating: 9, count: 16))
        #expect(try await ends.begin() == .blocked)
        #expect(ends.receiver.statistics.0.refused > 0)
        #expect(ends.sender.statistics.refused > 0)
        try await ends.end()
    }

    @Test func whatIsRepeatedIsRefused() async throws {
        let ends = try await DatagramEnds(try DatagramRelay { datagram, _ in [datagram, datagram, datagram] })
        #expect(try await ends.begin() == .opened(payload: 1472))
        var random = SeededRandom(seed: 6)
        let units = try await ends.play(50, random: &random)
        try await expectAll(units, ends)
        // An old recording of everything, once more.
        for datagram in ends.relay.datagrams(.toStudio) { ends.relay.inject(datagram, .toStudio) }
        for datagram in ends.relay.datagrams(.toProducer) { ends.relay.inject(datagram, .toProducer) }
        let more = try await ends.play(20, from: 50, random: &random)
        try await expectAll(units + more, ends)
        #expect(ends.receiver.statistics.0.refused > 100)
        #expect(ends.sender.statistics.refused > 0)
        try await ends.end()
    }

    @Test func whatIsChangedCutOrMadeUpIsRefused() async throws {
        let ends = try await DatagramEnds(
            try DatagramRelay { datagram, _ in
                var changed = datagram
                changed[changed.count / 2] ^= 0x10
                var renumbered = datagram
                renumbered[3] ^= 0x01
                var otherSource = datagram
                otherSource[11] ^= 0x03
                return [
                    changed, renumbered, otherSource, Array(datagram.prefix(datagram.count - 1)),
                    Array(datagram.prefix(13)), [], [0x80], [UInt8](repeating: 0x90, count: 1472), datagram,
                ]
            })
        #expect(try await ends.begin() == .opened(payload: 1472))
        var random = SeededRandom(seed: 7)
        let units = try await ends.play(50, random: &random)
        try await expectAll(units, ends)
        #expect(ends.video.losses.value == 0)
        #expect(ends.receiver.statistics.1.allSatisfy { $0.invalid == 0 && $0.duplicates == 0 })
        #expect(ends.receiver.statistics.0.refused > 500)
        try await ends.end()
    }

    @Test func aFloodDoesNotStopMedia() async throws {
        let ends = try await DatagramEnds(try DatagramRelay())
        #expect(try await ends.begin() == .opened(payload: 1472))
        let flooding = Watched(true)
        let relay = ends.relay
        let flood = Task.detached {
            var random = SeededRandom(seed: 8)
            while flooding.value {
                for _ in 0..<200 {
                    var junk = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
                    junk[0] = 0x90
                    relay.inject(junk, .toStudio)
                    relay.inject(junk, .toProducer)
                }
                try? await Task.sleep(for: .milliseconds(5))
            }
        }
        var random = SeededRandom(seed: 10)
        let units = try await ends.play(100, random: &random)
        try await expectAll(units, ends)
        flooding.change { $0 = false }
        await flood.value
        #expect(ends.receiver.statistics.0.refused > 1000)
        try await ends.end()
    }
}
