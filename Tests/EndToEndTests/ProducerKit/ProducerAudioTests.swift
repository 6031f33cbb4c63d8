import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

/// Keeps all sound that comes.
private final class SoundLog: AudioOutput {
    let left = Watched<[Float]>([])
    let right = Watched<[Float]>([])

    /// Without a queue, in which a machine that stands still for a moment would lose some.
    var returnsAtOnce: Bool { true }

    func receive(_ frame: AudioFrame) {
        frame.withSamples { samples in
            left.change { $0 += Swift.stride(from: 0, to: samples.count, by: 2).map { samples[$0] } }
            right.change { $0 += Swift.stride(from: 1, to: samples.count, by: 2).map { samples[$0] } }
        }
    }

    func audioEnded() {}
}

extension EndToEnd {
    @Suite struct ProducerAudioTests {
        struct Take: Sendable, CustomTestStringConvertible {
            var format: PCMFormat
            var piece: Int
            var testDescription: String {
                "\(format.sample) \(format.channels)x\(format.sampleRate), \(piece) at a time"
            }
        }

        /// 440 Hz on the left, 880 Hz on the right; mono: 440 Hz.
        private static func tone(_ format: PCMFormat, from: Int, count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            for index in from..<(from + count) {
                for channel in 0..<format.channels {
                    let hertz = channel == 0 ? 440.0 : 880.0
                    let value = 0.5 * sin(2 * .pi * hertz * Double(index) / Double(format.sampleRate))
                    switch format.sample {
                    case .int16: withUnsafeBytes(of: Int16(value * 32_767)) { bytes += $0 }
                    case .int32: withUnsafeBytes(of: Int32(value * 2_147_483_647)) { bytes += $0 }
                    case .float32: withUnsafeBytes(of: Float(value)) { bytes += $0 }
                    }
                }
            }
            return bytes
        }

        @Test(
            "C9: sound of every form comes out as it went in",
            arguments: [
                Take(format: .init(), piece: 480), Take(format: .init(.int16), piece: 441),
                Take(format: .init(.float32), piece: 4801), Take(format: .init(.int32, channels: 1), piece: 480),
                Take(format: .init(.int16, sampleRate: 44_100), piece: 441),
                Take(format: .init(.float32, channels: 1, sampleRate: 16_000), piece: 160),
                Take(format: .init(.int16, sampleRate: 96_000), piece: 960),
            ])
        func forms(_ take: Take) async throws {
            let stage = try Stage(video: nil)
            try await stage.pair()
            let log = SoundLog()
            var configuration = StudioSessionConfiguration()
            configuration.audioOutputs = [log]
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            let start = MonotonicClock.now()
            var position = 0
            while position < take.format.sampleRate * 3 / 2 {
                let bytes = Self.tone(take.format, from: position, count: take.piece)
                let time = start + .microseconds(Int64(position) * 1_000_000 / Int64(take.format.sampleRate))
                let isTaken = try bytes.withUnsafeBytes {
                    try stage.producer.enqueuePCMAudio(data: $0, format: take.format, captureTime: time)
                }
                #expect(isTaken)
                position += take.piece
                // In real time, as the queues expect it.
                let due = time
                try await onThread { MonotonicClock.sleep(until: due) }
            }
            #expect(try await log.left.wait { $0.count >= 57_600 })
            let (left, right) = (log.left.value[12_000..<52_000], log.right.value[12_000..<52_000])
            let fits = [ToneFit(left, hertz: 440), ToneFit(right, hertz: take.format.channels == 1 ? 440 : 880)]
            for fit in fits {
                #expect(abs(fit.amplitude - 0.5) < 0.03, "\(fit)")
                #expect(fit.signalToNoise > 20, "\(fit)")
            }
            try await run.close()
            try await stage.stop()
        }

        @Test("C9: arrays of numbers, and how many are wanted") func arrays() async throws {
            let stage = try Stage(video: nil)
            let delegate = DelegateLog()
            stage.producer.delegate = delegate
            #expect(stage.producer.audioSamplesRequired == 0)
            try await stage.pair()
            let run = try await stage.connect()
            #expect(try await delegate.samples.wait { $0 == [480] })
            #expect(stage.producer.audioSamplesRequired == 480)
            #expect(stage.producer.isReceived(.audio))
            #expect(try stage.producer.enqueuePCMAudio([Int32](repeating: 0, count: 960)))
            #expect(try stage.producer.enqueuePCMAudio([Int16](repeating: 0, count: 480), channels: 1))
            #expect(try stage.producer.enqueuePCMAudio([Float](repeating: .nan, count: 882), sampleRate: 44_100))
            run.session.pause(.audio)
            #expect(try await delegate.samples.wait { $0 == [480, 0] })
            run.session.resume(.audio)
            #expect(try await delegate.samples.wait { $0 == [480, 0, 480] })
            try await run.close()
            #expect(try await delegate.samples.wait { $0 == [480, 0, 480, 0] })
            try await stage.stop()
        }

        @Test("C9: what is no sound is refused in words") func wrongForms() async throws {
            let stage = try Stage(video: nil)
            let bytes = [UInt8](repeating: 0, count: 8000)
            func refusal(_ format: PCMFormat, _ count: Int = 800) async -> GantryError? {
                await error {
                    try bytes.withUnsafeBytes {
                        try stage.producer.enqueuePCMAudio(
                            data: UnsafeRawBufferPointer(rebasing: $0[..<count]), format: format)
                    }
                }
            }
            for format in [
                PCMFormat(channels: 0), .init(channels: 6), .init(channels: -1), .init(sampleRate: 0),
                .init(sampleRate: .max),
                .init(sampleRate: -48_000),
            ] { #expect(await refusal(format)?.code == .invalidArgument) }
            #expect(await refusal(.init(), 801)?.message.contains("8 bytes each time") == true)
            // More than a second.
            #expect(await refusal(.init(.int16, channels: 1, sampleRate: 4000 - 1), 8000)?.code == .invalidArgument)
            #expect(await refusal(.init(.int16, channels: 1, sampleRate: 4000), 8000) == nil)
            let long = await error { try stage.producer.enqueuePCMAudio([Int32](repeating: 0, count: 96_002)) }
            #expect(long?.message.contains("shorter pieces") == true)
            #expect(try stage.producer.enqueuePCMAudio([Int32]()))
            try await stage.stop()
        }
    }
}
