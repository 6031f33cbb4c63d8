import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

/// The whole way, with the real tools: camera, producer, studio, virtual camera, another program.
@Suite(.serialized, .enabled(if: CameraBench.isHere, CameraBench.reason))
struct CameraPathTests {
    // MARK: Rate

    /// v4l2-ctl's account of a camera: number and distance from the one before of each picture.
    private static func account(_ text: String) -> [(number: Int, milliseconds: Double?)] {
        text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ").map(String.init)
            func after(_ word: String) -> String? {
                words.firstIndex(of: word).flatMap { words.indices.contains($0 + 1) ? words[$0 + 1] : nil }
            }
            guard let number = after("seq:").flatMap({ Int($0) }) else { return nil }
            return (number, after("delta:").flatMap { Double($0) })
        }
    }

    /// 640x480 at 25 pictures a second; `GANTRY_CAMERA_SECONDS` makes it longer. The rate itself is judged with
    /// `scripts/vm --steady` only: without it, the machine is too slow as soon as this one is busy.
    @Test(.timeLimit(.minutes(10)), .enabled(if: CameraChain.hasReleaseTools, CameraChain.needsReleaseTools))
    func theRateIsKeptWithoutALoss() async throws {
        let chain = try await CameraChain()
        let producer = try await chain.produce([CameraBench.vivid, "--size", "640x480", "--fps", "25"])
        let studio = try chain.receive("640x480")
        try await studio.line(containing: "\"firstFrame\"")
        try await onThread { MonotonicClock.sleep(until: MonotonicClock.now() + .seconds(2)) }
        let count = CameraChain.seconds * 25
        let reader = try await Oracle.check([
            "timeout", "\(CameraChain.seconds + 60)", "v4l2-ctl", "-d", CameraChain.screen, "--stream-mmap=4",
            "--stream-count=\(count)", "--verbose",
        ])
        let received = try await CameraChain.stop(studio)
        let sent = try await CameraChain.stop(producer)
        print("studio: \(received)\nproducer: \(sent)")
        let seen = Self.account(reader.errors + reader.text)
        let gaps = zip(seen, seen.dropFirst()).count { $1.number != $0.number + 1 }
        let times = seen.dropFirst().compactMap(\.milliseconds)
        let rate = Double(times.count) * 1000 / times.reduce(0, +)
        print("reader: \(seen.count) pictures, \(gaps) gaps, \(rate) a second, longest \(times.max() ?? 0) ms")
        #expect(seen.count == count, "\((reader.errors + reader.text).prefix(2000))")
        // What was sent has arrived and was shown, however slow the machine is.
        let camera = try #require(received["virtualCamera"] as? [String: Any])
        for name in ["framesLost", "framesDropped"] { #expect(received[name] as? Int == 0) }
        let (written, dropped) = (camera["written"] as? Int ?? 0, camera["dropped"] as? Int ?? 0)
        #expect(camera["losses"] as? Int == 0)
        #expect(written + dropped == received["framesDecoded"] as? Int)
        let source = try #require(sent["camera"] as? [String: Any])
        for name in ["damaged", "dropped"] { #expect(source[name] as? Int == 0) }
        // Everything, where the machine's clock waits for its work.
        if CameraChain.isSteady {
            // A missing picture would be 80 ms without one. The module's numbers may jump once, where the reader begins.
            #expect(gaps <= 1 && dropped == 0 && times.max() ?? 1000 < 60)
            #expect((24.9...25.1).contains(rate))
            for name in ["framesReplaced", "framesSkipped"] { #expect(sent[name] as? Int == 0) }
            for name in ["lost", "skipped"] { #expect(source[name] as? Int == 0) }
        }
        withExtendedLifetime(chain) {}
    }

    // MARK: Latency

    /// From the moment that a camera draws a picture to that at which a program has read it from the virtual camera.
    @Test(.timeLimit(.minutes(5))) func latencyByTheTimeCode() async throws {
        let rate: Int64 = CameraChain.hasReleaseTools ? 25 : 5
        let layout = try #require(VirtualCameraLayout(width: 320, height: 180))
        let camera = try VirtualCamera(
            VirtualCameraWish(
                device: CameraChain.stage, layout: layout, frameRate: try #require(FrameRate(UInt32(rate)))))
        defer { camera.close() }
        let pictures = StampingCamera(camera, rate: rate)
        let chain = try await CameraChain()
        let producer = try await chain.produce([CameraChain.stage, "--size", "320x180", "--fps", "\(rate)"])
        let studio = try chain.receive("320x180")
        let reader = try CameraReader()
        #expect(try await reader.sees(picture: true), "\(reader.state.value.failure ?? "")")
        // Not the start.
        let first = reader.state.value.numbers.count + 10
        let wanted = first + (CameraChain.hasReleaseTools ? 250 : 20)
        #expect(try await reader.state.wait { $0.numbers.count >= wanted })
        try await reader.stop()
        let received = try await CameraChain.stop(studio)
        let sent = try await CameraChain.stop(producer)
        pictures.stop()
        let state = reader.state.value
        let times = state.latencies.dropFirst(first).sorted()
        let span = Int(state.numbers.last ?? 0) - Int(state.numbers[first]) + 1
        print(
            "camera to virtual camera: p50 \(times[times.count / 2] / 1000) ms, p95 \(times[times.count * 95 / 100] / 1000) ms, "
                + "most \((times.last ?? 0) / 1000) ms; \(times.count) pictures of \(span)\n\(received)\n\(sent)")
        #expect(times[times.count / 2] < 2_000_000)
        #expect(zip(state.numbers, state.numbers.dropFirst()).allSatisfy { $0 < $1 })
        withExtendedLifetime(chain) {}
    }

    /// The tool's own measurement, with what a program reads from the virtual camera.
    @Test(.timeLimit(.minutes(5))) func theToolMeasuresTheVirtualCamera() async throws {
        let chain = try await CameraChain()
        let rate = CameraChain.hasReleaseTools ? "25" : "5"
        let producer = try await chain.produce(["test", "--size", "320x180", "--fps", rate])
        let measured = try await chain.tool(
            "studio",
            [
                "latency", "127.0.0.1:" + chain.port, "--vcam=" + CameraChain.screen, "--vcam-size", "320x180", "-d",
                "10", "--svg", chain.folder.file("latency.svg"),
            ]
        ).end()
        #expect(measured.status == 0, "\(measured.errorText)")
        let event = try #require(measured.lines.last { $0.contains("\"latency\"") }.flatMap(jsonLine))
        print("latency --vcam: \(event)")
        #expect(event["virtualCamera"] as? Bool == true && event["clock"] as? String == "same")
        #expect(event["count"] as? Int ?? 0 > 10)
        let stages = try #require(event["stagesMicroseconds"] as? [String: [String: Any]])
        let total = try #require((event["latencyMicroseconds"] as? [String: Int])?["p50"])
        let camera = try #require(stages["virtualCamera"]?["p50"] as? Int)
        #expect(camera > 0 && camera < total)
        // Another size than the pattern's: what to do is said.
        let scaled = try await chain.tool(
            "studio", ["latency", "127.0.0.1:" + chain.port, "--vcam=" + CameraChain.screen, "--vcam-size", "640x480"]
        ).end()
        #expect(scaled.status == 4 && scaled.errorText.contains("--vcam-size 320x180"), "\(scaled.errorText)")
        try await CameraChain.stop(producer)
        withExtendedLifetime(chain) {}
    }

    // MARK: Coming and going

    /// Nobody reads anything but a picture or the card, whatever happens to the producer.
    @Test(.timeLimit(.minutes(5))) func theVirtualCameraOutlivesItsProducer() async throws {
        let chain = try await CameraChain()
        let pattern = ["test", "--size", "320x180", "--fps", "5"]
        let studio = try chain.receive("320x180")
        let reader = try CameraReader()
        #expect(try await reader.sees(picture: false), "\(reader.state.value.failure ?? "")")
        for isKilled in [false, true] {
            let producer = try await chain.produce(pattern)
            #expect(try await reader.sees(picture: true))
            if isKilled {
                producer.signal(SIGKILL)
                _ = try await producer.end()
            } else {
                try await CameraChain.stop(producer)
            }
            #expect(try await reader.sees(picture: false))
        }
        let producer = try await chain.produce(pattern)
        #expect(try await reader.sees(picture: true))
        #expect(reader.state.value.turns.map(\.isPicture) == [false, true, false, true, false, true])
        try await reader.stop()
        // Others come and go; one at a time, for the module's buffers are the same for all that map them.
        for _ in 0..<2 {
            _ = try await Oracle.check([
                "timeout", "60", "v4l2-ctl", "-d", CameraChain.screen, "--stream-mmap", "--stream-count=3",
            ])
        }
        let last = try CameraReader()
        #expect(try await last.sees(picture: true), "\(last.state.value.failure ?? "")")
        // Ctrl-C is the usual end, and leaves the card behind.
        let received = try await CameraChain.stop(studio)
        #expect((received["virtualCamera"] as? [String: Any])?["losses"] as? Int == 0)
        #expect(try await last.sees(picture: false))
        // Nobody writes any more: the last picture cannot be waited for.
        last.abandon()
        try await CameraChain.stop(producer)
        withExtendedLifetime(chain) {}
    }

    /// The camera is pulled out while the whole chain runs, and put back.
    @Test(.timeLimit(.minutes(5))) func anUnpluggedCameraComesBackToTheReader() async throws {
        let chain = try await CameraChain()
        let producer = try await chain.produce([CameraBench.vivid, "--size", "320x180", "--fps", "30"])
        let studio = try chain.receive("320x180")
        let reader = try CameraReader()
        for _ in 0..<2 {
            #expect(try await reader.sees(picture: true), "\(reader.state.value.failure ?? "")")
            try await onThread { CameraBench.unplug() }
            #expect(try await reader.sees(picture: false))
            try await onThread { CameraBench.plug() }
            let plugged = MonotonicClock.now()
            #expect(try await reader.sees(picture: true), "\(producer.state.value.errorText)")
            let back = try #require(reader.state.value.turns.last).at - plugged
            print("picture at the reader \(back.milliseconds) ms after the device")
            #expect(back < .seconds(CameraChain.hasReleaseTools ? 4 : 10))
        }
        try await reader.stop()
        let received = try await CameraChain.stop(studio)
        #expect((received["virtualCamera"] as? [String: Any])?["losses"] as? Int == 0)
        // It was one connection all the time.
        #expect(studio.state.value.lines.count { $0.contains("\"event\":\"connected\"") } == 1)
        try await CameraChain.stop(producer)
        withExtendedLifetime(chain) {}
    }

    // MARK: Nobody receives

    /// Another program can stream from the camera while no studio receives, and the next studio has its picture at once.
    @Test(.timeLimit(.minutes(5))) func theCameraIsFreeWhileNobodyReceives() async throws {
        let chain = try await CameraChain()
        let producer = try await chain.produce([CameraBench.vivid, "--size", "320x180", "--fps", "30"])
        for _ in 0..<2 {
            #expect(try await Self.streamsForOthers(within: .seconds(60)))
            let studio = try chain.receive("320x180")
            let connected = try #require(jsonLine(try await studio.line(containing: "\"connected\"")))
            #expect(connected["event"] as? String == "connected")
            let begun = MonotonicClock.now()
            try await studio.line(containing: "\"firstFrame\"")
            print("first picture \((MonotonicClock.now() - begun).milliseconds) ms after the connection")
            #expect(try await !Self.streamsForOthers(within: .zero))
            try await CameraChain.stop(studio)
        }
        #expect(producer.state.value.status == nil)
        try await CameraChain.stop(producer)
        withExtendedLifetime(chain) {}
    }

    private static func streamsForOthers(within limit: MediaDuration) async throws -> Bool {
        let deadline = MonotonicClock.now() + limit
        repeat {
            let taken = try await Oracle.run([
                "v4l2-ctl", "-d", CameraBench.vivid, "--stream-mmap", "--stream-count=3",
            ])
            // It says in words alone that the camera is busy.
            if taken.status == 0, !(taken.errors + taken.text).contains("busy") { return true }
        } while MonotonicClock.now() < deadline
        return false
    }

    // MARK: Passing through

    struct Coding: Sendable, CustomTestStringConvertible {
        var codec: String
        var container: String
        var arguments: [String]
        var option: String
        var testDescription: String { codec }
    }

    private static let codings = [
        Coding(
            codec: "mjpeg", container: "mkv", arguments: ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p"], option: "mjpeg"),
        Coding(
            codec: "h264", container: "mp4",
            arguments: [
                "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "10", "-pix_fmt", "yuv420p",
            ], option: "auto"),
    ]

    /// What the camera has coded is recorded as it is, and shown.
    @Test(.timeLimit(.minutes(5)), arguments: codings) func whatTheCameraCodesIsPassedOn(_ coding: Coding) async throws
    {
        let writer = try await CameraBench.show("red", on: CameraChain.stage, codec: coding.arguments)
        defer { writer.signal(SIGKILL) }
        let chain = try await CameraChain()
        let producer = try await chain.produce([
            CameraChain.stage, "--size", "320x240", "--pass-through", coding.option,
        ])
        let take = chain.folder.file("take." + coding.container)
        let studio = try chain.receive("320x240", ["--record", take])
        let reader = try CameraReader()
        #expect(try await reader.sees(picture: true), "\(reader.state.value.failure ?? "")")
        let before = reader.state.value.count
        #expect(try await reader.state.wait { $0.count >= before + 30 })
        try await reader.stop()
        let received = try await CameraChain.stop(studio)
        let sent = try await CameraChain.stop(producer)
        print("\(coding.codec): \(received)\n\(sent)\n\(producer.state.value.lines)")
        #expect(received["framesLost"] as? Int == 0)
        // Not coded again.
        #expect(producer.state.value.lines.contains { $0.contains("\"bitrate\":null") })
        let probe = try await Oracle.check([
            "ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-show_entries",
            "stream=codec_name,width,height,nb_read_frames", "-of", "csv=p=0", take,
        ])
        #expect(probe.text.hasPrefix("\(coding.codec),320,240,"), "\(probe.text) \(probe.errors)")
        let frames = probe.text.split(separator: ",").last.flatMap {
            Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        #expect(frames ?? 0 >= 25, "\(probe.text)")
        #expect(probe.errors.isEmpty)
        withExtendedLifetime(chain) {}
    }
}
