import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct CaptureConverterTests {
    /// Records a tone in pieces as they come.
    private final class Tone: RecordingDevice {
        private let rate: Int
        private let hertz: Double
        private(set) var given = 0
        private var turn = 0
        var answers: [AlsaPCM.Transfer] = []

        init(rate: Int, hertz: Double) { (self.rate, self.hertz) = (rate, hertz) }

        func read(into samples: UnsafeMutableBufferPointer<Float>) throws(GantryError) -> AlsaPCM.Transfer {
            turn += 1
            if let answer = answers.popLast() { return answer }
            // Nothing each third time, else 1 to 97 samples.
            if turn % 3 == 0 { return .nothing }
            let count = min(samples.count / 2, 1 + turn * 7 % 97)
            for index in 0..<count {
                let value = Float(0.5 * sin(2 * .pi * hertz * Double(given + index) / Double(rate)))
                samples[index * 2] = value
                samples[index * 2 + 1] = -value
            }
            given += count
            return .frames(count)
        }
    }

    private func record(_ converter: CaptureConverter, _ device: Tone, samples: Int) throws -> [Float] {
        var left: [Float] = []
        let block = UnsafeMutableBufferPointer<Float>.allocate(capacity: 960)
        defer { block.deallocate() }
        block.initialize(repeating: 0)
        while left.count < samples {
            guard case .frames(let count) = try converter.read(from: device, into: block) else { continue }
            for index in 0..<count {
                left.append(block[index * 2])
                #expect(block[index * 2] == -block[index * 2 + 1])
            }
        }
        return left
    }

    @Test(
        arguments: [8000, 16_000, 22_050, 32_000, 44_100, 88_200, 96_000, 192_000], [1000.0, 3000, 10_000])
    func aToneStaysATone(_ rate: Int, _ hertz: Double) throws {
        guard hertz < 0.43 * Double(rate) else { return }
        let device = Tone(rate: rate, hertz: hertz)
        let converter = try CaptureConverter(rate: rate)
        let left = try record(converter, device, samples: 48_000)
        let fit = ToneFit(left.dropFirst(4800), hertz: hertz)
        #expect(fit.signalToNoise >= 90, "\(fit)")
        #expect((fit.amplitude - 0.5).magnitude < 0.005, "\(fit)")
        // What went in has come out, or is said to be held: stamps are reckoned from that.
        let made = Double(left.count) * Double(rate) / 48_000
        #expect((Double(device.given) - made - converter.heldCount).magnitude < 1)
        #expect(converter.heldCount < Double(rate) / 50)
    }

    @Test func whatIsAboveTheBandIsGone() throws {
        // 30 kHz at 96 kHz has no place at 48 kHz: it would be heard as 18 kHz.
        let left = try record(CaptureConverter(rate: 96_000), Tone(rate: 96_000, hertz: 30_000), samples: 24_000)
        #expect(left.dropFirst(4800).allSatisfy { $0.magnitude < 0.0001 })
    }

    @Test func aGapForgetsWhatWasHeld() throws {
        let device = Tone(rate: 44_100, hertz: 1000)
        let converter = try CaptureConverter(rate: 44_100)
        _ = try record(converter, device, samples: 4800)
        #expect(converter.heldCount > 0)
        let block = UnsafeMutableBufferPointer<Float>.allocate(capacity: 960)
        defer { block.deallocate() }
        // It gives what waits of its input first.
        var answer = AlsaPCM.Transfer.frames(0)
        device.answers = [.recovered]
        while case .frames = answer { answer = try converter.read(from: device, into: block) }
        #expect(answer == .recovered)
        #expect(converter.heldCount == 0)
    }

    /// A device that counts wrong does not make us read or write where nothing is.
    @Test func countsThatLieAreClamped() throws {
        let device = Tone(rate: 44_100, hertz: 1000)
        let converter = try CaptureConverter(rate: 44_100)
        let block = UnsafeMutableBufferPointer<Float>.allocate(capacity: 960)
        defer { block.deallocate() }
        device.answers = [.frames(-5), .frames(.max), .frames(.min), .frames(0), .frames(1_000_000)]
        for _ in 0..<200 {
            if case .frames(let count) = try converter.read(from: device, into: block) { #expect(1...480 ~= count) }
        }
        #expect(try converter.read(from: device, into: UnsafeMutableBufferPointer(start: nil, count: 0)) == .nothing)
    }
}
