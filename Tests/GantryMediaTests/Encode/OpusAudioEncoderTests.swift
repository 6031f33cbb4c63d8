import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct OpusAudioEncoderTests {
    static let start = MediaTimestamp(microseconds: 3_000_000)

    @Test func headIsWhatRFC7845Says() throws {
        let format = try OpusAudioEncoder().format
        // "OpusHead", version 1, 2 channels, pre-skip 0, 48000 Hz, gain 0, family 0; little-endian.
        #expect(format.head == Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xBB, 0, 0, 0, 0, 0])
        #expect(format.samplesPerPacket == 480 && format.codec == .opus && format.channels == 2)
        #expect(try OpusAudioEncoder().lookahead == 120)
    }

    /// The tone with its clicks through encoder, ffmpeg's Opus decoder and the stamps: the clicks are where they were.
    @Test(arguments: [480, 240]) func clicksComeBackWhereTheyWere(samplesPerPacket: Int) async throws {
        let encoder = try OpusAudioEncoder(samplesPerPacket: samplesPerPacket)
        let packetizer = AudioPacketizer(samplesPerPacket: samplesPerPacket, lookahead: encoder.lookahead)
        let tone = TestTone()
        var packets: [[UInt8]] = []
        var first: MediaTimestamp?
        let packet = MediaPacket()
        // Blocks of an odd length, which fit no packet.
        let length = 331
        for index in 0..<(48_000 * 5 / 2 / length) {
            let block = AudioBlock(capacity: length)
            tone.fill(block, fromSample: Int64(index * length))
            block.presentationTime = Self.start + .microseconds(Int64(index * length) * 1_000_000 / 48_000)
            try packetizer.append(block) { (samples, presentation, capture) throws(GantryError) in
                try encoder.encode(samples, frames: samplesPerPacket, into: packet)
                #expect((capture - presentation).microseconds == 2500)
                if first == nil { first = presentation }
                packets.append(Array(packet.bytes))
            }
        }
        #expect(packets.allSatisfy { $0.count < 1275 })
        let ogg = Self.ogg(packets, head: encoder.format.head, samplesPerPacket: samplesPerPacket)
        let raw = try await FFmpegTool.ffmpeg(["-f", "ogg", "-i", "-", "-f", "f32le", "-"], input: ogg)
        let count = raw.count / 8
        #expect(count == packets.count * samplesPerPacket)
        let block = AudioBlock(capacity: count)
        raw.withUnsafeBytes {
            block.samples.baseAddress?.update(from: $0.bindMemory(to: Float.self).baseAddress!, count: count * 2)
        }
        block.count = count
        block.presentationTime = try #require(first)
        // One block a call finds one click: cut it up.
        var detector = ClickDetector()
        var clicks: [MediaTimestamp] = []
        for start in stride(from: 0, to: count - 480, by: 480) {
            let part = AudioBlock(capacity: 480)
            for index in 0..<960 { part.samples[index] = block.samples[start * 2 + index] }
            part.count = 480
            part.presentationTime = block.presentationTime + .microseconds(Int64(start) * 1_000_000 / 48_000)
            if let click = detector.feed(part) { clicks.append(click) }
        }
        try #require(clicks.count == 3)
        for (index, click) in clicks.enumerated() {
            #expect(abs((click - Self.start).microseconds - Int64(index) * 1_000_000) <= 1000)
        }
    }

    @Test func wrongLengthsAreRefused() throws {
        #expect(throws: GantryError.self) { try OpusAudioEncoder(samplesPerPacket: 481) }
        #expect(throws: GantryError.self) { try OpusAudioEncoder(bitrate: 1) }
        let encoder = try OpusAudioEncoder()
        let samples = [Float](repeating: 0, count: 958)
        let error = samples.withUnsafeBufferPointer { samples in
            #expect(throws: GantryError.self) { try encoder.encode(samples, frames: 480, into: MediaPacket()) }
        }
        #expect(error?.code == .invalidArgument)
    }

    /// A minimal Ogg file (RFC 3533, RFC 7845), a page a packet.
    static func ogg(_ packets: [[UInt8]], head: [UInt8], samplesPerPacket: Int) -> Data {
        let tags = Array("OpusTags".utf8) + [1, 0, 0, 0, UInt8(ascii: "t"), 0, 0, 0, 0]
        var data = Data()
        for (index, packet) in ([head, tags] + packets).enumerated() {
            let granule = UInt64(max(0, index - 1) * samplesPerPacket)
            let flags: UInt8 = index == 0 ? 2 : index == packets.count + 1 ? 4 : 0
            var page = Array("OggS".utf8) + [0, flags]
            page += withUnsafeBytes(of: granule.littleEndian) { Array($0) }
            page += [1, 0, 0, 0]
            page += withUnsafeBytes(of: UInt32(index).littleEndian) { Array($0) }
            page += [0, 0, 0, 0]
            let full = packet.count / 255
            page += [UInt8(full + 1)] + [UInt8](repeating: 255, count: full) + [UInt8(packet.count % 255)]
            page += packet
            var crc: UInt32 = 0
            for byte in page {
                crc ^= UInt32(byte) << 24
                for _ in 0..<8 { crc = crc & 0x8000_0000 != 0 ? crc << 1 ^ 0x04C1_1DB7 : crc << 1 }
            }
            page.replaceSubrange(22..<26, with: withUnsafeBytes(of: crc.littleEndian) { Array($0) })
            data.append(contentsOf: page)
        }
        return data
    }
}
