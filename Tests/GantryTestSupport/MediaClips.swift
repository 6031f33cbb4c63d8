import Foundation
package import GantryCore
package import GantryPlatform

/// Coded packets that ffmpeg made, so that our decoders and writers are judged with foreign material.
package enum MediaClips {
    /// H.264 access units of ffmpeg's moving test picture, one a frame, without B-frames.
    package static func h264(
        size: String = "320x180", frames: Int = 60, rate: Int = 30, keyEvery: Int = 30, slices: Int = 1
    ) async throws -> [MediaPacket] {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.file("clip.h264")
        _ = try await Oracle.check([
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate)", "-frames:v",
            "\(frames)",
            "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "superfast", "-tune", "zerolatency", "-bf", "0", "-g",
            "\(keyEvery)", "-sc_threshold", "0", "-x264-params", "slices=\(slices):sliced-threads=0:repeat-headers=1",
            "-color_primaries", "bt709", "-color_trc", "bt709", "-colorspace", "bt709", "-color_range", "tv",
            "-bsf:v", "h264_metadata=aud=insert", "-f", "h264", path,
        ])
        let units = accessUnits(in: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        return units.enumerated().map { index, bytes in
            packet(bytes, .h264, index: index, duration: 1_000_000 / Int64(rate), isKey: index % keyEvery == 0)
        }
    }

    /// JPEG pictures.
    package static func mjpeg(frames: Int = 5, pixelFormat: String = "yuvj422p") async throws -> [MediaPacket] {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        _ = try await Oracle.check([
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30", "-frames:v", "\(frames)",
            "-pix_fmt", pixelFormat, "-q:v", "2", folder.file("%d.jpg"),
        ])
        return try (0..<frames).map { index in
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder.file("\(index + 1).jpg"))))
            return packet(bytes, .mjpeg, index: index, duration: 33_333, isKey: true)
        }
    }

    /// Opus packets of 10 ms: a 440 Hz tone in stereo.
    package static func opus(seconds: Double = 2) async throws -> [MediaPacket] {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.file("tone.ogg")
        _ = try await Oracle.check([
            "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(seconds)",
            "-ac", "2", "-c:a", "libopus", "-application", "lowdelay", "-frame_duration", "10", "-b:a", "96k", "-f",
            "ogg",
            path,
        ])
        let packets = oggPackets(in: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
        return packets.dropFirst(2).enumerated().map { index, bytes in
            packet(bytes, .opus, index: index, duration: 10_000, isKey: true)
        }
    }

    /// A packet whose stamps follow from its number and duration, on a clock that starts at `origin` µs.
    package static func packet(
        _ bytes: [UInt8], _ codec: MediaCodec, index: Int, duration: Int64, isKey: Bool, origin: Int64 = 5_000_000
    ) -> MediaPacket {
        let packet = MediaPacket(capacity: bytes.count)
        bytes.withUnsafeBytes { packet.append($0) }
        packet.codec = codec
        packet.duration = MediaDuration(microseconds: duration)
        let stamp = MediaTimestamp(microseconds: origin + Int64(index) * duration)
        packet.header = MediaHeader(
            sequence: UInt32(index), presentationTime: stamp, captureTime: stamp - .microseconds(1000), isKey: isKey)
        packet.arrivalTime = stamp + .seconds(100)
        return packet
    }

    /// The payload once more, with another stamp and number.
    package static func copy(_ packet: MediaPacket, stamp: Int64, sequence: UInt32? = nil) -> MediaPacket {
        let copy = MediaPacket(capacity: packet.count)
        copy.append(packet.bytes)
        copy.codec = packet.codec
        copy.header = packet.header
        copy.header.presentationTime = MediaTimestamp(microseconds: stamp)
        if let sequence { copy.header.sequence = sequence }
        copy.arrivalTime = MediaTimestamp(microseconds: stamp + 100_000_000)
        return copy
    }

    package static let videoFormat = VideoStreamFormat(
        codec: .h264, width: 320, height: 180, frameRate: .fps30, color: .bt709)
    package static let audioFormat = AudioStreamFormat(
        codec: .opus, sampleRate: 48_000, channels: 2, samplesPerPacket: 480, head: [])

    /// Splits Annex B at access unit delimiters (unit type 9).
    private static func accessUnits(in bytes: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in 0..<max(0, bytes.count - 4)
        where bytes[index..<(index + 4)].elementsEqual([0, 0, 0, 1]) && bytes[index + 4] & 0x1f == 9 {
            starts.append(index)
        }
        return starts.indices.map { Array(bytes[starts[$0]..<($0 + 1 < starts.count ? starts[$0 + 1] : bytes.count)]) }
    }

    /// Packets of an Ogg file (RFC 3533): pages of segments; a segment below 255 bytes ends a packet.
    private static func oggPackets(in bytes: [UInt8]) -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var current: [UInt8] = []
        var page = 0
        while page + 27 <= bytes.count, bytes[page..<(page + 4)].elementsEqual(Array("OggS".utf8)) {
            let segments = Int(bytes[page + 26])
            var data = page + 27 + segments
            for segment in 0..<segments {
                let size = Int(bytes[page + 27 + segment])
                current += bytes[data..<(data + size)]
                data += size
                if size < 255 {
                    packets.append(current)
                    current = []
                }
            }
            page = data
        }
        return packets
    }
}
