import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

@Suite struct CameraPicturesTests {
    private static let names: [(CameraPixels, String)] = [
        (.yuyv, "yuyv422"), (.uyvy, "uyvy422"), (.nv12, "nv12"), (.nv21, "nv21"), (.yu12, "yuv420p"),
        (.bgr24, "bgr24"), (.rgb24, "rgb24"), (.bgrx32, "bgr0"), (.rgbx32, "rgb0"), (.xrgb32, "0rgb"), (.grey, "gray"),
        (.yvyu, "yvyu422"), (.nv16, "yuv422p"), (.nv61, "yuv422p"), (.yuv422p, "yuv422p"), (.xbgr32, "0bgr"),
        (.rgb565, "rgb565le"),
    ]

    /// FFmpeg makes the camera's bytes, and what should come of them.
    @Test(arguments: names) func everyFormatBecomesI420(_ pixels: CameraPixels, _ name: String) async throws {
        let (width, height) = (64, 48)
        let source = [
            "-f", "lavfi", "-i", "testsrc2=s=64x48:r=1,format=\(pixels.isRGB ? "bgr0" : name)", "-frames:v", "1",
        ]
        var bytes = [UInt8](try await FFmpegTool.ffmpeg(source + ["-pix_fmt", name, "-f", "rawvideo", "-"]))
        // FFmpeg has no NV16 here: its colours, one beside the other.
        if pixels == .nv16 || pixels == .nv61 { bytes = interleaved(bytes, width, height, isSwapped: pixels == .nv61) }
        let wanted = try await FFmpegTool.ffmpeg(
            source + ["-vf", "scale=out_range=tv:flags=accurate_rnd", "-pix_fmt", "yuv420p", "-f", "rawvideo", "-"])
        let picture = try converted(pixels, width, height, bytes)
        var difference = (luma: 0, chroma: 0)
        for y in 0..<height {
            for x in 0..<width {
                difference.luma += abs(Int(picture.plane(0)[y * picture.stride(0) + x]) - Int(wanted[y * width + x]))
            }
        }
        for plane in 1...2 {
            let start = width * height + (plane - 1) * width * height / 4
            for y in 0..<(height / 2) {
                for x in 0..<(width / 2) {
                    let sample = Int(picture.plane(plane)[y * picture.stride(plane) + x])
                    difference.chroma += abs(sample - Int(wanted[start + y * width / 2 + x]))
                }
            }
        }
        // Grey from a camera is limited already; FFmpeg takes it for full.
        if pixels != .grey { #expect(Double(difference.luma) / Double(width * height) < 1.5, "\(difference)") }
        #expect(Double(difference.chroma) / Double(width * height / 2) < 4, "\(difference)")
    }

    private func interleaved(_ bytes: [UInt8], _ width: Int, _ height: Int, isSwapped: Bool) -> [UInt8] {
        let (luma, chroma) = (width * height, width * height / 2)
        return bytes.prefix(luma)
            + (0..<chroma).flatMap { index in
                let (u, v) = (bytes[luma + index], bytes[luma + chroma + index])
                return isSwapped ? [v, u] : [u, v]
            }
    }

    private func converted(_ pixels: CameraPixels, _ width: Int, _ height: Int, _ bytes: [UInt8], stride: Int = 0)
        throws
        -> Picture
    {
        let pictures = try #require(
            try CameraPictures(pixels: pixels, width: width, height: height, stride: stride, color: .bt601))
        return try bytes.withUnsafeBytes { bytes in
            guard case .picture(let picture) = try pictures.convert(bytes) else {
                throw Oracle.Failure(text: "no picture of \(pixels)")
            }
            return picture
        }
    }

