import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// Real drivers of the kernel, in the virtual machine of `scripts/vm --tests`.
@Suite(
    .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["GANTRY_VM"] == "1",
        "needs devices that this machine may not have: run them in a virtual machine with scripts/vm --tests"))
struct CameraTests {
    /// Plugged in again, it may have another number.
    private static var vivid: String {
        let names = "/sys/class/video4linux"
        let all = (try? FileManager.default.contentsOfDirectory(atPath: names)) ?? []
        let node = all.sorted().first { node in
            (try? String(contentsOfFile: "\(names)/\(node)/name", encoding: .utf8))?.hasPrefix("vivid") == true
        }
        return "/dev/" + (node ?? "video0")
    }
    private static let code =
        "GANTRY:1/ABCDEFGHIJKLM2345672ABCDEFGHIJKLM2345672ABCDEFGHIJKQ/QRSTUVWXYZ234QRSTUVWXYZ234"

    /// Lets ffmpeg show a picture of the code, over and over, as a camera on v4l2loopback.
    private func show(_ folder: TestFolder, on device: String, codec: [String]) async throws -> ToolRun {
        try QRImage.writePNG(try QRCode(Self.code), to: folder.file("c.png"), moduleSize: 8)
        let writer = try ToolRun(
            [
                "ffmpeg", "-v", "error", "-nostdin", "-progress", "pipe:1", "-re", "-loop", "1", "-framerate", "5",
                "-i",
                folder.file("c.png"), "-vf", "pad=640:480:(ow-iw)/2:(oh-ih)/2:gray",
            ] + codec + ["-f", "v4l2", device])
        // The writer's format is the reader's: there is none before it has begun.
        let isThere = try await writer.state.wait { state in
            state.outputEnded
                || state.lines.contains { $0.hasPrefix("frame=") && (Int($0.dropFirst(6)) ?? 0) > 1 }
        }
        #expect(isThere && !writer.state.value.outputEnded, "\(writer.state.value.errorText)")
        return writer
    }

    private func scan(_ device: String, seconds: Int64, cancel: EventDescriptor) async throws -> String {
        try await onThread {
            try CameraScanner.scan(device: device, until: MonotonicClock.now() + .seconds(seconds), cancel: cancel)
        }
    }

    private func failure(_ body: () async throws -> Void) async throws -> GantryError? {
        do {
            try await body()
            return nil
        } catch let error as GantryError { return error }
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [["-pix_fmt", "yuyv422"], ["-pix_fmt", "yuv420p"], ["-c:v", "mjpeg", "-pix_fmt", "yuvj422p"]])
    func theCodeIsFound(codec: [String]) async throws {
        let folder = try TestFolder()
        let writer = try await show(folder, on: "/dev/video11", codec: codec)
        #expect(try await scan("/dev/video11", seconds: 120, cancel: try EventDescriptor()) == Self.code)
        // ffmpeg may be stuck in the driver, whose reader has gone.
        writer.signal(SIGKILL)
        _ = try await writer.end()
    }

    @Test(.timeLimit(.minutes(5))) func picturesHaveTheStampsOfTheDriver() async throws {
        let (stamps, mode) = try await onThread { () -> ([MediaTimestamp], CameraMode) in
            let camera = try CameraCapture(
                device: Self.vivid, wish: CameraWish(width: 320, height: 180, frameRate: .fps30))
            var stamps: [MediaTimestamp] = []
            try camera.run(until: MonotonicClock.now() + .seconds(60)) { (picture) throws(GantryError) in
                #expect((picture.width, picture.height) == (camera.mode.width, camera.mode.height))
                #expect(picture.captureTime <= MonotonicClock.now())
                stamps.append(picture.captureTime)
                return stamps.count < 20
            }
            return (stamps, camera.mode)
        }
        #expect(stamps.count == 20)
        #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
        #expect((mode.width, mode.height) == (320, 180))
        #expect(mode.frameRate == .fps30)
    }

    @Test(.timeLimit(.minutes(5))) func nothingInSightEndsAtTheDeadline() async throws {
        let error = try await failure { _ = try await scan(Self.vivid, seconds: 2, cancel: try EventDescriptor()) }
        #expect(error?.code == .timeout)
    }

    @Test(.timeLimit(.minutes(5))) func scanningCanBeCancelled() async throws {
        let cancel = try EventDescriptor()
        let error = try await failure {
            _ = try await onThread {
                try CameraScanner.scan(
                    device: Self.vivid, until: MonotonicClock.now() + .seconds(200), cancel: cancel,
                    progress: { _ in cancel.signal() })
            }
        }
        #expect(error?.code == .cancelled)
    }

