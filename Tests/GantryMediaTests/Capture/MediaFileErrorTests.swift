import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct MediaFileErrorTests {
    static func code(_ path: String) -> GantryError.Code? { error(path)?.code }

    static func error(_ path: String) -> GantryError? {
        do throws(GantryError) {
            _ = try MediaFileSource(url: path, options: MediaFileOptions(isPaced: false))
            return nil
        } catch {
            #expect(!error.message.isEmpty)
            return error
        }
    }

    @Test func whatIsNoMediaFileIsNamedAtOnce() throws {
        let folder = try TestFolder()
        func write(_ name: String, _ data: Data) throws -> String {
            try data.write(to: URL(fileURLWithPath: folder.file(name)))
            return folder.file(name)
        }
        #expect(Self.code(folder.file("missing.mp4")) == .sourceNotFound)
        #expect(Self.code(folder.path) == .sourceUnreadable)
        let missing = "file://" + folder.file("missing.mp4")
        #expect(Self.code(missing) == .sourceUnreadable)
        #expect(Self.error(missing)?.message.hasPrefix("There is no file \(missing).") == true)
        #expect(Self.code(try write("a.txt", Data("Just some words.\n".utf8))) == .sourceUnreadable)
        #expect(Self.code(try write("a.mp4", Data("Just some words.\n".utf8))) == .sourceUnreadable)
        #expect(Self.code(try write("empty.mp4", Data())) == .sourceUnreadable)
        var random = Data()
        var state: UInt32 = 1
        for _ in 0..<100_000 {
            state = state &* 1_664_525 &+ 1_013_904_223
            random.append(UInt8(state >> 24))
        }
        #expect(Self.code(try write("noise.bin", random)) == .sourceUnreadable)
        #expect(Self.code(try write("noise.mp3", random)) == .sourceUnreadable)
        let subtitles = "1\n00:00:00,000 --> 00:00:01,000\nHello\n\n2\n00:00:01,000 --> 00:00:02,000\nYou\n"
        #expect(Self.code(try write("a.srt", Data(subtitles.utf8))) == .sourceHasNoMedia)
        #expect(Self.code("http://127.0.0.1:9/a.mp4") == .sourceNotFound)
    }

    @Test func unknownCodecIsNamed() async throws {
        let folder = try TestFolder()
        try await MediaFileSourceTests.make(folder.file("a.mov"), MediaFileSourceTests.x264 + ["-an"])
        var data = try Data(contentsOf: URL(fileURLWithPath: folder.file("a.mov")))
        // The name of the codec in the sample description, and what is inside it.
        for (old, new) in [("avc1", "zzzz"), ("avcC", "zzzC")] {
            while let range = data.range(of: Data(old.utf8)) { data.replaceSubrange(range, with: Data(new.utf8)) }
        }
        try data.write(to: URL(fileURLWithPath: folder.file("b.mov")))
        let error = #expect(throws: GantryError.self) { try MediaFileSource(url: folder.file("b.mov")) }
        #expect(error?.code == .unsupportedCodec)
        #expect(error?.message.contains("zzzz") == true)
    }

    @Test func truncatedFilesPlayWhatIsThere() async throws {
        let folder = try TestFolder()
        try await FFmpegTool.ffmpeg([
            "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=30:duration=4", "-c:v", "libx264", "-pix_fmt", "yuv420p",
            "-movflags", "+faststart", folder.file("a.mp4"),
        ])
        let data = try Data(contentsOf: URL(fileURLWithPath: folder.file("a.mp4")))
        try data.prefix(data.count / 2).write(to: URL(fileURLWithPath: folder.file("half.mp4")))
        let (_, sink, end) = try await MediaFileSourceTests.play(folder.file("half.mp4"))
        #expect(sink.video.count > 20 && sink.video.count < 110)
        guard case .endedEarly(let error) = end else {
            Issue.record("\(end)")
            return
        }
        #expect(error.code == .sourceUnreadable)
        // The index is at the end of an ordinary MP4: without it nothing can be played, which shows at once.
        try await MediaFileSourceTests.make(folder.file("b.mp4"), MediaFileSourceTests.x264 + ["-an"])
        let whole = try Data(contentsOf: URL(fileURLWithPath: folder.file("b.mp4")))
        try whole.prefix(whole.count / 2).write(to: URL(fileURLWithPath: folder.file("c.mp4")))
        #expect(Self.code(folder.file("c.mp4")) == .sourceUnreadable)
    }

    @Test(arguments: ["a.ts", "a.mkv", "a.avi"]) func damagedFilesDoNotStopThePlayer(name: String) async throws {
        let folder = try TestFolder()
        try await MediaFileSourceTests.make(
            folder.file(name), MediaFileSourceTests.x264 + ["-c:a", "mp2", "-g", "5"])
        var data = try Data(contentsOf: URL(fileURLWithPath: folder.file(name)))
        for index in stride(from: data.count / 3, to: data.count / 2, by: 97) { data[index] ^= 0xFF }
        try data.write(to: URL(fileURLWithPath: folder.file(name)))
        let (_, sink, _) = try await MediaFileSourceTests.play(folder.file(name))
        #expect(sink.video.count >= 8)
    }

    @Test func stopBeforeAndDuringARunEndsIt() async throws {
        let folder = try TestFolder()
        try await MediaFileSourceTests.make(folder.file("a.mp4"), MediaFileSourceTests.x264 + ["-c:a", "aac"])
        let early = try MediaFileSource(url: folder.file("a.mp4"))
        early.stop()
        guard case .stopped = await early.collect(start: MonotonicClock.now(), into: CollectingSink()) else {
            Issue.record("ran although it was stopped")
            return
        }
        let source = try MediaFileSource(url: folder.file("a.mp4"))
        let sink = CollectingSink(stopAfter: 3) { source.stop() }
        guard case .stopped = await source.collect(start: MonotonicClock.now(), into: sink) else {
            Issue.record("ended in another way")
            return
        }
        #expect(sink.video.count == 3)
    }
}
