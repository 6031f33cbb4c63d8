import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import StudioKit
import Testing

/// v4l2loopback of the kernel, with the readers that people use, in the virtual machine of `scripts/vm --tests`.
///
/// `/dev/video10` has exclusive_caps, `/dev/video11` has not.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct VirtualCameraTests {
    static let devices = ["/dev/video10", "/dev/video11"]
    static let (width, height) = (320, 180)

    static func wish(_ device: String?, _ width: Int = width, _ height: Int = height) throws -> VirtualCameraWish {
        VirtualCameraWish(device: device, layout: try #require(VirtualCameraLayout(width: width, height: height)))
    }

    static func camera(_ device: String?) throws -> VirtualCamera {
        try VirtualCamera(try wish(device), card: card)
    }

    static let card = VirtualCameraCard(detail: "Waiting for TEST…")

    /// Four colours, and a bright edge on all sides.
    static func picture(_ width: Int = width, _ height: Int = height, luma: UInt8 = 0) throws -> Picture {
        let picture = try #require(Picture(format: .i420, width: width, height: height, color: .bt601))
        for y in 0..<height {
            for x in 0..<width {
                let part = (x < width / 2 ? 0 : 1) + (y < height / 2 ? 0 : 2)
                picture.plane(0)[y * picture.stride(0) + x] = luma > 0 ? luma : [81, 145, 41, 210][part]
                picture.plane(1)[y / 2 * picture.stride(1) + x / 2] = luma > 0 ? 128 : [90, 54, 240, 16][part]
                picture.plane(2)[y / 2 * picture.stride(2) + x / 2] = luma > 0 ? 128 : [240, 34, 110, 146][part]
            }
        }
        return picture
    }

    /// What a reader must get: I420, tight.
    static func planes(_ picture: Picture) -> Data {
        var data = Data()
        for plane in 0..<3 {
            for row in 0..<picture.rows(plane) {
                data.append(picture.plane(plane) + row * picture.stride(plane), count: picture.rowBytes(plane))
            }
        }
        return data
    }

    static func cardPlanes(_ width: Int = width, _ height: Int = height) throws -> Data {
        let picture = try #require(Picture(format: .i420, width: width, height: height, color: .bt601))
        card.draw(on: picture)
        return planes(picture)
    }

    /// Shows a picture again and again until the object is let go.
    final class Stream: Sendable {
        private let isOver = Watched(false)

        init(_ camera: VirtualCamera, _ picture: Picture) {
            let isOver = isOver
            Thread.detachNewThread {
                while !isOver.value {
                    camera.show(picture)
                    isOver.waitBlocking(.milliseconds(100)) { $0 }
                }
            }
        }

        deinit { isOver.change { $0 = true } }
        func stop() { isOver.change { $0 = true } }
    }

    /// The largest difference of a sample.
    static func difference(_ a: Data, _ b: Data) -> Int {
        guard a.count == b.count else { return 256 }
        return zip(a, b).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
    }

    /// Commands that read `count` pictures of a camera as I420 on standard output.
    static func reader(_ name: String, _ device: String, count: Int) -> [String] {
        switch name {
        case "ffmpeg":
            [
                "ffmpeg", "-v", "error", "-nostdin", "-f", "v4l2", "-i", device, "-frames:v", "\(count)", "-fps_mode",
                "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-",
            ]
        case "v4l2-ctl":
            ["v4l2-ctl", "-d", device, "--stream-mmap", "--stream-count=\(count)", "--stream-to=-"]
        default:
            [
                "gst-launch-1.0", "-q", "v4l2src", "device=\(device)", "num-buffers=\(count)", "!", "videoconvert", "!",
                "video/x-raw,format=I420", "!", "fdsink", "fd=1",
            ]
        }
    }

    /// The pictures that a reader has put out, each as I420.
    static func pictures(_ name: String, _ output: Data, _ width: Int = width, _ height: Int = height) -> [Data] {
        let luma = width * height
        let size = name == "v4l2-ctl" ? luma * 2 : luma * 3 / 2
        return (0..<output.count / size).map { index in
            let bytes = [UInt8](output[(index * size)..<((index + 1) * size)])
            guard name == "v4l2-ctl" else { return Data(bytes) }
            // YUYV, whose rows of chroma are ours twice.
            var planes = Data((0..<luma).map { bytes[$0 * 2] })
            for offset in [1, 3] {
                for y in stride(from: 0, to: height, by: 2) {
                    for x in stride(from: 0, to: width, by: 2) { planes.append(bytes[(y * width + x) * 2 + offset]) }
                }
            }
            return planes
        }
    }

    /// Reads with a program and returns its pictures.
    private static func read(_ name: String, _ device: String, count: Int) async throws -> [Data] {
        let state = try await ToolRun(reader(name, device, count: count)).end()
        #expect(state.status == 0, "\(name): \(state.errorText)")
        return pictures(name, state.output)
    }

    // MARK: Readers

    @Test(.timeLimit(.minutes(5)), arguments: devices, ["ffmpeg", "v4l2-ctl", "gst-launch"])
    func readersSeeTheCardThenThePictures(device: String, reader: String) async throws {
        let camera = try Self.camera(device)
        defer { camera.close() }
        let cards = try await Self.read(reader, device, count: 2)
        #expect(cards.count == 2)
        #expect(try Self.difference(try #require(cards.last), Self.cardPlanes()) <= 2)
        let picture = try Self.picture()
        let stream = Stream(camera, picture)
        let pictures = try await Self.read(reader, device, count: 6)
        #expect(pictures.count == 6)
        #expect(Self.difference(try #require(pictures.last), Self.planes(picture)) <= 2)
        stream.stop()
    }

    /// The reader has the device open and waits for a camera to come up, or for pictures.
    @Test(.timeLimit(.minutes(5)), arguments: devices) func aReaderMayBeThereFirst(device: String) async throws {
        let script = """
            until v4l2-ctl -d \(device) --get-fmt-video 2>/dev/null | grep -q YUYV; do sleep 0.2; done
            exec \(Self.reader("ffmpeg", device, count: 4).joined(separator: " "))
            """
        let reader = try ToolRun(["bash", "-c", script])
        let camera = try Self.camera(device)
        defer { camera.close() }
        let state = try await reader.end()
        #expect(state.status == 0, "\(state.errorText)")
        let pictures = Self.pictures("ffmpeg", state.output)
        #expect(pictures.count == 4)
        #expect(try Self.difference(try #require(pictures.last), Self.cardPlanes()) <= 2)
    }

    @Test(.timeLimit(.minutes(10)), arguments: devices) func readersComeAndGo(device: String) async throws {
        let camera = try Self.camera(device)
        defer { camera.close() }
        let picture = try Self.picture()
        let stream = Stream(camera, picture)
        for round in 0..<10 {
            let reader = try ToolRun(Self.reader("v4l2-ctl", device, count: round % 2 == 0 ? 3 : 100_000))
            if round % 2 == 0 {
                let state = try await reader.end()
                let last = Self.pictures("v4l2-ctl", state.output).last
                #expect(Self.difference(last ?? Data(), Self.planes(picture)) <= 2, "round \(round)")
            } else {
                #expect(try await reader.state.wait { $0.output.count > 3 * Self.width * Self.height * 2 })
                reader.signal(SIGKILL)
                _ = try await reader.end()
            }
        }
        stream.stop()
        #expect(camera.statistics.losses == 0)
    }

    /// Black beside a picture of another shape; it lies in the middle.
    @Test(.timeLimit(.minutes(5))) func otherShapesAreShownWhole() async throws {
        let camera = try Self.camera(Self.devices[0])
        defer { camera.close() }
        let stream = Stream(camera, try Self.picture(240, 180, luma: 200))
        #expect(
            try await onThread {
                while camera.statistics.written < 3 { usleep(20_000) }
                return true
            })
        let pictures = try await Self.read("ffmpeg", Self.devices[0], count: 3)
        let last = [UInt8](try #require(pictures.last))
        for y in [0, 90, 179] {
            let row = last[(y * Self.width)..<((y + 1) * Self.width)].map(Int.init)
            let inside = row.indices.filter { row[$0] > 100 }
            #expect(inside.first == 40 && inside.last == 279 && inside.count == 240)
            #expect(row[0] == 16 && row[319] == 16)
        }
        stream.stop()
    }

    /// Before, between and after streams; what is said on the card changes.
    @Test(.timeLimit(.minutes(5))) func theCardIsShownWheneverThereIsNoPicture() async throws {
        let device = Self.devices[1]
        let camera = try Self.camera(device)
        let output = VirtualCameraOutput(camera)
        let picture = try Self.picture()
        for _ in 0..<2 {
            let stream = Stream(camera, picture)
            let shown = try await Self.read("ffmpeg", device, count: 5)
            #expect(Self.difference(shown.last ?? Data(), Self.planes(picture)) <= 2)
            stream.stop()
            output.videoEnded()
            // Two pictures may lie in the device's buffers.
            let card = try await Self.read("ffmpeg", device, count: 10)
            #expect(try Self.difference(card.last ?? Data(), Self.cardPlanes()) <= 2)
        }
        output.say("TEST has paused")
        let other = try await Self.read("ffmpeg", device, count: 10)
        #expect(try Self.difference(other.last ?? Data(), Self.cardPlanes()) > 50)
        output.close()
    }
}