    @Test(.timeLimit(.minutes(5))) func aBusyCameraIsSaid() async throws {
        let first = try CameraCapture(device: Self.vivid)
        let error = try await failure { _ = try await scan(Self.vivid, seconds: 2, cancel: try EventDescriptor()) }
        #expect(error?.code == .sourceBusy)
        #expect(error?.message.contains("this very program") == true, "\(String(describing: error))")
        withExtendedLifetime(first) {}
    }

    @Test(.timeLimit(.minutes(5))) func aCameraOfOthersIsSaid() async throws {
        let run = try await ToolRun.run(
            [
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                ToolRun.folder + "/gantry-producer",
                "--state-dir", "/tmp/gantry-nobody-\(UUID().uuidString)", "pair", "--camera", Self.vivid,
            ])
        #expect(run.status != 0)
        #expect(run.errorText.contains("usermod -aG video"), "\(run.errorText)")
    }

    @Test(.timeLimit(.minutes(5))) func aLoopbackWithoutAWriterIsSaid() async throws {
        let error = try await failure {
            _ = try await scan("/dev/video11", seconds: 60, cancel: try EventDescriptor())
        }
        #expect([.sourceSilent, .unsupportedCodec].contains(error?.code))
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["inject_fatal_streaming_error"]) func aFailingDriverEndsIt(
        _ fault: String
    )
        async throws
    {
        let error = try await failure {
            _ = try await onThread {
                let camera = try CameraCapture(device: Self.vivid, wish: CameraWish(width: 320, height: 180))
                var count = 0
                try camera.run(until: MonotonicClock.now() + .seconds(60)) { (_) throws(GantryError) in
                    count += 1
                    if count == 3 { Self.control(fault) }
                    return true
                }
            }
        }
        #expect(error?.code == .sourceLost)
    }

    private static func control(_ name: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["v4l2-ctl", "-d", vivid, "-c", "\(name)=1"]
        try? process.runUnblocked()
        process.waitUntilExit()
    }

    /// Counts pictures, and does something at one of them.
    private final class CountingSink: MediaSink, @unchecked Sendable {  // `at` is set in `init`.
        let count = Watched(0)
        private let at: (Int, @Sendable () -> Void)

        init(at number: Int, _ body: @escaping @Sendable () -> Void) { at = (number, body) }

        func video(_ picture: Picture) {
            count.change { $0 += 1 }
            if count.value == at.0 { at.1() }
        }
        func audio(_ block: AudioBlock) {}
        func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }
    }

    /// A driver that fails, and a camera that is unplugged and plugged in again while it is being used.
    @Test(.timeLimit(.minutes(5)), arguments: ["inject_fatal_streaming_error", "unplug"])
    func aCameraComesBackByItself(_ fault: String) async throws {
        let source = try CameraSource(
            path: Self.vivid, wish: CameraWish(width: 320, height: 180, frameRate: .fps30))
        #expect(source.info.video?.width == 320)
        let sink = CountingSink(at: 5) {
            guard fault == "unplug" else { return Self.control(fault) }
            let driver = "/sys/bus/platform/drivers/vivid"
            try? "vivid.0".write(toFile: driver + "/unbind", atomically: false, encoding: .utf8)
            try? "vivid.0".write(toFile: driver + "/bind", atomically: false, encoding: .utf8)
        }
        async let end = onThread { source.run(start: MonotonicClock.now(), sink: sink) }
        #expect(try await sink.count.wait(.seconds(60)) { $0 >= 15 })
        source.stop()
        guard case .stopped = try await end else {
            Issue.record("it ended by itself")
            return
        }
    }

    /// The last one: unplugged as a USB camera is, and plugged in again.
    @Test(.timeLimit(.minutes(5))) func anUnpluggedCameraIsSaid() async throws {
        let driver = "/sys/bus/platform/drivers/vivid"
        let path = Self.vivid
        let error = try await failure {
            _ = try await onThread {
                let camera = try CameraCapture(device: path, wish: CameraWish(width: 320, height: 180))
                var count = 0
                try camera.run(until: MonotonicClock.now() + .seconds(60)) { (_) throws(GantryError) in
                    count += 1
                    if count == 3 {
                        try? "vivid.0".write(toFile: driver + "/unbind", atomically: false, encoding: .utf8)
                    }
                    return true
                }
            }
        }
        #expect(error?.code == .sourceLost)
        #expect(error?.message.contains("unplugged") == true, "\(String(describing: error))")
        let gone = try await failure { _ = try await scan(path, seconds: 2, cancel: try EventDescriptor()) }
        #expect(gone?.code == .sourceNotFound)
        #expect(gone?.message.contains("/dev/video11") == true)
        try "vivid.0".write(toFile: driver + "/bind", atomically: false, encoding: .utf8)
    }
}
