import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

@testable import GantryMedia

@Suite struct OutputTests {
    /// Vertical bars of one colour each, as Y, U, V.
    private func bars(_ colors: [(UInt8, UInt8, UInt8)], width: Int, height: Int, color: ColorDescription) -> Picture? {
        guard let picture = Picture(format: .i420, width: width, height: height, color: color) else { return nil }
        for plane in 0..<3 {
            for y in 0..<picture.rows(plane) {
                let count = picture.rowBytes(plane)
                for x in 0..<count {
                    let (luma, u, v) = colors[min(x * colors.count / count, colors.count - 1)]
                    picture.plane(plane)[y * picture.stride(plane) + x] = [luma, u, v][plane]
                }
            }
        }
        return picture
    }

    private func raw(_ picture: Picture) -> Data {
        var data = Data()
        for plane in 0..<3 {
            for row in 0..<picture.rows(plane) {
                data.append(picture.plane(plane) + row * picture.stride(plane), count: picture.rowBytes(plane))
            }
        }
        return data
    }

    /// Y, U, V of pure red, green, blue and white (from the definitions of the matrices), and what RGB must come out.
    private static let cases: [(ColorDescription, [(UInt8, UInt8, UInt8)])] = [
        (.bt709, [(63, 102, 240), (173, 42, 26), (32, 240, 118), (235, 128, 128)]),
        (.bt601, [(81, 90, 240), (145, 54, 34), (41, 240, 110), (235, 128, 128)]),
        (
            ColorDescription(primaries: 6, transfer: 6, matrix: 6, isFullRange: true),
            [(76, 85, 255), (150, 44, 21), (29, 255, 107), (255, 128, 128)]
        ),
    ]

    @Test(arguments: 0..<3) func aSnapshotHasTheRightColours(index: Int) async throws {
        let (color, values) = Self.cases[index]
        let folder = try TestFolder()
        let path = folder.file("s.png")
        // An odd size, and rows that are shorter than their stride.
        let picture = try #require(bars(values, width: 161, height: 91, color: color))
        try PNGSnapshot.write(picture, to: path)
        let rgb = try await Oracle.check(["convert", path, "-depth", "8", "rgb:-"]).output
        #expect(rgb.count == 161 * 91 * 3)
        let expected = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]
        for (bar, wanted) in expected.enumerated() {
            let at = (45 * 161 + bar * 40 + 20) * 3
            for channel in 0..<3 { #expect(abs(Int(rgb[at + channel]) - wanted[channel]) <= 4) }
        }
        // Nothing but the picture stays behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["s.png"])
    }

