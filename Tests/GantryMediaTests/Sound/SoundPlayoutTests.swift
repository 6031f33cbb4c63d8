import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// The player's arithmetic on a virtual clock: nothing here waits.
@Suite struct SoundPlayoutTests {
    private func largest(_ values: [Double]) -> Double { values.map(\.magnitude).max() ?? .infinity }

    /// The bars: no underrun, skew at most 20 ms always and 5 ms when settled, over 10 minutes.
    @Test(arguments: [(200.0, 0.0), (-200, 0), (0, 200), (0, 0), (150, -150)])
    func clocksThatDiffer(_ cardPPM: Double, _ producerPPM: Double) async throws {
        try await onThread { () throws in
            let card = VirtualCard(rate: 48_000 * (1 + cardPPM / 1e6), step: 192)
            let stage = try SoundStage(card)
            stage.producerRate = 1 + producerPPM / 1e6
            stage.jitter = 0.008
            try stage.run(until: 600)
            #expect(stage.playout.figures.underruns == 0)
            #expect(stage.playout.figures.realignments == 0)
            #expect(stage.ear.breaks.isEmpty, "\(stage.ear.breaks.prefix(5))")
            #expect(stage.skews().count >= 598)
            let always = largest(stage.skews())
            let settled = largest(stage.skews(from: 60))
            let learned = stage.playout.figures.correctionPartsPerMillion
            print("skew always \(always * 1000) ms, settled \(settled * 1000) ms, correction \(learned) ppm")
            #expect(always <= 0.020)
            #expect(settled <= 0.005)
            #expect((learned - (producerPPM - cardPPM)).magnitude < 60)
        }
    }
}
