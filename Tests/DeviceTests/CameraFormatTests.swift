import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// What comes out of real drivers, format by format.
@Suite(.serialized, .enabled(if: CameraBench.isHere, CameraBench.reason))
struct CameraFormatTests {
    /// As V4L2 names them, one of each kind: all that vivid has and that can be used.
    private static let formats = [
        "YUYV", "YVYU", "UYVY", "VYUY", "NV12", "NV21", "NV16", "NV61", "YU12", "YV12", "422P", "GREY", "BGR3", "RGB3",
        "XR24", "XB24", "BX24", "RX24", "RGBP",
    ]

    private func pictures(_ code: String, _ path: String) async throws -> (CameraCapture, [Picture]) {
        try await onThread { () throws in
            let pixels = try #require(CameraPixels(FourCC(code)))
            let camera = try CameraCapture(
                device: path, wish: CameraWish(width: 320, height: 180, frameRate: .fps30),
                options: CameraOptions(pixels: pixels))
            var kept: [Picture] = []
            try camera.run(until: MonotonicClock.now() + .seconds(30)) { (picture) throws(GantryError) in
                if let copy = CollectingSink.copy(picture) { kept.append(copy) }
                return kept.count < 2
            }
            return (camera, kept)
        }
    }

    /// vivid shows bars: white, yellow, cyan, green, magenta, red, blue, black, of 75 %.
    @Test(.timeLimit(.minutes(5)), arguments: formats) func barsHaveTheirColours(_ code: String) async throws {
        let (camera, pictures) = try await pictures(code, CameraBench.vivid)
        let picture = try #require(pictures.last)
        #expect((picture.width, picture.height) == (320, 180))
        #expect(CameraPixels(FourCC(code)) == camera.mode.pixels)
        // BT.601, limited: Y, Cb, Cr of the bars (SMPTE EG 1).
        let bars: [(Int, Int, Int)] = [
            (180, 128, 128), (162, 44, 142), (131, 156, 44), (112, 72, 58), (84, 184, 198), (65, 100, 212),
            (35, 212, 114),
            (16, 128, 128),
        ]
        // vivid's grey is the luma of BT.709 in full range.
        let greys = [191, 177, 150, 137, 54, 41, 14, 0]
        #expect(camera.color.isFullRange == (code == "GREY"))
        for (index, bar) in bars.enumerated() {
            // In the middle of the bar, below the text.
            let (x, y) = (index * 40 + 20, 150)
            let found = (
                Int(picture.plane(0)[y * picture.stride(0) + x]),
                Int(picture.plane(1)[y / 2 * picture.stride(1) + x / 2]),
                Int(picture.plane(2)[y / 2 * picture.stride(2) + x / 2])
            )
            let wanted = code == "GREY" ? (greys[index], 128, 128) : bar
            #expect(
                abs(found.0 - wanted.0) <= 9 && abs(found.1 - wanted.1) <= 9 && abs(found.2 - wanted.2) <= 9,
                "\(code) bar \(index): \(found) instead of \(wanted); \(camera.color)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func jpegCameras() async throws {
        let writer = try await CameraBench.show(
            "red", on: "/dev/video11", codec: ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"])
        defer { writer.signal(SIGKILL) }
        let error = try await CameraBench.failure {
            _ = try CameraSource(path: "/dev/video11", options: CameraOptions(delivery: .h264))
        }
        #expect(error?.code == .unsupportedCodec)
        #expect(error?.message.contains("MJPG") == true, "\(String(describing: error))")
        for delivery in [CameraDelivery.auto, .pictures] {
            let sink = try await run(CameraOptions(delivery: delivery)) { $0.pictures >= 5 }
            // Red in BT.601, full range.
            #expect(abs(sink.colour.y - 76) < 6 && abs(sink.colour.v - 255) < 6, "\(sink.colour)")
            #expect(sink.packets.isEmpty)
        }
        let sink = try await run(CameraOptions(delivery: .mjpeg)) { $0.packets.count >= 5 }
        #expect(sink.pictures == 0 && sink.codec == .mjpeg)
        #expect(sink.packets.allSatisfy { $0.isKey })
        #expect(sink.bytes.starts(with: [0xff, 0xd8]) && sink.bytes.suffix(2).elementsEqual([0xff, 0xd9]))
    }

    private func run(_ options: CameraOptions, until isEnough: @escaping @Sendable (CameraCounter.State) -> Bool)
        async throws -> CameraCounter.State
    {
        let source = try CameraSource(path: "/dev/video11", wish: CameraWish(width: 320, height: 240), options: options)
        #expect(
            (source.info.video?.codedAs != nil)
                == (options.delivery == .mjpeg || source.info.video?.codec == "h264" && options.delivery != .pictures))
        let sink = CameraCounter(wantsKey: true)
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.state.wait(.seconds(60), until: isEnough), "\(sink.state.value.pictures)")
        source.stop()
        _ = try await end
        return sink.state.value
    }

    @Test(.timeLimit(.minutes(5))) func h264Cameras() async throws {
        let writer = try await CameraBench.show(
            "blue", on: "/dev/video11",
            codec: [
                "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "10", "-pix_fmt", "yuv420p",
            ])
        defer { writer.signal(SIGKILL) }
        let decoded = try await run(CameraOptions(delivery: .pictures)) { $0.pictures >= 10 }
        // Blue in BT.601, limited.
        #expect(abs(decoded.colour.y - 41) < 8 && abs(decoded.colour.u - 240) < 8, "\(decoded.colour)")
        for delivery in [CameraDelivery.auto, .h264] {
            let passed = try await run(CameraOptions(delivery: delivery)) { state in
                state.packets.count >= 30 && state.packets.count { $0.isKey } >= 2
            }
            #expect(passed.pictures == 0 && passed.codec == .h264)
            #expect(zip(passed.packets, passed.packets.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
            #expect(zip(passed.packets, passed.packets.dropFirst()).allSatisfy { $0.captureTime <= $1.captureTime })
            try await isReadByFFprobe(passed.bytes)
        }
    }

    /// Another decoder reads it from the first key frame on.
    private func isReadByFFprobe(_ bytes: Data) async throws {
        let folder = try TestFolder()
        try bytes.write(to: URL(fileURLWithPath: folder.file("out.h264")))
        let probe = try await ToolRun.run(
            [
                "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
                "stream=codec_name,width,height,nb_read_frames", "-of", "csv=p=0", folder.file("out.h264"),
            ])
        let said = String(decoding: probe.output, as: UTF8.self)
        #expect(said.hasPrefix("h264,320,240,"), "\(said) \(probe.errorText)")
        let frames = said.split(separator: ",").last.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
        #expect(frames ?? 0 >= 15, "\(said)")
    }
}
