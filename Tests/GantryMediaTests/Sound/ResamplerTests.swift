import Foundation
import GantryMedia
import GantryTestSupport
import Testing

@Suite struct ResamplerTests {
    /// Plays a tone at `speed` in pieces of odd sizes; left channel, and what was used.
    private func play(_ resampler: Resampler, hertz: Double, seconds: Int) throws -> (output: [Float], used: Int) {
        let input = (0..<(seconds * 48_000)).flatMap { index -> [Float] in
            let value = Float(0.5 * sin(2 * .pi * hertz * Double(index) / 48_000))
            return [value, -value]
        }
        var output: [Float] = []
        var piece = [Float](repeating: 0, count: 2 * 300)
        var used = 0
        try input.withUnsafeBufferPointer { input in
            let base = try #require(input.baseAddress)
            while true {
                let count = min(441, input.count / 2 - used)
                let progress = try resampler.process(base + used * 2, count, into: &piece, 300)
                #expect(progress.used <= count && progress.made <= 300)
                used += progress.used
                for index in 0..<progress.made {
                    output.append(piece[index * 2])
                    #expect(piece[index * 2] == -piece[index * 2 + 1])
                }
                if count == 0 && progress.made == 0 { break }
            }
        }
        return (output, used)
    }

    @Test(arguments: [1.0, 1.0002, 0.9998, 1.02, 0.98]) func speedIsPitch(_ speed: Double) throws {
        let resampler = try Resampler()
        resampler.setSpeed(speed)
        let (output, used) = try play(resampler, hertz: 997, seconds: 2)
        #expect((toneFrequency(output) / 997 - speed).magnitude < 2e-6)
        #expect((Double(used) - Double(output.count) * speed - resampler.heldCount).magnitude < 0.01)
        #expect(resampler.heldCount < 100)
        #expect((0.49...0.51).contains(output.max() ?? 0))
    }

    /// What it says that it holds is what it is late by: a mark comes out where it went in.
    @Test func nothingIsDelayed() throws {
        let resampler = try Resampler()
        var input = [Float](repeating: 0, count: 2 * 4800)
        for index in 2390..<2411 { input[index * 2] = 0.5 - abs(Float(index - 2400)) / 20 }
        var output = [Float](repeating: 0, count: 2 * 4800)
        let progress = try resampler.process(&input, 4800, into: &output, 4800)
        let peak = (0..<progress.made).max { output[$0 * 2] < output[$1 * 2] }
        #expect(peak == 2400)
    }

    @Test(arguments: [.nan, .infinity, -.infinity, 0, -1, 100, 1e300]) func oddSpeedsAreClamped(_ speed: Double) throws
    {
        let resampler = try Resampler()
        resampler.setSpeed(speed)
        let (output, used) = try play(resampler, hertz: 500, seconds: 1)
        #expect((0.9799...1.0201).contains((Double(used) - resampler.heldCount) / Double(output.count)))
    }

    @Test func resetForgets() throws {
        let resampler = try Resampler()
        resampler.setSpeed(1.01)
        _ = try play(resampler, hertz: 500, seconds: 1)
        resampler.reset()
        #expect(resampler.heldCount == 0)
        var output = [Float](repeating: 1, count: 2 * 480)
        let silence = [Float](repeating: 0, count: 2 * 960)
        let progress = try resampler.process(silence, 960, into: &output, 480)
        #expect(progress.made == 480)
        #expect(output.allSatisfy { $0 == 0 })
    }
}
