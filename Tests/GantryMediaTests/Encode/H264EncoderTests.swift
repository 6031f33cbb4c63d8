import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct H264EncoderTests {
    static let rate30 = FrameRate.fps30

    static func configuration(
        _ width: Int = 320, _ height: Int = 180, bitrate: Int? = 1_000_000, threads: Int = 2
    ) -> H264EncoderConfiguration {
        H264EncoderConfiguration(
            width: width, height: height, frameRate: .fps30, bitrate: bitrate, color: .bt709, threads: threads)
    }

    /// Pictures of the test pattern.
    static func pattern(_ width: Int, _ height: Int, count: Int) async throws -> [Picture] {
        let source = try TestPatternSource(
            configuration: .init(
                width: width, height: height, audio: false,
                duration: .microseconds(Int64(count) * 1_000_000 / 30), isPaced: false))
        let sink = CollectingSink(keep: count)
        _ = await source.collect(start: MediaTimestamp(microseconds: 0), into: sink)
        return sink.pictures
    }

    @Test func defaultBitrateFollowsSizeAndRate() throws {
        func bitrate(_ width: Int, _ height: Int, _ fps: UInt32) throws -> Int {
            H264EncoderConfiguration.defaultBitrate(
                width: width, height: height, frameRate: try #require(FrameRate(fps)))
        }
        #expect(try bitrate(1280, 720, 30) == 8_000_000)
        #expect(try bitrate(1920, 1080, 30) == 12_000_000)
        #expect(try bitrate(1280, 720, 60) == 12_150_000)
        #expect(try bitrate(640, 360, 30) == 4_000_000)
        #expect(try bitrate(160, 120, 1) == H264EncoderConfiguration.minimumBitrate)
        #expect(try bitrate(8192, 8192, 1000) == H264EncoderConfiguration.maximumBitrate)
    }

    @Test func streamIsWhatFFprobeExpects() async throws {
        let folder = try TestFolder()
        let encoder = try H264Encoder(configuration: Self.configuration())
        let packet = MediaPacket()
        var stream = Data()
        for picture in try await Self.pattern(320, 180, count: 30) {
            try encoder.encode(picture, forceKey: false, into: packet)
            #expect(packet.header.presentationTime == picture.presentationTime)
            #expect(packet.header.captureTime == picture.captureTime)
            stream.append(contentsOf: packet.bytes)
        }
        try stream.write(to: URL(fileURLWithPath: folder.file("a.h264")))
        let info = try await FFmpegTool.probe(folder.file("a.h264"), arguments: ["-count_frames"])
        #expect(info["profile"] == "High")
        #expect(info["width"] == "320" && info["height"] == "180")
        #expect(info["pix_fmt"] == "yuv420p" && info["color_range"] == "tv")
        #expect(info["color_space"] == "bt709" && info["color_primaries"] == "bt709")
        #expect(info["color_transfer"] == "bt709")
        #expect(info["has_b_frames"] == "0")
        #expect(info["nb_read_frames"] == "30")
    }

    /// ffmpeg reads the headers.
    @Test(arguments: [H264EncoderConfiguration.EntropyCoding.cavlc, .cabac])
    func theStreamSaysHowItsBitsArePacked(_ coding: H264EncoderConfiguration.EntropyCoding) async throws {
        var configuration = Self.configuration()
        configuration.entropyCoding = coding
        let encoder = try H264Encoder(configuration: configuration)
        let folder = try TestFolder()
        let packet = MediaPacket()
        var stream = Data()
        for picture in try await Self.pattern(320, 180, count: 3) {
            try encoder.encode(picture, forceKey: false, into: packet)
            stream.append(contentsOf: packet.bytes)
        }
        try stream.write(to: URL(fileURLWithPath: folder.file("a.h264")))
        let result = try await Oracle.run([
            "ffmpeg", "-i", folder.file("a.h264"), "-c", "copy", "-bsf:v", "trace_headers", "-f", "null", "-",
        ])
        let line = try #require(
            (result.text + result.errors).split(separator: "\n").first { $0.contains("entropy_coding_mode_flag") })
        #expect(line.hasSuffix(coding == .cabac ? "1 = 1" : "0 = 0"), "\(line)")
    }

    @Test func keyFramesComeOnRequestWithParameterSetsInFront() async throws {
        let encoder = try H264Encoder(configuration: Self.configuration())
        #expect(encoder.parameterSets.starts(with: [0, 0, 0, 1, 0x67]))
        let packet = MediaPacket()
        for (index, picture) in try await Self.pattern(320, 180, count: 40).enumerated() {
            try encoder.encode(picture, forceKey: index == 25, into: packet)
            #expect(packet.header.isKey == (index == 0 || index == 25))
            if packet.header.isKey { #expect(packet.bytes.starts(with: encoder.parameterSets)) }
        }
    }

    @Test(arguments: [1, 2, 4]) func noAccessUnitIsMuchLargerThanItsShare(threads: Int) async throws {
        let encoder = try H264Encoder(configuration: Self.configuration(bitrate: 1_500_000, threads: threads))
        let packet = MediaPacket()
        var sizes: [Int] = []
        for (index, picture) in try await Self.pattern(320, 180, count: 60).enumerated() {
            try encoder.encode(picture, forceKey: index == 30, into: packet)
            sizes.append(packet.count)
        }
        // 1.5 pictures' share, and a tenth for what x264 overshoots.
        let share = 1_500_000 / 30 / 8
        #expect(try #require(sizes.max()) <= share * 3 / 2 * 11 / 10)
    }

    @Test func bitrateChangesFromTheNextPictureOn() async throws {
        // Noise takes all the bits it is given.
        let encoder = try H264Encoder(configuration: Self.configuration(bitrate: 4_000_000))
        let packet = MediaPacket()
        var random = SystemRandomNumberGenerator()
        func encode(_ count: Int) throws -> Int {
            var bytes = 0
            for _ in 0..<count {
                let picture = try #require(Picture(format: .i420, width: 320, height: 180))
                for row in 0..<180 {
                    for column in 0..<320 {
                        picture.plane(0)[row * picture.stride(0) + column] = UInt8.random(in: 16...235, using: &random)
                    }
                }
                try encoder.encode(picture, forceKey: false, into: packet)
                bytes += packet.count
                #expect(packet.header.isKey == false || bytes == packet.count)
            }
            return bytes * 8 * 30 / count
        }
        let before = try encode(20)
        try encoder.setBitrate(1_000_000)
        #expect(encoder.bitrate == 1_000_000)
        _ = try encode(2)
        let after = try encode(20)
        #expect(before > 3_000_000 && before < 5_000_000, "\(before)")
        #expect(after > 600_000 && after < 1_300_000, "\(after)")
        // Half the pictures: each may have twice the bits.
        try encoder.setBitrate(1_000_000, frameRate: FrameRate(15))
        _ = try encode(2)
        let halved = try encode(20) / 2
        #expect(halved > 700_000 && halved < 1_300_000, "\(halved)")
    }

    @Test func nv12AndI420GiveTheSameStream() async throws {
        // One thread: with sliced threads, x264's rate control looks at how far the other slices are.
        let (a, b) = (
            try H264Encoder(configuration: Self.configuration(threads: 1)),
            try H264Encoder(configuration: Self.configuration(threads: 1))
        )
        let (first, second) = (MediaPacket(), MediaPacket())
        for picture in try await Self.pattern(320, 180, count: 5) {
            let other = try #require(Picture(format: .nv12, width: 320, height: 180))
            for row in 0..<180 {
                other.plane(0).advanced(by: row * other.stride(0)).update(
                    from: picture.plane(0) + row * picture.stride(0), count: 320)
            }
            for row in 0..<90 {
                for column in 0..<160 {
                    let target = other.plane(1) + row * other.stride(1) + column * 2
                    target[0] = picture.plane(1)[row * picture.stride(1) + column]
                    target[1] = picture.plane(2)[row * picture.stride(2) + column]
                }
            }
            try a.encode(picture, forceKey: false, into: first)
            try b.encode(other, forceKey: false, into: second)
            #expect(first.bytes.elementsEqual(second.bytes))
        }
    }

    @Test func barsKeepTheirColoursWithinFourLevels() async throws {
        let pictures = try await Self.pattern(1280, 720, count: 10)
        let encoder = try H264Encoder(configuration: Self.configuration(1280, 720, bitrate: nil))
        let packet = MediaPacket()
        var stream = Data()
        for picture in pictures {
            try encoder.encode(picture, forceKey: false, into: packet)
            stream.append(contentsOf: packet.bytes)
        }
        let raw = try await FFmpegTool.ffmpeg(
            ["-f", "h264", "-i", "-", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"], input: stream)
        let size = 1280 * 720 * 3 / 2
        try #require(raw.count == size * 10)
        let layout = try #require(TestPatternLayout(width: 1280, height: 720))
        for (index, color) in ColorBars.colors.enumerated() {
            let bar = layout.bar(index)
            let (x, y) = (bar.x + bar.width / 2, bar.y + bar.height / 2)
            let base = size * 9
            let chroma = base + 1280 * 720 + y / 2 * 640 + x / 2
            #expect(abs(Int(raw[base + y * 1280 + x]) - Int(color.y)) <= 4)
            #expect(abs(Int(raw[chroma]) - Int(color.cb)) <= 4)
            #expect(abs(Int(raw[chroma + 640 * 360]) - Int(color.cr)) <= 4)
        }
    }

    /// A picture full of movement and grain, at the default bitrate. (The bar for a real clip is 35 dB; generated noise is
    /// harder than that, so its strength here is that of a good camera.)
    @Test func defaultBitrateGives35Decibels() async throws {
        let folder = try TestFolder()
        let (width, height, count) = (640, 360, 45)
        try await FFmpegTool.ffmpeg([
            "-f", "lavfi", "-i", "mandelbrot=size=\(width)x\(height):rate=30:start_scale=0.5,noise=alls=3:allf=t",
            "-frames:v", "\(count)", "-pix_fmt", "yuv420p", "-f", "yuv4mpegpipe", folder.file("a.y4m"),
        ])
        let source = try MediaFileSource(url: folder.file("a.y4m"), options: MediaFileOptions(isPaced: false))
        let sink = CollectingSink(keep: count)
        _ = await source.collect(start: MediaTimestamp(microseconds: 0), into: sink)
        let encoder = try H264Encoder(configuration: Self.configuration(width, height, bitrate: nil))
        let packet = MediaPacket()
        var stream = Data()
        for picture in sink.pictures {
            try encoder.encode(picture, forceKey: false, into: packet)
            stream.append(contentsOf: packet.bytes)
        }
        try stream.write(to: URL(fileURLWithPath: folder.file("a.h264")))
        try await FFmpegTool.ffmpeg([
            "-r", "30", "-i", folder.file("a.h264"), "-r", "30", "-i", folder.file("a.y4m"), "-lavfi",
            "psnr=stats_file=\(folder.file("psnr"))", "-f", "null", "-",
        ])
        let lines = try String(contentsOfFile: folder.file("psnr"), encoding: .utf8).split(separator: "\n")
        let values = lines.compactMap { line in
            line.split(separator: " ").first { $0.hasPrefix("psnr_avg:") }.flatMap { Double($0.dropFirst(9)) }
        }
        #expect(values.count == count)
        let mean = values.reduce(0, +) / Double(max(1, values.count))
        #expect(mean >= 35, "\(mean) dB")
        // Within the rate.
        #expect(stream.count * 8 * 30 / count <= encoder.bitrate * 11 / 10)
    }

    @Test func wrongSizesAreRefused() throws {
        for (width, height) in [(321, 180), (0, 0), (-2, 16), (16384, 16)] {
            let error = #expect(throws: GantryError.self) {
                try H264Encoder(configuration: Self.configuration(width, height))
            }
            #expect(error?.code == .invalidArgument)
        }
        let encoder = try H264Encoder(configuration: Self.configuration())
        let other = try #require(Picture(format: .i420, width: 640, height: 360))
        let error = #expect(throws: GantryError.self) {
            try encoder.encode(other, forceKey: false, into: MediaPacket())
        }
        #expect(error?.code == .invalidArgument)
    }
}
