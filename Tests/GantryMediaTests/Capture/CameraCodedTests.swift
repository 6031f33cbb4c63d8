import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct CameraCodedTests {
    private func extent(_ bytes: [UInt8]) -> (count: Int, hasEnd: Bool)? {
        bytes.withUnsafeBytes { JPEGExtent($0) }.map { ($0.count, $0.hasEnd) }
    }

    /// ITU-T T.81, B.1.1.3: FF D8 begins a picture, FF D9 ends it.
    @Test func theEndOfAJPEGIsFound() throws {
        let picture: [UInt8] = [0xff, 0xd8, 1, 2, 3, 0xff, 0xd9]
        #expect(try #require(extent(picture)) == (7, true))
        #expect(try #require(extent(picture + [0])) == (7, true))
        #expect(try #require(extent(picture + [UInt8](repeating: 0, count: 4000))) == (7, true))
        // Without its end, filled up.
        #expect(try #require(extent([0xff, 0xd8, 1, 2, 3, 0, 0])) == (5, false))
        // Cut off; of another kind; too short; nothing but zeros behind the beginning.
        for bad: [UInt8] in [
            [0xff, 0xd8, 1, 2, 3], [0xff, 0xd8, 1, 2, 0], [0, 0xff, 0xd8, 0xff, 0xd9], [0xff, 0xd8], [], [0, 0, 0, 0],
            [0xff, 0xd8, 0, 0, 0, 0],
        ] { #expect(extent(bad) == nil, "\(bad)") }
    }

    private func unit(_ bytes: [UInt8]) -> (isKey: Bool, hasSets: Bool)? {
        bytes.withUnsafeBytes { H264AccessUnit($0) }.map { ($0.isKey, $0.hasParameterSets) }
    }

    /// ITU-T H.264 table 7-1: 1 a slice, 5 one of an IDR picture, 6 SEI, 7 SPS, 8 PPS, 9 a delimiter.
    @Test func keyFramesAreFoundByTheirUnits() throws {
        let (sps, pps): ([UInt8], [UInt8]) = ([0, 0, 0, 1, 0x67, 1, 2], [0, 0, 1, 0x68, 3])
        let (idr, slice): ([UInt8], [UInt8]) = ([0, 0, 1, 0x65, 9, 9], [0, 0, 0, 1, 0x41, 9, 9])
        #expect(try #require(unit(sps + pps + idr)) == (true, true))
        #expect(try #require(unit([0, 0, 0, 1, 9, 0xf0] + sps + pps + [0, 0, 1, 6, 1] + idr)) == (true, true))
        #expect(try #require(unit(idr)) == (true, false))
        #expect(try #require(unit(slice)) == (false, false))
        // Begins with an SPS: a recovery point.
        #expect(try #require(unit(sps + pps + slice)) == (true, true))
        #expect(try #require(unit([0, 0, 0, 0, 0] + slice.dropFirst(3))) == (false, false))
        for bad: [UInt8] in [
            [], [0, 0, 1], [0, 0, 0, 1], sps + pps, [0x41, 9, 9], [0, 1, 0x41], [0, 0, 0, 0],
            [UInt8](repeating: 0, count: 100), Array(repeating: [0, 0, 1, 9], count: 1000).flatMap { $0 },
        ] { #expect(unit(bad) == nil, "\(bad.prefix(12))") }
    }

    private func pack(_ packets: CameraPackets, _ bytes: [UInt8], _ number: UInt32) -> MediaPacket? {
        guard case .packet(let packet) = bytes.withUnsafeBytes({ packets.pack($0, sequence: number, stamp: stamp) })
        else { return nil }
        return packet
    }
    private let stamp = MediaTimestamp(microseconds: 12_345)

    @Test func parameterSetsThatCameOnceStandInFrontOfEveryKeyFrame() throws {
        let packets = CameraPackets(codec: .h264, capacity: 8)
        let idr: [UInt8] = [0, 0, 0, 1, 0x65, 9, 9]
        // Nobody can begin with this one.
        #expect(try #require(pack(packets, idr, 4)).header.isKey == false)
        let sets: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 0, 1, 0x68, 3]
        let first = try #require(pack(packets, sets + idr, 5))
        #expect(first.header == MediaHeader(sequence: 5, presentationTime: stamp, captureTime: stamp, isKey: true))
        #expect([UInt8](first.bytes) == sets + idr)
        let second = try #require(pack(packets, idr, 7))
        #expect(second.header.isKey && second.header.sequence == 7 && second.codec == .h264)
        #expect([UInt8](second.bytes) == sets + idr)
        let slice: [UInt8] = [0, 0, 0, 1, 0x41, 9]
        let third = try #require(pack(packets, slice, 8))
        #expect(!third.header.isKey && [UInt8](third.bytes) == slice)
        #expect(pack(packets, [1, 2, 3], 9) == nil)
    }

    @Test func aJPEGIsPassedOnWithItsEnd() throws {
        let packets = CameraPackets(codec: .mjpeg, capacity: 2)
        let packet = try #require(pack(packets, [0xff, 0xd8, 1, 2, 3, 0, 0, 0], 1))
        #expect([UInt8](packet.bytes) == [0xff, 0xd8, 1, 2, 3, 0xff, 0xd9])
        #expect(packet.header.isKey && packet.codec == .mjpeg)
        let other = try #require(pack(packets, [0xff, 0xd8, 1, 0xff, 0xd9, 0], 2))
        #expect(other.count == 5)
        let third: [UInt8] = [0xff, 0xd8, 0xff, 0xd9]
        guard case .full = third.withUnsafeBytes({ packets.pack($0, sequence: 3, stamp: stamp) })
        else { throw Oracle.Failure(text: "there is a third packet") }
        withExtendedLifetime((packet, other)) {}
    }

    /// A real stream of x264's, a unit in each buffer as a camera gives it.
    @Test func h264IsDecodedAndALossWaitsForAKeyFrame() throws {
        let encoder = try H264Encoder(
            configuration: H264EncoderConfiguration(
                width: 64, height: 48, frameRate: .fps30, bitrate: 400_000, color: .bt601))
        let source = try #require(Picture(format: .i420, width: 64, height: 48))
        for plane in 0..<3 {
            source.plane(plane).initialize(
                repeating: plane == 0 ? 90 : 128, count: source.stride(plane) * source.rows(plane))
        }
        let pictures = try #require(
            try CameraPictures(pixels: .h264, width: 64, height: 48, stride: 0, color: .bt601))
        #expect(pictures.needsKeyFrame)
        var outcomes: [String] = []
        for index in 0..<12 {
            let packet = MediaPacket()
            source.presentationTime = MediaTimestamp(microseconds: Int64(index) * 33_333)
            try encoder.encode(source, forceKey: index == 0 || index == 8, into: packet)
            // The sixth is lost, and seen by the gap in the numbers.
            if index == 5 { continue }
            switch try pictures.convert(packet.bytes, sequence: UInt32(index)) {
            case .picture(let picture):
                outcomes.append("picture")
                #expect((picture.width, picture.height) == (64, 48))
                #expect(abs(Int(picture.plane(0)[64 * 10 + 10]) - 90) < 4)
            case .waiting: outcomes.append("waiting")
            case .damaged: outcomes.append("damaged")
            case .full: outcomes.append("full")
            }
        }
        #expect(
            outcomes == [String](repeating: "picture", count: 5) + ["damaged", "waiting"]
                + [String](repeating: "picture", count: 4))
        #expect(!pictures.needsKeyFrame)
    }
}