    @Test func aJPEGBecomesAPicture() async throws {
        let jpeg = try await FFmpegTool.ffmpeg(
            ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=1", "-frames:v", "1", "-f", "mjpeg", "-"])
        let picture = try converted(.mjpeg, 64, 48, [UInt8](jpeg))
        #expect((picture.width, picture.height) == (64, 48))
        #expect(picture.color.isFullRange)
        let pictures = try #require(
            try CameraPictures(pixels: .mjpeg, width: 64, height: 48, stride: 0, color: .bt601))
        // Half a JPEG, none at all, nothing, and one of another size.
        for bytes in [[UInt8](jpeg.prefix(200)), [1, 2, 3], []] {
            let outcome = try bytes.withUnsafeBytes { try pictures.convert($0) }
            guard case .damaged = outcome else { throw Oracle.Failure(text: "\(bytes.count) bytes gave \(outcome)") }
        }
        #expect(throws: (any Error).self) { try converted(.mjpeg, 640, 480, [UInt8](jpeg)) }
    }

    @Test(arguments: CameraPixels.allCases.filter { $0.codec == nil })
    func shortBuffersAreDamaged(
        _ pixels: CameraPixels
    )
        throws
    {
        for (width, height, padding) in [(64, 48, 0), (64, 48, 32), (63, 47, 0), (17, 17, 5)] {
            let stride = (pixels.rowBytes(width: width) + padding + 1) & ~1
            let pictures = try #require(
                try CameraPictures(pixels: pixels, width: width, height: height, stride: stride, color: .bt601))
            let count = pixels.pictureBytes(width: width, height: height, stride: stride)
            // Memory of exactly that size: the address sanitizer sees a read beyond it.
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
            defer { bytes.deallocate() }
            bytes.initializeMemory(as: UInt8.self, repeating: 128)
            guard case .picture(let picture) = try pictures.convert(UnsafeRawBufferPointer(bytes)) else {
                throw Oracle.Failure(text: "no picture of \(pixels)")
            }
            #expect((picture.width, picture.height) == (width & ~1, height & ~1))
            let short = UnsafeRawBufferPointer(rebasing: bytes[..<(count - 1)])
            guard case .damaged = try pictures.convert(short) else {
                throw Oracle.Failure(text: "\(pixels) was taken from too few bytes")
            }
        }
    }

    @Test func impossibleLayoutsAreRefused() throws {
        for (width, height, stride) in [(0, 0, 0), (64, 8193, 0), (64, 48, 63), (64, 48, Int.max), (8, 8, 0)] {
            #expect(
                try CameraPictures(pixels: .yu12, width: width, height: height, stride: stride, color: .bt601) == nil)
        }
    }

    @Test func aFullPoolIsSaid() throws {
        let pictures = try #require(
            try CameraPictures(pixels: .grey, width: 16, height: 16, stride: 16, color: .bt601))
        var held: [Picture] = []
        try [UInt8](repeating: 1, count: 256).withUnsafeBytes { bytes in
            while case .picture(let picture) = try pictures.convert(bytes), held.count < 100 { held.append(picture) }
            #expect(held.count == 6)
            held.removeAll()
            guard case .picture = try pictures.convert(bytes) else { throw Oracle.Failure(text: "the pool is lost") }
        }
    }

    private func failure(_ path: String) -> GantryError? {
        do throws(GantryError) {
            _ = try CameraCapture(device: path)
            return nil
        } catch {
            return error
        }
    }

    @Test func whatIsNoCameraIsSaid() throws {
        #expect(failure("/dev/video-that-is-not-there")?.code == .sourceNotFound)
        #expect(failure("/dev/null")?.code == .sourceUnreadable)
        let folder = try TestFolder()
        #expect(failure(folder.path)?.code == .sourceUnreadable)
        try "text".write(toFile: folder.file("f"), atomically: true, encoding: .utf8)
        #expect(failure(folder.file("f"))?.message.contains("not a camera") == true)
        for name in ["video10", "video2", "video", "videotape", "other"] {
            try "".write(toFile: folder.file(name), atomically: true, encoding: .utf8)
        }
        #expect(CameraFailure.devices(in: folder.path) == [folder.file("video2"), folder.file("video10")])
    }
}