    @Test func aSnapshotKeepsOrReplacesWhatIsThere() throws {
        let folder = try TestFolder()
        let path = folder.file("s.png")
        let picture = try #require(Picture(format: .bgra, width: 8, height: 8))
        try PNGSnapshot.write(picture, to: path)
        let first = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: GantryError.self) { try PNGSnapshot.write(picture, to: path, overwrite: false) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == first)
        try PNGSnapshot.write(picture, to: path, overwrite: true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["s.png"])
        do throws(GantryError) {
            try PNGSnapshot.write(picture, to: folder.file("no/s.png"))
            Issue.record("a missing folder was not told")
        } catch {
            #expect(error.code == .outputNotWritable)
            #expect(error.message.contains("mkdir -p \(folder.file("no"))"))
            #expect(!error.message.contains(".part"))
        }
    }

    @Test(arguments: [(160, 90), (161, 91)]) func y4mIsWhatFFmpegReads(width: Int, height: Int) async throws {
        let folder = try TestFolder()
        let path = folder.file("v.y4m")
        let rate = try #require(FrameRate(30_000, 1001))
        let writer = Y4MWriter(output: try OutputFile(path: path, overwrite: false), rate: rate)
        var expected = Data()
        for round in 0..<5 {
            let values = [(UInt8(20 + round * 30), UInt8(90), UInt8(200)), (UInt8(200), UInt8(120), UInt8(40 + round))]
            let picture = try #require(bars(values, width: width, height: height, color: .bt709))
            expected.append(raw(picture))
            try writer.write(picture)
        }
        #expect(writer.frameCount == 5)
        let decoded = try await Oracle.check(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-"])
        #expect(decoded.output == expected)
        let probe = try await Oracle.check([
            "ffprobe", "-v", "error", "-show_entries", "stream=r_frame_rate,pix_fmt,color_range,chroma_location", "-of",
            "csv=p=0", path,
        ])
        #expect(probe.text == "yuv420p,tv,left,30000/1001\n")
        // Pictures of another size are made to fit, undistorted.
        for (otherWidth, otherHeight) in [(width / 2, height / 2), (2 * width, height + 3)] {
            let other = try #require(Picture(format: .i420, width: otherWidth, height: otherHeight))
            for (plane, value) in [UInt8(77), 111, 133].enumerated() {
                other.plane(plane).update(repeating: value, count: other.stride(plane) * other.rows(plane))
            }
            try writer.write(other)
        }
        let fitted = try await Oracle.check(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-"]).output
        let size = expected.count / 5
        #expect(fitted.count == 7 * size && fitted.prefix(expected.count) == expected)
        for frame in 5..<7 where fitted.count == 7 * size {
            let centre = fitted[frame * size + height / 2 * width + width / 2]
            #expect(abs(Int(centre) - 77) <= 1, "\(centre)")
        }
    }

    private func block(_ count: Int, at microseconds: Int64, value: Float) -> AudioBlock {
        let block = AudioBlock(capacity: max(1, count))
        block.count = count
        block.samples.update(repeating: value)
        block.presentationTime = MediaTimestamp(microseconds: microseconds)
        return block
    }

    private func samples(_ path: String) async throws -> [Int16] {
        let raw = try await Oracle.check(["ffmpeg", "-v", "error", "-i", path, "-f", "s16le", "-"])
        #expect(raw.errors.isEmpty)
        return raw.output.withUnsafeBytes { bytes in
            (0..<(bytes.count / 4)).map { bytes.load(fromByteOffset: $0 * 4, as: Int16.self) }
        }
    }

    @Test func wavKeepsInStepWithTheStamps() async throws {
        let folder = try TestFolder()
        let path = folder.file("a.wav")
        let writer = try WAVWriter(output: try OutputFile(path: path, overwrite: false))
        try writer.write(block(480, at: 1_000_000, value: 0.5))
        // 5 ms of jitter changes nothing, a gap of 90 ms is silence, an overlap of 50 ms is cut.
        try writer.write(block(480, at: 1_015_000, value: 0.5))
        try writer.write(block(480, at: 1_110_000, value: -0.5))
        try writer.write(block(4800, at: 1_070_000, value: 2))
        try writer.finish()
        let left = try await samples(path)
        let half = Int16(16_384)
        #expect(left.count == 8160)
        #expect(left[..<960].allSatisfy { $0 == half })
        #expect(left[960..<5280].allSatisfy { $0 == 0 })
        #expect(left[5280..<5760].allSatisfy { $0 == -half })
        #expect(left[5760...].allSatisfy { $0 == .max })
        #expect(writer.sampleCount == 8160)
    }

    /// To an earlier stamp, and to a later one: neither cut nor filled up. Afterwards it is in step again.
    @Test func wavFollowsAJump() async throws {
        let folder = try TestFolder()
        let path = folder.file("a.wav")
        let writer = try WAVWriter(output: try OutputFile(path: path, overwrite: false))
        for (time, value) in [(9_000_000, 0.5), (4_000_000, 0.25), (4_010_000, 0.25), (30_000_000, -0.5)]
            as [(Int64, Float)]
        {
            if time != 4_010_000 { writer.jump() }
            try writer.write(block(480, at: time, value: value))
        }
        try writer.write(block(480, at: 30_060_000, value: -0.5))
        try writer.finish()
        let left = try await samples(path)
        #expect(left.count == 4800)
        #expect(left[480..<1440].allSatisfy { $0 == 8192 })
        #expect(left[1440..<1920].allSatisfy { $0 == -16_384 })
        #expect(left[1920..<4320].allSatisfy { $0 == 0 } && left.last == -16_384)
    }

    @Test func wavStartsAtAGivenOriginAndSurvivesStrangeStampsAndSamples() async throws {
        let folder = try TestFolder()
        let path = folder.file("a.wav")
        let origin = MediaTimestamp(microseconds: 0)
        let writer = try WAVWriter(output: try OutputFile(path: path, overwrite: false), origin: origin)
        try writer.write(block(480, at: 500_000, value: .nan))
        try writer.write(block(480, at: .max, value: .infinity))
        try writer.write(block(480, at: .min, value: -.infinity))
        try writer.finish()
        let left = try await samples(path)
        #expect(left.count == 25_440)
        #expect(left[..<24_480].allSatisfy { $0 == 0 })
        #expect(left.last == .min)
    }

    @Test func wavPlaysWithoutFinish() async throws {
        let folder = try TestFolder()
        let path = folder.file("a.wav")
        let writer = try WAVWriter(output: try OutputFile(path: path, overwrite: false))
        for index in 0..<250 { try writer.write(block(480, at: Int64(index) * 10_000, value: 0.1)) }
        // The header is from the last whole second.
        let probe = try await Oracle.check([
            "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,sample_rate,channels,duration", "-of",
            "csv=p=0",
            path,
        ])
        #expect(probe.text == "pcm_s16le,48000,2,2.000000\n")
        try writer.finish()
        #expect(try await samples(path).count == 120_000)
    }

    @Test func wavToAPipeSaysThatItsLengthIsUnknown() async throws {
        var ends: [CInt] = [0, 0]
        #expect(pipe(&ends) == 0)
        let writer = try WAVWriter(output: OutputFile(takingOwnership: ends[1], path: "-"))
        try writer.write(block(480, at: 0, value: 0.25))
        try writer.finish()
        var bytes = [UInt8](repeating: 0, count: 44 + 1920)
        #expect(read(ends[0], &bytes, bytes.count) == bytes.count)
        close(ends[0])
        #expect(Array(bytes[40..<44]) == [0xff, 0xff, 0xff, 0xff])
        let judged = try await Oracle.check(
            ["ffmpeg", "-v", "quiet", "-i", "-", "-f", "s16le", "-"], input: Data(bytes))
        #expect(judged.output.count == 1920)
    }
}
