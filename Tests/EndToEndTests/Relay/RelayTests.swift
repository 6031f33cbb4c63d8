import Foundation
import GantryTestSupport
import Glibc
import StudioKit
import Testing

extension EndToEnd {
    /// What is received goes on to real media servers; ffprobe and ffmpeg judge what these got.
    @Suite struct RelayTests {
        private struct Relayed {
            let stage: Stage
            let output: RelayOutput
            let events: Watched<[RelayEvent]>
            let pattern: LivePattern
            let run: SessionRun

            func sends(_ more: Int) async throws -> Bool {
                let first = output.statistics.framesSent
                return try await onThread { [output] in waitUntil { output.statistics.framesSent >= first + more } }
            }

            func isLost(_ count: Int = 1) async throws -> Bool {
                try await events.wait { events in
                    events.count { if case .lost = $0 { true } else { false } } >= count
                }
            }

            func end() async throws {
                #expect(try await run.close() == nil)
                try await pattern.stop()
            }
        }

        private func relay(_ url: String, waits: Bool = false) async throws -> Relayed {
            let stage = try Stage()
            try await stage.pair()
            let events = Watched<[RelayEvent]>([])
            let output = try RelayOutput(
                url: url, waits: waits, changed: { event in events.change { $0.append(event) } },
                failed: { Issue.record("\($0)") })
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [output]
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            return Relayed(
                stage: stage, output: output, events: events, pattern: try LivePattern(stage.producer), run: run)
        }

        /// Codecs, a key frame first, stamps that rise, and pictures that decode without a complaint.
        private func judge(_ path: String, sound: String, atLeast frames: Int) async throws {
            let picture = try await FFmpegTool.probe(path)
            #expect(picture["codec_name"] == "h264")
            #expect(picture["width"] == "320")
            let audio = try await FFmpegTool.probe(path, stream: "a:0")
            #expect(audio["codec_name"] == sound)
            #expect(audio["sample_rate"] == "48000")
            let pictures = try await Judge.pictures(path, width: 320, height: 180)
            #expect(pictures.count >= frames, "\(pictures.count)")
            let packets = try await packets(path)
            #expect(packets.first?.isKey == true)
            #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.time < $1.time })
        }

        private func packets(_ path: String, stream: String = "v:0") async throws -> [(time: Double, isKey: Bool)] {
            let result = try await Oracle.check([
                "ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time,flags", "-of",
                "csv=p=0", path,
            ])
            return result.lines.compactMap { line in
                let parts = line.split(separator: ",")
                guard parts.count >= 2, let time = Double(parts[0]) else { return nil }
                return (time, parts[1].contains("K"))
            }
        }

        @Test("RTMP: nginx records it, also after it was killed in the middle", .enabled(if: RelayServer.hasNginx))
        func rtmp() async throws {
            let port = try LoopbackSocket.freePort()
            let folder = try TestFolder()
            let first = try await RelayServer.nginx(port: port, folder: folder.file("first"))
            let relayed = try await relay("rtmp://127.0.0.1:\(port)/live/secret")
            #expect(relayed.output.address == "rtmp://127.0.0.1:\(port)/live/…")
            #expect(try await relayed.sends(60))
            try await first.kill()
            #expect(try await relayed.isLost())
            // Receiving goes on meanwhile.
            let received = relayed.run.session.statistics.framesReceived
            #expect(try await onThread { waitUntil { relayed.run.session.statistics.framesReceived > received + 30 } })
            let second = try await RelayServer.nginx(port: port, folder: folder.file("second"))
            #expect(try await onThread { waitUntil { relayed.output.statistics.connections == 2 } })
            #expect(try await relayed.sends(60))
            try await relayed.end()
            let counts = relayed.output.statistics
            #expect(counts.connections == 2)
            #expect(counts.packetsDropped > 0)
            #expect(counts.audioPacketsSent > 0)
            #expect(relayed.run.session.statistics.framesLost == 0)
            try await second.kill()
            try await judge(folder.file("first/secret.flv"), sound: "aac", atLeast: 30)
            try await judge(folder.file("second/secret.flv"), sound: "aac", atLeast: 30)
            // The sound is the tone that it was.
            let sound = try await packets(folder.file("second/secret.flv"), stream: "a:0")
            #expect(sound.count > 30)
            #expect(zip(sound, sound.dropFirst()).allSatisfy { abs($1.time - $0.time - 1024 / 48_000.0) < 0.06 })
        }

        @Test("SRT: a listener gets H.264 and Opus in a transport stream") func srt() async throws {
            let port = try LoopbackSocket.freePort()
            let folder = try TestFolder()
            let server = try RelayServer.srt(port: port, file: folder.file("a.ts"))
            let relayed = try await relay("srt://127.0.0.1:\(port)", waits: true)
            #expect(try await relayed.sends(90))
            #expect(relayed.run.session.playerState.contains(.playing))
            let statistics = relayed.run.session.statistics
            #expect(statistics.framesDecoded == 0)
            #expect(statistics.latency.count >= 90)
            #expect(statistics.audioLatency.count > 0)
            try await relayed.end()
            #expect(try await server.tool.end().status == 0)
            try await judge(folder.file("a.ts"), sound: "opus", atLeast: 60)
        }

        @Test(
            "RTSP: a server records it, and a path that it does not know is refused",
            .enabled(if: RelayServer.hasRTSP, "needs gir1.2-gst-rtsp-server-1.0 and gstreamer1.0-plugins-bad"))
        func rtsp() async throws {
            let port = try LoopbackSocket.freePort()
            let folder = try TestFolder()
            let server = try await RelayServer.rtsp(port: port, file: folder.file("a.mkv"))
            let relayed = try await relay("rtsp://127.0.0.1:\(port)/stage")
            #expect(try await relayed.sends(90))
            try await relayed.end()
            try await server.kill()
            try await judge(folder.file("a.mkv"), sound: "opus", atLeast: 30)
        }

        @Test("A session that ends while the relay still connects ends without a failure") func endedWhileConnecting()
            async throws
        {
            let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            // Without an address: a free port of every one. Nobody waits for a relay that never comes.
            var limit = timeval(tv_sec: 60, tv_usec: 0)
            setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
            #expect(listen(listener, 4) == 0)
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
            }
            #expect(status == 0)
            let relayed = try await relay("rtsp://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/x")
            // It has its connection, and no answer.
            let peer = try await onThread { accept(listener, nil, nil) }
            defer { close(peer) }
            #expect(peer >= 0)
            try await relayed.end()
        }

        @Test(
            "A server that stands still holds up nobody, and gets what is new when it goes on",
            .enabled(if: RelayServer.hasNginx))
        func standingStill() async throws {
            let port = try LoopbackSocket.freePort()
            let folder = try TestFolder()
            let server = try await RelayServer.nginx(port: port, folder: folder.file("a"))
            // Takes the connection, and answers nothing.
            server.tool.signal(SIGSTOP)
            let relayed = try await relay("rtmp://127.0.0.1:\(port)/live/x", waits: true)
            // What is dropped first may be sound.
            #expect(
                try await onThread {
                    waitUntil {
                        relayed.output.statistics.packetsDropped > 0
                            && relayed.run.session.statistics.framesReceived > 0
                    }
                })
            #expect(relayed.run.session.statistics.framesLost == 0)
            server.tool.signal(SIGCONT)
            #expect(try await relayed.sends(30))
            try await relayed.end()
            withExtendedLifetime(server) {}
        }
    }
}
