import Foundation
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// `gantry-studio relay`.
    @Suite struct ToolRelayTests {
        private func relay(_ stage: ToolStage, _ arguments: [String], url: String? = nil) throws -> ToolRun {
            try ToolRun(
                ["gantry-studio", "--state-dir", stage.file("studio"), "--json", "--log", "debug", "relay"] + arguments,
                input: url.map { .text($0 + "\n") } ?? .none)
        }

        @Test("A URL from standard input is relayed to, and nothing tells its key", .enabled(if: RelayServer.hasNginx))
        func standardInput() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let port = try LoopbackSocket.freePort()
            let server = try await RelayServer.nginx(port: port, folder: stage.file("nginx"))
            let studio = try relay(
                stage, ["-", "Camera", "--duration", "3s"],
                url: "rtmp://me:word@127.0.0.1:\(port)/live/key4711?token=hidden")
            try await studio.line(containing: "\"state\":\"connected\"")
            let threads = ProcessView(studio.processID).threadNames
            #expect(threads.contains("relay"))
            #expect(!threads.contains { $0.hasSuffix("-decode") }, "\(threads)")
            let end = try await studio.end()
            #expect(end.status == 0, "\(end.errorText)")
            let summary = try #require(end.event("summary")?["relay"] as? [String: Any])
            #expect((summary["frames"] as? Int ?? 0) > 30)
            #expect(summary["connections"] as? Int == 1)
            // Nothing is decoded, and it is measured all the same.
            let received = try #require(end.event("summary"))
            #expect(received["framesDecoded"] as? Int == 0)
            #expect(received["width"] as? Int == 320)
            #expect((received["latencyMicroseconds"] as? [String: Int])?["p50"] ?? 0 > 0)
            #expect(end.event("firstFrame") != nil)
            #expect(summary["address"] as? String == "rtmp://127.0.0.1:\(port)/live/…")
            for secret in ["key4711", "word", "hidden"] {
                #expect(!end.outputText.contains(secret))
                #expect(!end.errorText.contains(secret), "\(end.errorText)")
            }
            withExtendedLifetime((server, producer)) {}
        }

        @Test(
            "What is wrong with a server is said at the start, with what mends it", .enabled(if: RelayServer.hasNginx))
        func refusals() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let port = try LoopbackSocket.freePort()
            let refused = try await relay(stage, ["rtmp://127.0.0.1:\(port)/live/key4711", "Camera"]).end()
            #expect(refused.status == 5, "\(refused.errorText)")
            #expect(refused.errorText.contains("Nothing listens at rtmp://127.0.0.1:\(port)"))
            // Typed: said once, and without the key.
            #expect(refused.errorText.contains("standard input"))
            #expect(!refused.errorText.contains("key4711"))
            let server = try await RelayServer.nginx(port: port, folder: stage.file("nginx"))
            let wrong = try await relay(stage, ["rtmp://127.0.0.1:\(port)/nowhere/key4711", "Camera"]).end()
            #expect(wrong.status == 5, "\(wrong.errorText)")
            #expect(wrong.errorText.contains("application"), "\(wrong.errorText)")
            let unknown = try await relay(stage, ["ftp://127.0.0.1/x", "Camera"]).end()
            #expect(unknown.status == 2)
            #expect(unknown.errorText.contains("rtmp://"))
            let swapped = try await relay(stage, ["Camera", "rtmp://127.0.0.1:\(port)/live/x"]).end()
            #expect(swapped.status == 2)
            #expect(swapped.errorText.contains("It comes first"), "\(swapped.errorText)")
            withExtendedLifetime((server, producer)) {}
        }
    }
}
