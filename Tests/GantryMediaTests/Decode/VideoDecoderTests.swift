import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct VideoDecoderTests {
    /// The visible planes without padding.
    private func raw(_ picture: Picture) -> Data {
        var data = Data()
        for plane in 0..<3 {
            for row in 0..<picture.rows(plane) {
                data.append(picture.plane(plane) + row * picture.stride(plane), count: picture.rowBytes(plane))
            }
        }
        return data
    }

    private func joined(_ packets: [MediaPacket]) -> Data {
        packets.reduce(into: Data()) { $0.append(contentsOf: $1.bytes) }
    }

    private func ffmpegDecodes(_ packets: [MediaPacket]) async throws -> Data {
        try await Oracle.check(
            ["ffmpeg", "-v", "error", "-f", "h264", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"],
            input: joined(packets)
        ).output
    }

    @Test(arguments: [("320x180", 1, 1), ("322x178", 4, 2), ("1280x720", 4, 2)])
    func decodesEachPacketAtOnceAndExactlyAsFFmpeg(size: String, slices: Int, threads: Int) async throws {
        let packets = try await MediaClips.h264(size: size, frames: 20, keyEvery: 10, slices: slices)
        #expect(packets.count == 20)
        let decoder = try VideoDecoder(codec: .h264, threadCount: threads)
        var ours = Data()
        for packet in packets {
            let picture = try #require(try decoder.decode(packet))
            #expect("\(picture.width)x\(picture.height)" == size)
            #expect(picture.captureTime == packet.header.captureTime)
            #expect(picture.presentationTime == packet.header.presentationTime)
            #expect(picture.arrivalTime == packet.arrivalTime)
            #expect(picture.color == .bt709)
            ours.append(raw(picture))
        }
        #expect(!decoder.needsKeyFrame)
        let theirs = try await ffmpegDecodes(packets)
        #expect(ours == theirs)
    }

    @Test func isSilentAfterALossUntilTheNextKeyFrame() async throws {
        let packets = try await MediaClips.h264(frames: 40, keyEvery: 20)
        let decoder = try VideoDecoder(codec: .h264)
        var shown: [Int] = []
        for (index, packet) in packets.enumerated() where index != 7 {
            if try decoder.decode(packet) != nil { shown.append(index) }
            if index == 8 { #expect(decoder.needsKeyFrame) }
        }
        #expect(shown == Array(0..<7) + Array(20..<40))
        #expect(!decoder.needsKeyFrame)
    }

    @Test func startsOnlyWithAKeyFrameAndAgainAfterReset() async throws {
        let packets = try await MediaClips.h264(frames: 40, keyEvery: 20)
        let decoder = try VideoDecoder(codec: .h264)
        #expect(try decoder.decode(packets[1]) == nil)
        #expect(decoder.needsKeyFrame)
        #expect(try decoder.decode(packets[0]) != nil)
        decoder.reset()
        #expect(try decoder.decode(packets[1]) == nil)
        #expect(try decoder.decode(packets[20]) != nil)
    }

    @Test func aDamagedPacketIsNotShownAndTheNextKeyFrameMendsIt() async throws {
        let packets = try await MediaClips.h264(frames: 30, keyEvery: 15)
        let decoder = try VideoDecoder(codec: .h264)
        var data = Data()
        for (index, packet) in packets.enumerated() {
            // Half of the packet is missing.
            var bytes = Array(packet.bytes)
            if index == 5 { bytes = Array(bytes.prefix(bytes.count / 2)) }
            let given = MediaClips.packet(bytes, .h264, index: index, duration: 33_333, isKey: packet.header.isKey)
            let picture = try decoder.decode(given)
            if index >= 5 && index < 15 { #expect(picture == nil) } else { data.append(raw(try #require(picture))) }
        }
        let all = try await ffmpegDecodes(packets)
        let frame = 320 * 180 * 3 / 2
        #expect(data == all[..<(5 * frame)] + all[(15 * frame)...])
    }

    @Test func followsAChangeOfSize() async throws {
        let small = try await MediaClips.h264(frames: 3)
        let large = try await MediaClips.h264(size: "640x360", frames: 3)
        let decoder = try VideoDecoder(codec: .h264)
        var widths: [Int] = []
        for (index, packet) in (small + large + small).enumerated() {
            let numbered = MediaClips.copy(packet, stamp: Int64(index) * 33_333, sequence: UInt32(index))
            widths.append(try #require(try decoder.decode(numbered)).width)
        }
        #expect(widths == [320, 320, 320, 640, 640, 640, 320, 320, 320])
    }

    @Test func heldPicturesAreNotOverwrittenAndThePoolIsBounded() async throws {
        let packets = try await MediaClips.h264(frames: 10)
        let decoder = try VideoDecoder(codec: .h264, poolSize: 4)
        var held: [Picture] = []
        for packet in packets { if let picture = try decoder.decode(packet) { held.append(picture) } }
        #expect(held.count == 4)
        #expect(decoder.droppedCount == 6)
        let theirs = try await ffmpegDecodes(packets)
        #expect(held.reduce(into: Data()) { $0.append(raw($1)) } == theirs.prefix(4 * 320 * 180 * 3 / 2))
    }

    @Test(arguments: ["yuvj420p", "yuvj422p", "yuvj444p"])
    func decodesJPEG(pixelFormat: String) async throws {
        let packets = try await MediaClips.mjpeg(frames: 3, pixelFormat: pixelFormat)
        let decoder = try VideoDecoder(codec: .mjpeg)
        for packet in packets {
            let picture = try #require(try decoder.decode(packet))
            #expect(picture.color.isFullRange)
            let theirs = try await Oracle.check(
                ["ffmpeg", "-v", "error", "-f", "mjpeg", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuvj420p", "-"],
                input: Data(packet.bytes)
            ).output
            let ours = raw(picture)
            #expect(ours.count == theirs.count)
            // Luma exactly; chroma is averaged by two different filters.
            #expect(ours.prefix(320 * 180) == theirs.prefix(320 * 180))
            let error = zip(ours, theirs).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
            #expect(Double(error) / Double(ours.count) < 3)
        }
    }

    @Test(arguments: [MediaCodec.h264, .mjpeg]) func garbageNeverCrashes(codec: MediaCodec) async throws {
        let packets = codec == .h264 ? try await MediaClips.h264(frames: 30) : try await MediaClips.mjpeg(frames: 5)
        let decoder = try VideoDecoder(codec: codec)
        var random = SeededRandom(seed: 20)
        for round in 0..<600 {
            var bytes = Array(packets[round % packets.count].bytes)
            switch round % 4 {
            case 0:
                bytes = (0..<Int.random(in: 0...3000, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            case 1:
                for _ in 0..<10 {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
            case 2: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            default: break
            }
            let packet = MediaClips.packet(
                bytes, codec, index: round, duration: 33_333, isKey: Bool.random(using: &random))
            do throws(GantryError) { _ = try decoder.decode(packet) } catch { #expect(error.code == .unsupportedCodec) }
        }
        let fresh = MediaClips.copy(packets[0], stamp: 0, sequence: 600)
        let last = try decoder.decode(fresh)
        #expect(last?.width == 320)
    }

    @Test func soundIsRefused() {
        #expect(throws: GantryError.self) { try VideoDecoder(codec: .opus) }
    }
}
