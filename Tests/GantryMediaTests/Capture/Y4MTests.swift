import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import GantryMedia

@Suite struct Y4MTests {
    static func parse(_ text: String) throws -> Y4MHeader? {
        var parser = Y4MHeaderParser()
        for byte in text.utf8 { if let header = try parser.feed(byte) { return header } }
        return nil
    }

    @Test func headersAreReadByteByByte() throws {
        let header = try #require(
            try Self.parse("YUV4MPEG2 W1280 H720 F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2\n"))
        #expect(header.width == 1280 && header.height == 720 && header.layout == .yuv420 && !header.isFullRange)
        #expect(header.frameRate == FrameRate(30000, 1001))
        #expect(header.frameBytes == 1280 * 720 * 3 / 2)
        let bare = try #require(try Self.parse("YUV4MPEG2 H3 W5\n"))
        #expect(bare.frameRate == .fps30 && bare.layout == .yuv420 && bare.frameBytes == 15 + 2 * 3 * 2)
        #expect(try Self.parse("YUV4MPEG2 W16 H16 C444p10 XCOLORRANGE=FULL\n")?.isFullRange == true)
        #expect(try Self.parse("YUV4MPEG2 W16 H16 F25:1") == nil)
    }

    @Test(arguments: [
        "RIFF", "YUV4MPEG3 ", "YUV4MPEG2 W16\n", "YUV4MPEG2 W16 H0\n", "YUV4MPEG2 W16 H-16\n", "YUV4MPEG2 W9000 H16\n",
        "YUV4MPEG2 W99999999999999999999 H16\n", "YUV4MPEG2 W16 H16 F30:0\n", "YUV4MPEG2 W16 H16 F1:2:3\n",
        "YUV4MPEG2 W16 H16 F:\n", "YUV4MPEG2 W16 H16 C411\n", "YUV4MPEG2 W16 H16\t\n", "YUV4MPEG2\n", "\n",
        "YUV4MPEG2 " + String(repeating: "X", count: 2000),
    ]) func badHeadersAreRefused(text: String) {
        #expect(throws: GantryError.self) { _ = try Self.parse(text) }
    }

    /// Runs a source on a pipe that `data` is written to.
    static func play(_ data: Data, closing: Bool = true, sink: CollectingSink) async throws -> (
        Y4MSource, MediaSourceEnd
    ) {
        let pipe = Pipe()
        Thread.detachNewThread {
            try? pipe.fileHandleForWriting.write(contentsOf: data)
            if closing { try? pipe.fileHandleForWriting.close() }
        }
        let source = try Y4MSource(descriptor: pipe.fileHandleForReading.fileDescriptor)
        let end = await source.collect(start: MediaTimestamp(microseconds: 0), into: sink)
        _ = pipe
        return (source, end)
    }

    @Test(arguments: [
        ("yuv420p", "320x180"), ("yuv420p", "178x100"), ("yuv420p", "65x33"), ("yuv422p", "320x180"),
        ("yuv444p", "320x180"), ("gray", "320x180"), ("yuv420p10le", "320x180"), ("yuv444p10le", "66x34"),
    ]) func picturesAreWhatFFmpegWrites(format: String, size: String) async throws {
        let input = ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30:duration=0.2"]
        let stream = try await FFmpegTool.ffmpeg(
            input + ["-pix_fmt", format, "-strict", "-1", "-f", "yuv4mpegpipe", "-"])
        let sink = CollectingSink(keep: 6)
        let before = MonotonicClock.now()
        let (source, end) = try await Self.play(stream, sink: sink)
        guard case .finished = end else {
            Issue.record("\(end)")
            return
        }
        #expect(sink.video.count + source.droppedCount == 6)
        #expect(sink.video.allSatisfy { $0.presentation >= before && $0.presentation == $0.capture })
        let width = source.header.width & ~1
        let height = source.header.height & ~1
        let raw = try await FFmpegTool.ffmpeg(
            ["-f", "yuv4mpegpipe", "-i", "-", "-vf", "crop=\(width):\(height):0:0:exact=1", "-f", "rawvideo"]
                + ["-pix_fmt", "yuv420p", "-"], input: stream)
        let picture = try #require(sink.pictures.first)
        let ours = rawBytes(of: picture)
        #expect(picture.width == width && picture.height == height)
        let difference = zip(ours, raw.prefix(ours.count)).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        let isExact = format == "yuv420p"
        #expect(Double(difference) / Double(ours.count) <= (isExact ? 0 : 2))
    }

    @Test func shortAndForeignFramesEndEarly() async throws {
        let header = "YUV4MPEG2 W16 H16 F30:1 C420\n"
        let frame = Data("FRAME Ixyz\n".utf8) + Data(repeating: 100, count: 384)
        let endless = "FRAME" + String(repeating: " I", count: 4000)
        let broken = ["FRAM", "FRAME", "FRAME Ixyz", "FRAMES", "garbage that is no frame", endless]
        for rest in [Data("FRAME\n".utf8) + Data(count: 100)] + broken.map({ Data($0.utf8) }) {
            let sink = CollectingSink()
            let (_, end) = try await Self.play(Data(header.utf8) + frame + rest, sink: sink)
            #expect(sink.video.count == 1)
            guard case .endedEarly(let error) = end else {
                Issue.record("\(end)")
                continue
            }
            #expect(error.code == .sourceUnreadable)
        }
        let error = await #expect(throws: GantryError.self) {
            try await Self.play(Data("YUV4M".utf8), sink: CollectingSink())
        }
        #expect(error?.code == .sourceUnreadable)
    }

    @Test func stopWakesABlockedRead() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("YUV4MPEG2 W16 H16\nFRAME\n".utf8))
        let source = try Y4MSource(descriptor: pipe.fileHandleForReading.fileDescriptor)
        async let end = source.collect(start: MediaTimestamp(microseconds: 0), into: CollectingSink())
        source.stop()
        guard case .stopped = await end else {
            Issue.record("ended in another way")
            return
        }
        _ = pipe
    }

    /// Raw pictures take long through the 64 KiB that a pipe begins with.
    @Test func pipesAreMadeLargerAndNeverSmaller() throws {
        let pipe = Pipe()
        let (reading, writing) = (pipe.fileHandleForReading.fileDescriptor, pipe.fileHandleForWriting.fileDescriptor)
        #expect(try #require(RawPipe.capacity(of: reading)) < RawPipe.capacity)
        _ = try Y4MReader(descriptor: reading)
        #expect(RawPipe.capacity(of: reading) == RawPipe.capacity)
        RawPipe.widen(writing, to: 1 << 20)
        _ = OutputFile(takingOwnership: dup(writing), path: "pipe")
        #expect(RawPipe.capacity(of: reading) == 1 << 20)
        RawPipe.widen(-1)
    }
}
