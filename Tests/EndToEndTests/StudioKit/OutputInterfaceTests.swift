import Foundation
import GantryTestSupport
import StudioKit
import Testing

/// Counts what it gets, as an application would.
private final class CountingOutput: VideoOutput, AudioOutput, PacketOutput {
    struct State: Sendable {
        var frames = 0
        var samples = 0
        var packets = 0
        var keyFrames = 0
        var formats: [StreamFormat] = []
        var ends = 0
        /// Of the first picture: the middle pixels of the left half and of the right half, blue, green, red, alpha.
        var pixels: [[UInt8]] = []
        var threads: Set<String> = []
    }

    let state = Watched(State())
    var followsReplay: Bool { false }

    func receive(_ frame: VideoFrame) {
        let isFirst = state.value.frames == 0
        let pixels = isFirst ? Self.pixels(frame) : []
        state.change {
            $0.frames += 1
            if isFirst { $0.pixels = pixels }
        }
    }

    /// A pixel of the white bar and one of the black below it, in both orders.
    private static func pixels(_ frame: VideoFrame) -> [[UInt8]] {
        let stride = frame.packedStride + 12
        var memory = [UInt8](repeating: 7, count: stride * frame.height)
        func pixel(_ x: Int, _ y: Int) -> [UInt8] { Array(memory[(y * stride + x * 4)..<(y * stride + x * 4 + 4)]) }
        var result: [[UInt8]] = []
        for isBGRA in [true, false] {
            let isDone: Void? = memory.withUnsafeMutableBytes { bytes in
                isBGRA
                    ? try? frame.copyBGRA(to: bytes, stride: stride) : try? frame.copyRGBA(to: bytes, stride: stride)
            }
            guard isDone != nil else { return [] }
            // What lies between the rows stays as it is.
            guard memory[frame.packedStride..<stride].allSatisfy({ $0 == 7 }) else { return [] }
            result += [pixel(frame.width / 20, frame.height / 3), pixel(frame.width * 5 / 8, frame.height / 3)]
        }
        return result
    }

    func receive(_ frame: AudioFrame) { state.change { $0.samples += frame.withSamples { $0.count / 2 } } }
    func videoEnded() { state.change { $0.ends += 1 } }
    func audioEnded() { state.change { $0.ends += 1 } }

    func expect(video: Bool, audio: Bool) {}
    func formatChanged(_ format: StreamFormat, epoch: UInt16) { state.change { $0.formats.append(format) } }
    func receive(_ packet: CodedPacket) {
        let isWhole = packet.withBytes { $0.count == packet.count && packet.count > 0 }
        state.change {
            $0.packets += isWhole ? 1 : 0
            $0.keyFrames += packet.codec == .h264 && packet.isKeyFrame ? 1 : 0
        }
    }
    func finish() { state.change { $0.ends += 1 } }
}

/// Stands still in its first call until it is let go.
private final class StandingOutput: VideoOutput, AudioOutput, PacketOutput {
    private let gate = DispatchSemaphore(value: 0)
    let calls = Watched(0)
    private func stand() {
        calls.change { $0 += 1 }
        gate.wait()
        gate.signal()
    }
    func letGo() { gate.signal() }
    func receive(_ frame: VideoFrame) { stand() }
    func receive(_ frame: AudioFrame) { stand() }
    func expect(video: Bool, audio: Bool) { stand() }
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {}
    func receive(_ packet: CodedPacket) {}
}

extension EndToEnd {
    /// The outputs as an application sees them: with the public interface alone.
    @Suite struct OutputInterfaceTests {
        @Test("S2: outputs of the application get pictures, sound and packets, and pixels of the right colours")
        func ownOutputs() async throws {
            let stage = try Stage()
            try await stage.pair()
            let output = CountingOutput()
            var configuration = StudioSessionConfiguration()
            configuration.videoOutputs = [output]
            configuration.audioOutputs = [output]
            configuration.packetOutputs = [output]
            let run = try await stage.connect(configuration)
            let source = try LivePattern(stage.producer)
            #expect(try await output.state.wait { $0.frames > 10 && $0.samples > 4800 && $0.packets > 20 })
            try await source.stop()
            #expect(try await run.close() == nil)
            let state = output.state.value
            #expect(state.keyFrames >= 1)
            #expect(state.formats.count == 2)
            #expect(state.ends == 3)
            // White is the same in both orders; of the coloured bar blue and red are exchanged.
            try #require(state.pixels.count == 4)
            #expect(state.pixels[0].dropLast().allSatisfy { $0 > 150 }, "\(state.pixels)")
            #expect(state.pixels.allSatisfy { $0[3] == 255 })
            #expect(state.pixels[1] != state.pixels[0])
            #expect(state.pixels[3] == [state.pixels[1][2], state.pixels[1][1], state.pixels[1][0], 255])
        }

        @Test("S2: an output that stands still holds up neither the others nor the end")
        func standingOutput() async throws {
            let stage = try Stage()
            try await stage.pair()
            let (standing, counting) = (StandingOutput(), CountingOutput())
            var configuration = StudioSessionConfiguration()
            configuration.videoOutputs = [standing, counting]
            configuration.audioOutputs = [standing, counting]
            configuration.packetOutputs = [standing, counting]
            let run = try await stage.connect(configuration)
            let source = try LivePattern(stage.producer)
            #expect(try await counting.state.wait { $0.frames > 60 && $0.samples > 48_000 && $0.packets > 100 })
            #expect(standing.calls.value == 3)
            // What the standing one has not got: all pictures but the one and the two that wait.
            #expect(run.session.statistics.framesDropped > 40)
            try await source.stop()
            run.session.close()
            // The three are waited for together.
            let start = ContinuousClock.now
            #expect(try await run.state.wait(.seconds(60)) { $0.isEnded })
            #expect(ContinuousClock.now - start < .seconds(14))
            #expect(run.state.value.error == nil)
            #expect(counting.state.value.ends == 3)
            standing.letGo()
        }

        @Test func aPictureThatDoesNotFitIsRefused() async throws {
            let stage = try Stage(audio: nil)
            try await stage.pair()
            let errors = Watched<[GantryError]>([])
            final class Refusing: VideoOutput {
                let errors: Watched<[GantryError]>
                init(_ errors: Watched<[GantryError]>) { self.errors = errors }
                func receive(_ frame: VideoFrame) {
                    for (count, stride) in [
                        (frame.height * frame.width * 4 - 1, frame.width * 4), (1 << 20, frame.width * 4 - 1),
                        (0, frame.width * 4), (1 << 20, .max), (1 << 20, -8),
                    ] {
                        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
                        defer { memory.deallocate() }
                        do throws(GantryError) {
                            try frame.copyBGRA(to: memory, stride: stride)
                        } catch {
                            errors.change { $0.append(error) }
                        }
                    }
                }
            }
            var configuration = StudioSessionConfiguration()
            configuration.videoOutputs = [Refusing(errors)]
            let run = try await stage.connect(configuration)
            let source = try LivePattern(stage.producer)
            #expect(try await errors.wait { $0.count >= 5 })
            #expect(errors.value.allSatisfy { $0.code == .invalidArgument })
            try await source.stop()
            try await run.close()
        }
    }
}
