import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// The player's arithmetic on a virtual clock: nothing here waits.
@Suite struct SoundPlayoutTests {
    private static func largest(_ values: [Double]) -> Double { values.map(\.magnitude).max() ?? .infinity }

    /// The bars: no underrun, skew at most 20 ms always and 5 ms when settled, over 10 minutes.
    @Test(arguments: [(200.0, 0.0, 600.0), (-200, 0, 600), (0, 200, 90), (0, 0, 90), (150, -150, 90)])
    func clocksThatDiffer(_ cardPPM: Double, _ producerPPM: Double, _ seconds: Double) async throws {
        try await onThread { () throws in
            // A position in steps of 4 ms, as a driver has it that counts by the kernel's tick.
            let card = VirtualCard(rate: 48_000 * (1 + cardPPM / 1e6), step: 192)
            let stage = try SoundStage(card)
            stage.producerRate = 1 + producerPPM / 1e6
            stage.jitter = 0.008
            try stage.run(until: seconds)
            let figures = stage.playout.figures
            #expect(figures.underruns == 0 && figures.realignments == 0 && figures.samplesDropped == 0)
            #expect(card.ranDry == 0)
            #expect(stage.ear.breaks.isEmpty)
            #expect(stage.skews().count >= Int(seconds) - 2)
            #expect(Self.largest(stage.skews()) <= 0.020)
            #expect(Self.largest(stage.skews(from: 60)) <= 0.005)
            #expect((figures.correctionPartsPerMillion - (producerPPM - cardPPM)).magnitude < 80)
            #expect(figures.delay > .milliseconds(45) && figures.delay < .milliseconds(55))
        }
    }

    private enum Event: Sendable, CaseIterable {
        case lostPacket, lostPackets, pause, laterWay, shorterWay, littleLaterWay, jam, noProcessor
        case clockOfCard, largePeriods, soundServer, wildClock, replay
    }

