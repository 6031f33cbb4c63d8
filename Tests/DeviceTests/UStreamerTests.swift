import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

/// µStreamer reads nothing but V4L2: it is compared here, and not in `scripts/bench compare`. Started by `scripts/bench ustreamer`.
@Suite(
    .serialized,
    .enabled(
        if: CameraChain.hasReleaseTools && FileManager.default.isExecutableFile(atPath: "/usr/bin/ustreamer"),
        "needs ustreamer and release tools: scripts/bench ustreamer"))
struct UStreamerTests {
    private static let rate: Int64 = 25
    private static let (width, height) = (640, 360)
    private static let pictures = 250

    /// The same camera through each, in turn, to a program that reads the time code from raw pictures on a pipe.
    @Test(.timeLimit(.minutes(5))) func latencyBesideUStreamer() async throws {
        let layout = try #require(VirtualCameraLayout(width: Self.width, height: Self.height))
        let camera = try VirtualCamera(
            VirtualCameraWish(
                device: CameraChain.stage, layout: layout, frameRate: try #require(FrameRate(UInt32(Self.rate)))))
        defer { camera.close() }
        let pictures = StampingCamera(camera, rate: Self.rate)
        defer { pictures.stop() }
        for _ in 0..<2 {
            let gantry = try await throughGantry()
            let other = try await throughUStreamer()
            print("camera to raw pictures on a pipe, ms: Gantry \(gantry); ustreamer and ffmpeg \(other)")
        }
    }

    private func throughGantry() async throws -> String {
        let chain = try await CameraChain()
        let size = "\(Self.width)x\(Self.height)"
        let producer = try await chain.produce([CameraChain.stage, "--size", size, "--fps", "\(Self.rate)"])
        let studio = try ToolRun(
            [
                "gantry-studio", "--state-dir", chain.folder.file("studio"), "receive", "127.0.0.1:" + chain.port,
                "--no-audio",
                "--y4m", "-",
            ], output: .pipe)
        let times = try await latencies(of: studio)
        studio.signal(SIGINT)
        #expect(try await studio.end().status == 0)
        try await CameraChain.stop(producer)
        return times
    }

    private func throughUStreamer() async throws -> String {
        let port = String(try LoopbackSocket.freePort())
        let server = try ToolRun([
            "ustreamer", "--device", CameraChain.stage, "--format", "YUYV", "--resolution",
            "\(Self.width)x\(Self.height)", "--desired-fps",
            "\(Self.rate)", "--host", "127.0.0.1", "--port", port, "--tcp-nodelay", "--workers", "2", "--buffers", "2",
        ])
        _ = try await server.state.wait { $0.errorText.contains("Listening HTTP") || $0.status != nil }
        let reader = try ToolRun(
            [
                "ffmpeg", "-hide_banner", "-loglevel", "error", "-fflags", "nobuffer", "-flags", "low_delay",
                "-probesize", "32",
                "-analyzeduration", "0", "-threads", "1", "-f", "mpjpeg", "-i", "http://127.0.0.1:\(port)/stream",
                "-pix_fmt",
                "yuv420p", "-fps_mode", "passthrough", "-flush_packets", "1", "-f", "yuv4mpegpipe", "-",
            ], output: .pipe)
        let times = try await latencies(of: reader)
        reader.signal(SIGKILL)
        server.signal(SIGTERM)
        _ = try await server.end()
        return times
    }

    /// The first pictures do not count.
    private func latencies(of run: ToolRun) async throws -> String {
        let reader = try #require(run.reader)
        let times = try await onThread {
            let source = try Y4MSource(descriptor: reader.fileDescriptor)
            let log = TimeCodeLog(after: 25, count: Self.pictures) { source.stop() }
            _ = source.run(start: MediaTimestamp(microseconds: 0), sink: log)
            return log.milliseconds.value.sorted()
        }
        #expect(times.count == Self.pictures, "\(run.state.value.errorText)")
        guard let most = times.last else { return "nothing" }
        return [50, 95].map { "p\($0) \(fixed(times[(times.count - 1) * $0 / 100]))" }.joined(separator: ", ")
            + ", most \(fixed(most))"
    }

    private func fixed(_ value: Double) -> String { String(format: "%.1f", value) }
}

/// How old each picture is by its time code when it comes.
private final class TimeCodeLog: MediaSink {
    let milliseconds = Watched([Double]())
    private let seen = Watched(0)
    private let first: Int
    private let count: Int
    private let full: @Sendable () -> Void

    init(after first: Int, count: Int, full: @escaping @Sendable () -> Void) {
        self.first = first
        self.count = count
        self.full = full
    }

    func video(_ picture: Picture) {
        guard let code = TimeCode.read(from: picture) else { return }
        let age = Double((picture.captureTime - code.capture).microseconds) / 1000
        seen.change { $0 += 1 }
        guard seen.value > first else { return }
        milliseconds.change { if $0.count < count { $0.append(age) } }
        if milliseconds.value.count == count { full() }
    }

    func coded(_ packet: MediaPacket) -> Bool { false }
    func audio(_ block: AudioBlock) {}
    func soundChanged(isThere: Bool) {}
    func waitForRoom(until deadline: MediaTimestamp) -> Bool { true }
}
