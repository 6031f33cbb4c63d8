import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct TestPatternTests {
    static let start = MediaTimestamp(microseconds: 5_000_000)

    @Test func barsAreTheValuesOfTheStandard() {
        let channels: [(Double, Double, Double)] = [
            (1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1), (0, 0, 0),
        ]
        for (color, rgb) in zip(ColorBars.colors, channels) {
            let (r, g, b) = (rgb.0 * 0.75, rgb.1 * 0.75, rgb.2 * 0.75)
            let luma = 0.2126 * r + 0.7152 * g + 0.0722 * b
            #expect(color.y == UInt8((16 + 219 * luma).rounded()))
            #expect(color.cb == UInt8((128 + 224 * (b - luma) / 1.8556).rounded()))
            #expect(color.cr == UInt8((128 + 224 * (r - luma) / 1.5748).rounded()))
        }
    }

    @Test(arguments: [
        (160, 120), (272, 160), (320, 180), (400, 224), (640, 360), (800, 600), (1280, 720), (1920, 1080),
    ])
    func timeCodeComesBack(size: (Int, Int)) throws {
        let picture = try #require(Picture(format: .i420, width: size.0, height: size.1))
        #expect(TimeCode.read(from: picture) == nil)
        for (number, time) in [(UInt32(0), Int64(0)), (0xFF_FFFF, 0xFFFF_FFFF_FFFF), (123_456, 98_765_432_101)] {
            TimeCode.draw(on: picture, frameNumber: number, capture: MediaTimestamp(microseconds: time))
            let code = try #require(TimeCode.read(from: picture))
            #expect(code.frameNumber == number)
            #expect(code.capture.microseconds == time)
        }
        // One block turned over: the CRC notices.
        let block = size.0 >= 800 ? 16 : 8
        for row in 0..<block {
            let line = picture.plane(0) + (block + row) * picture.stride(0) + block * 12
            for column in 0..<block { line[column] = 251 - line[column] }
        }
        #expect(TimeCode.read(from: picture) == nil)
    }

    /// The first 16 bits of A5 00 01 02 … as blocks, and the CRC of an independent implementation
    /// (Python: binascii.crc_hqx(bytes, 0xFFFF)).
    @Test func timeCodeHasTheDocumentedBits() throws {
        let picture = try #require(Picture(format: .i420, width: 1280, height: 720))
        TimeCode.draw(on: picture, frameNumber: 0x01_0203, capture: MediaTimestamp(microseconds: 0x0405_0607_0809))
        var bytes = [UInt8](repeating: 0, count: 12)
        for bit in 0..<96 {
            let (x, y) = (16 + bit % 48 * 16 + 8, 16 + bit / 48 * 16 + 8)
            if picture.plane(0)[y * picture.stride(0) + x] > 126 { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
        }
        #expect(bytes == [0xA5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xDD, 0x08])
    }

    @Test(arguments: [(1280, 720), (320, 180)]) func timeCodeSurvivesH264(size: (Int, Int)) async throws {
        let count = 60
        let pictures = try await H264EncoderTests.pattern(size.0, size.1, count: count)
        var configuration = H264EncoderTests.configuration(size.0, size.1, bitrate: 500_000)
        // As the producer would with so few bits.
        configuration.entropyCoding = .cabac
        let encoder = try H264Encoder(configuration: configuration)
        let packet = MediaPacket()
        var stream = Data()
        for picture in pictures {
            try encoder.encode(picture, forceKey: false, into: packet)
            stream.append(contentsOf: packet.bytes)
        }
        let raw = try await FFmpegTool.ffmpeg(
            ["-f", "h264", "-i", "-", "-f", "rawvideo", "-pix_fmt", "gray", "-"], input: stream)
        let luma = size.0 * size.1
        try #require(raw.count == luma * count)
        for index in 0..<count {
            let picture = try #require(Picture(format: .i420, width: size.0, height: size.1))
            raw.withUnsafeBytes { bytes in
                for row in 0..<size.1 {
                    let line = bytes[(index * luma + row * size.0)..<(index * luma + (row + 1) * size.0)]
                    UnsafeMutableRawBufferPointer(start: picture.plane(0) + row * picture.stride(0), count: size.0)
                        .copyBytes(from: line)
                }
            }
            let code = try #require(TimeCode.read(from: picture), "picture \(index)")
            #expect(code.frameNumber == UInt32(index))
            #expect(code.capture == pictures[index].captureTime)
        }
    }

    @Test func stampsClicksAndFlashesAgree() async throws {
        let source = try TestPatternSource(
            configuration: .init(width: 320, height: 180, duration: .milliseconds(2500), isPaced: false))
        let sink = CollectingSink(keep: 75)
        guard case .finished = await source.collect(start: Self.start, into: sink) else {
            Issue.record("did not finish")
            return
        }
        #expect(sink.video.map(\.code) == (0..<75).map { UInt32($0) })
        for (index, item) in sink.video.enumerated() {
            #expect((item.presentation - Self.start).microseconds == Int64(index) * 1_000_000 / 30)
        }
        #expect(sink.sampleCount == 120_000)
        let layout = try #require(TestPatternLayout(width: 320, height: 180))
        for (index, picture) in sink.pictures.enumerated() {
            let (x, y) = (layout.flash.x + layout.flash.width / 2, layout.flash.y + layout.flash.height / 2)
            #expect((picture.plane(0)[y * picture.stride(0) + x] == 235) == (index % 30 == 0))
        }
        let clicks = sink.clicks
        try #require(clicks.count == 3)
        for (index, click) in clicks.enumerated() {
            #expect(abs((click - Self.start).microseconds - Int64(index) * 1_000_000) <= 100)
        }
    }

    @Test func pacedPatternFollowsTheClock() async throws {
        let source = try TestPatternSource(
            configuration: .init(width: 160, height: 120, duration: .milliseconds(500)))
        let sink = CollectingSink()
        let start = MonotonicClock.now()
        _ = await source.collect(start: start, into: sink)
        let items = sink.video
        #expect(items.count >= 2 && items.count + source.skippedCount <= 15)
        for item in items { #expect(item.capture >= item.presentation) }
        #expect(MonotonicClock.now() - start >= .milliseconds(450))
        // Numbers that are left out are left out of the stamps as well.
        for item in items {
            #expect((item.presentation - start).microseconds == Int64(item.code ?? 0) * 1_000_000 / 30)
        }
    }

    /// 258: the last bar is no multiple of eight.
    @Test(arguments: [1280, 258]) func grainIsOtherNoiseInEachPictureAndStaysInTheBars(width: Int) async throws {
        let source = try TestPatternSource(
            configuration: .init(
                width: width, height: 180, duration: .milliseconds(100), isPaced: false, hasGrain: true))
        let sink = CollectingSink(keep: 2)
        _ = await source.collect(start: Self.start, into: sink)
        let pictures = sink.pictures
        try #require(pictures.count == 2)
        let layout = try #require(TestPatternLayout(width: width, height: 180))
        for (index, color) in ColorBars.colors.enumerated() {
            let bar = layout.bar(index)
            var (differing, farthest) = (0, 0)
            for row in bar.y..<bar.y + bar.height {
                let (first, second) = (
                    pictures[0].plane(0) + row * pictures[0].stride(0) + bar.x,
                    pictures[1].plane(0) + row * pictures[1].stride(0) + bar.x
                )
                for x in 0..<bar.width {
                    farthest = max(farthest, abs(Int(first[x]) - Int(color.y)))
                    if first[x] != second[x] { differing += 1 }
                }
            }
            #expect(15...16 ~= farthest)
            // One in 32 is the same by chance.
            #expect(differing > bar.width * bar.height * 9 / 10)
        }
        // What lies outside the bars is readable.
        #expect(TimeCode.read(from: pictures[1])?.frameNumber == 1)
    }

    @Test func stopEndsIt() async throws {
        let source = try TestPatternSource(configuration: .init(width: 160, height: 120))
        let sink = CollectingSink(stopAfter: 2) { source.stop() }
        guard case .stopped = await source.collect(start: MonotonicClock.now(), into: sink) else {
            Issue.record("ended in another way")
            return
        }
        #expect(sink.video.count == 2)
    }

    @Test(arguments: [(158, 120), (160, 118), (321, 240), (8194, 720)]) func badSizesAreRefused(size: (Int, Int)) {
        let error = #expect(throws: GantryError.self) {
            try TestPatternSource(configuration: .init(width: size.0, height: size.1))
        }
        #expect(error?.code == .invalidArgument)
    }
}
