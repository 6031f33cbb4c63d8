import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryCore
@testable import StudioKit

extension EndToEnd {
    /// In real time, so one after the other.
    @Suite struct ReplayPlayerTests {
        /// Pictures with their number, 30 a second, a key frame every half second.
        private final class Stream {
            private let encoder: H264Encoder
            private var number = 0

            init() throws {
                encoder = try H264Encoder(
                    configuration: H264EncoderConfiguration(
                        width: 320, height: 180, frameRate: .fps30, bitrate: 1_000_000, color: .bt601))
            }

            func next() throws -> MediaPacket {
                let picture = try #require(Picture(format: .i420, width: 320, height: 180))
                for plane in 0..<3 {
                    picture.plane(plane).update(repeating: 128, count: picture.stride(plane) * picture.rows(plane))
                }
                let time = MediaTimestamp(microseconds: Int64(number) * 33_333)
                picture.captureTime = time
                picture.presentationTime = time
                TimeCode.draw(on: picture, frameNumber: UInt32(number), capture: time)
                let packet = MediaPacket()
                try encoder.encode(picture, forceKey: number % 15 == 0, into: packet)
                packet.header.sequence = UInt32(number)
                number += 1
                return packet
            }
        }

        private struct Setting {
            let stream: Stream
            let buffer: ReplayBuffer
            let log = NumberLog()
            let live = NumberLog(followsReplay: false)
            let outputs: OutputSwitch
            let player: ReplayPlayer
            /// What was told: behind, or nil for live.
            let told = Watched<[MediaDuration?]>([])

            init(_ settings: ReplaySettings) throws {
                stream = try Stream()
                buffer = ReplayBuffer(settings)
                outputs = OutputSwitch(video: [log, live], audio: [])
                let told = told
                player = ReplayPlayer(
                    buffer, outputs: outputs, changed: { behind in told.change { $0.append(behind) } },
                    failed: { Issue.record("\($0)") })
                try player.start()
            }

            func stop() async throws {
                let player = player
                try await onThread { player.stop() }
            }

            func add(_ count: Int) throws { for _ in 0..<count { buffer.add(try stream.next()) } }
        }

        @Test func thePictureThatWasAskedForIsTheFirst() async throws {
            let setting = try Setting(ReplaySettings())
            try setting.add(60)
            // 40 × 33.3 ms; the key frames are 30 and 45.
            setting.player.show(40 * 33_333)
            #expect(try await setting.log.state.wait { $0.entries.count >= 10 })
            #expect(setting.log.state.value.numbers.prefix(10) == [40, 41, 42, 43, 44, 45, 46, 47, 48, 49][...])
            #expect(setting.told.value == [.microseconds(19 * 33_333)])
            // Nothing comes any more: all is shown, then it is live.
            #expect(try await setting.told.wait { $0.count == 2 })
            #expect(setting.told.value.last == .some(nil) && setting.player.position == nil)
            #expect(setting.log.state.value.numbers == Array(40..<60))
            #expect(setting.live.state.value.entries.isEmpty)
            try await setting.stop()
        }

        /// The end of the memory comes past what is shown.
        @Test func whoIsOvertakenGoesOnWithTheOldest() async throws {
            let setting = try Setting(ReplaySettings(duration: .seconds(600), byteLimit: 40_000))
            try setting.add(60)
            let held = try #require(setting.buffer.held)
            setting.player.show(held.lowerBound)
            #expect(try await setting.log.state.wait { $0.entries.count >= 3 })
            let first = try #require(setting.log.state.value.numbers.first)
            while let start = setting.buffer.held?.lowerBound, start < held.upperBound { try setting.add(1) }
            #expect(try await setting.log.state.wait { ($0.numbers.last ?? 0) > 60 })
            #expect(setting.player.overtakeCount >= 1)
            let numbers = setting.log.state.value.numbers
            let jumps = numbers.indices.dropFirst().filter { numbers[$0] != numbers[$0 - 1] + 1 }
            #expect(jumps.count >= 1 && jumps.allSatisfy { numbers[$0] % 15 == 0 && numbers[$0] > numbers[$0 - 1] })
            #expect(first < 60)
            try await setting.stop()
            #expect(setting.told.value.last == .some(nil))
        }

        @Test func manySeeksEndAtTheLast() async throws {
            let setting = try Setting(ReplaySettings())
            try setting.add(90)
            for position in [80, 3, 50, 20, 7, 60] { setting.player.show(Int64(position) * 33_333) }
            #expect(try await setting.log.state.wait { $0.numbers.suffix(5) == [60, 61, 62, 63, 64][...] })
            setting.player.goLive()
            #expect(try await setting.told.wait { $0.last == .some(nil) })
            let count = setting.log.state.value.entries.count
            setting.player.goLive()
            try await setting.stop()
            #expect(setting.log.state.value.entries.count == count)
        }
    }
}