    /// Where the sound is 5 s after something has happened, and what may be heard of that.
    @Test(arguments: Event.allCases) private func happens(_ event: Event) async throws {
        try await onThread { () throws in
            var card = VirtualCard(step: 48)
            if event == .largePeriods { card = VirtualCard(period: 1024, buffer: 4096, start: 1024, step: 1024) }
            // More than the whole target.
            if event == .soundServer { card = VirtualCard(latency: 3000) }
            let stage = try SoundStage(card)
            stage.jitter = 0.004
            switch event {
            case .lostPacket: stage.isLost = { $0 == 550 }
            case .lostPackets: stage.isLost = { 550..<556 ~= $0 }
            case .shorterWay: stage.delay += 0.03
            default: break
            }
            try stage.run(until: 5.5)
            switch event {
            case .laterWay: stage.delay += 0.03
            case .shorterWay: stage.delay -= 0.03
            case .littleLaterWay: stage.delay += 0.012
            case .jam: stage.jam = 5.65
            case .noProcessor: stage.sleepsUntil = 5.58
            case .clockOfCard: card.setRate(48_000 * 1.0002)
            case .wildClock: card.setRate(48_000 * 1.0008)
            case .pause: try stage.run(until: 9.2, sends: false)
            case .replay:
                // What came three seconds before, again; then live.
                stage.shift = -300
                try stage.run(until: 9.5)
                #expect(Self.largest(stage.skews(from: 6)) <= 0.005)
                stage.shift = 0
            case .lostPacket, .lostPackets, .largePeriods, .soundServer: break
            }
            try stage.run(until: 20)
            let figures = stage.playout.figures
            let skews = stage.skews(from: 14).map { $0 - (figures.targetDelay.seconds - stage.target) }
            #expect(skews.count >= 5 && Self.largest(skews) <= 0.005, "\(skews)")
            #expect(figures.isPlaying)
            switch event {
            case .lostPacket, .littleLaterWay, .clockOfCard, .largePeriods, .soundServer, .wildClock:
                #expect(figures.underruns == 0 && figures.realignments <= (event == .soundServer ? 1 : 0))
                #expect(Self.largest(stage.skews(from: 4, to: 14)) <= (event == .soundServer ? 0.060 : 0.020))
            case .replay: #expect(figures.underruns == 0 && figures.realignments == 2)
            case .pause: #expect(figures.underruns == 0 && figures.realignments <= 2)
            // One at the beginning: the first packet came by the other way.
            case .shorterWay: #expect(figures.underruns <= 1 && figures.realignments <= 2)
            case .lostPackets, .laterWay, .jam, .noProcessor:
                #expect(figures.underruns == 1 && figures.realignments == 1)
            }
            // What ends sinks and what begins rises: that bends the tone a little, and never breaks it. Only a card that
            // runs dry breaks it.
            if event != .noProcessor { #expect(stage.ear.breaks.allSatisfy { $0.size < 0.05 }) }
        }
    }

    private enum Disturbance: Sendable, CaseIterable {
        case stop, dip, reconnection
    }

    /// Two seconds after the end of what a network does to a session, sound is in its place to 20 ms, and stays there: so the
    /// picture, which has no delay of its own, is as far from it as before.
    @Test(arguments: Disturbance.allCases) private func soundIsInItsPlaceAfter(_ disturbance: Disturbance) async throws
    {
        try await onThread { () throws in
            let stage = try SoundStage(VirtualCard(step: 48))
            stage.jitter = 0.004
            try stage.run(until: 5.5)
            let end: Double
            switch disturbance {
            case .stop:
                // Nothing passes; then all comes at once.
                stage.jam = 7.5
                end = 7.5
            case .dip:
                // A slow link with a queue that comes and goes.
                (stage.delay, stage.jitter) = (0.02, 0.06)
                try stage.run(until: 15.5)
                (stage.delay, stage.jitter) = (0.007, 0.004)
                end = 15.5
            case .reconnection:
                // What was sent meanwhile is not sent again.
                try stage.run(until: 12.5, sends: false)
                end = 12.5
            }
            try stage.run(until: end + 12)
            let skews = stage.skews(from: end + 2)
            #expect(skews.count >= 8)
            #expect(Self.largest(skews) <= 0.020, "\(skews)")
            #expect(Self.largest(stage.skews(from: end + 7)) <= 0.005, "\(skews)")
            #expect(stage.playout.figures.isPlaying)
        }
    }

    /// What a hostile producer can send: nothing of it stops the sound for good, grows, or traps.
    @Test func stampsOfNonsense() async throws {
        try await onThread { () throws in
            let playout = try SoundPlayout(target: .milliseconds(50))
            let block = AudioBlock(capacity: 5760)
            let output = UnsafeMutablePointer<Float>.allocate(capacity: 480)
            defer { output.deallocate() }
            var random = SeededGenerator(seed: 3)
            let stamps: [Int64] = [.min, .max, 0, -1, 1, 1 << 62, -(1 << 62), 5_000_000]
            for turn in 0..<20_000 {
                let now = MediaTimestamp(microseconds: 1_000_000 + Int64(turn) * 2500)
                block.count = [0, 1, 480, 5760, -3, 9999].randomElement(using: &random) ?? 0
                block.presentationTime = .init(
                    microseconds: (stamps.randomElement(using: &random) ?? 0)
                        &+ Int64.random(in: -9000...9000, using: &random))
                playout.add(block, received: now)
                let delay = [0, 480, -5, 1 << 40, .max].randomElement(using: &random) ?? 0
                try playout.render(output, 240, delay: delay, now: now)
                #expect(playout.backlog(delay: 0) <= .milliseconds(2100))
            }
            // And then it plays.
            for turn in 0..<200 {
                let now = MediaTimestamp(microseconds: 900_000_000 + Int64(turn) * 10_000)
                block.count = 480
                block.presentationTime = .init(microseconds: 7_000_000 + Int64(turn) * 10_000)
                playout.add(block, received: now)
                for _ in 0..<2 { try playout.render(output, 240, delay: 480, now: now) }
            }
            #expect(playout.figures.isPlaying)
        }
    }

    /// ALSA's "null" has no clock: it gets no more than a card would, once it is known.
    @Test func aDeviceWithoutAClockIsPaced() throws {
        let card = VirtualCard()
        card.takesAll = true
        let stage = try SoundStage(card)
        // It is open before sound comes.
        try stage.run(until: 1, sends: false)
        try stage.run(until: 60)
        let figures = stage.playout.figures
        #expect(figures.underruns == 0 && figures.realignments == 0, "\(figures)")
        #expect(figures.isPlaying)
        // A second more at most, and half a percent.
        #expect((60 * 48_000...Int(61.5 * 48_000)).contains(card.written), "\(card.written)")
        #expect(figures.largestDeviation.microseconds.magnitude < 5000)
    }

    @Test func aDeviceThatStandsIsSaid() throws {
        let card = VirtualCard()
        let stage = try SoundStage(card)
        try stage.run(until: 1)
        card.rate = 0
        let error = #expect(throws: GantryError.self) { try stage.run(until: 10) }
        #expect(error?.code == .outputLost)
    }

    @Test func aLostDeviceIsStartedAnew() throws {
        let card = VirtualCard()
        let stage = try SoundStage(card)
        try stage.run(until: 2)
        card.isLost = true
        #expect(throws: GantryError.self) { try stage.run(until: 3) }
        stage.playout.deviceLost()
        #expect(!stage.playout.figures.isPlaying && stage.playout.figures.deviceLosses == 1)
        card.isLost = false
        try stage.run(until: 8)
        #expect(stage.playout.figures.isPlaying)
        #expect(Self.largest(stage.skews(from: 4)) <= 0.005)
    }

    @Test func mutedSoundGoesOnInItsPlace() throws {
        let playout = try SoundPlayout(target: .milliseconds(40))
        let block = AudioBlock(capacity: 480)
        block.count = 480
        block.samples.update(repeating: 0.5)
        var output = [Float](repeating: 0, count: 960)
        var number: Int64 = 0
        /// Ten milliseconds.
        func play() throws -> [Float] {
            let now = MediaTimestamp(microseconds: 1_000_000 + number * 10_000)
            block.presentationTime = now - .milliseconds(10)
            playout.add(block, received: now)
            number += 1
            try output.withUnsafeMutableBufferPointer {
                let base = try #require($0.baseAddress)
                try playout.render(base, 480, delay: 0, now: now)
            }
            return output
        }
        for _ in 0..<50 { _ = try play() }
        #expect(try play().allSatisfy { abs($0 - 0.5) < 0.05 })
        playout.isMuted = true
        // It sinks without a click.
        let edge = try play()
        #expect(zip(edge.dropFirst(2), edge).allSatisfy { abs($0 - $1) < 0.01 } && edge[958] == 0)
        for _ in 0..<50 { #expect(try play().allSatisfy { $0 == 0 }) }
        playout.isMuted = false
        _ = try play()
        #expect(try play().allSatisfy { abs($0 - 0.5) < 0.05 })
        #expect(playout.figures.isPlaying && playout.figures.underruns == 0 && playout.figures.realignments == 0)
    }
}
