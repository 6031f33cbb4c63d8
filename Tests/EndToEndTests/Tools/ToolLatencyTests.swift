import Foundation
import GantryCore
import GantryTestSupport
import Testing

extension EndToEnd {
    /// `gantry-studio latency` against a producer on loopback.
    @Suite struct ToolLatencyTests {
        private static func stop(_ producer: ToolRun) async throws {
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func measuresTheTestPattern() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let plot = stage.file("latency.svg")
            let end = try await stage.studio(["latency", "--seconds", "2s", "--svg", plot]).end()
            #expect(end.status == 0, "\(end.errorText)")
            let event = try #require(end.event("latency"))
            #expect(event["name"] as? String == "Camera")
            #expect(event["width"] as? Int == 320 && event["height"] as? Int == 180)
            #expect(event["clock"] as? String == "same", "\(event)")
            #expect(event["virtualCamera"] as? Bool == false)
            let count = try #require(event["count"] as? Int)
            #expect(count > 5)
            let times = try #require(event["latencyMicroseconds"] as? [String: Int])
            let order = ["min", "p50", "p95", "p99", "max"].compactMap { times[$0] }
            #expect(order.count == 5 && order == order.sorted() && order[0] > 0, "\(times)")
            #expect(event["duplicates"] as? Int == 0 && event["late"] as? Int == 0)
            let stages = try #require(event["stagesMicroseconds"] as? [String: [String: Any]])
            for name in ["encode", "decode", "output"] {
                #expect(stages[name]?["p50"] as? Int != nil, "\(stages)")
            }
            // The parts fit into the whole.
            #expect((stages["decode"]?["p50"] as? Int ?? .max) < order[4])
            let svg = try String(contentsOfFile: plot, encoding: .utf8)
            #expect(svg.hasPrefix("<svg ") && svg.contains("Camera, 320x180 at 30 fps"))
            // Once more for people; the plot is not overwritten unasked.
            let again = try await stage.studio(["latency", "--svg", plot]).end()
            expectFailure(again, status: 4, saying: [plot, "--force"], isJSON: true)
            let text = try await stage.studio(["latency", "-d", "1"], json: false).end()
            #expect(text.status == 0, "\(text.errorText)")
            #expect(
                text.outputText.contains(
                    /Latency of Camera \(127\.0\.0\.1:\d+\), 320x180 at 30 fps, capture to decoded/))
            #expect(text.outputText.contains(/\n  p50 [\d.]+  p95 [\d.]+  p99 [\d.]+  least [\d.]+  most [\d.]+ ms\n/))
            #expect(text.outputText.contains("Both ends read the same clock"))
            #expect(text.outputText.contains(/\ndecoding +[\d.]+ +[\d.]+ +[\d.]+\n/), "\(text.outputText)")
            try await Self.stop(producer)
        }

        @Test func saysWhatToStartWithoutATimeCode() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let clip = stage.file("clip.mp4")
            _ = try await Oracle.check([
                "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=15", "-t", "4", "-pix_fmt",
                "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", clip,
            ])
            let producer = try stage.producer(["run", clip, "--loop", "--port", stage.port])
            try await producer.line(containing: "\"started\"")
            let end = try await stage.studio(["latency"], json: false).end()
            expectFailure(end, status: 3, saying: ["no time code", "gantry-producer run test"])
            try await Self.stop(producer)
        }

        @Test func refusesWhatCannotBeMeasured() async throws {
            let stage = try ToolStage()
            expectFailure(
                try await stage.studio(["latency", "rtsp://127.0.0.1/x"], json: false).end(), status: 2,
                saying: ["no time code"])
            expectFailure(
                try await stage.studio(["latency", "--seconds", "0"], json: false).end(), status: 2,
                saying: ["--seconds"])
        }
    }
}
