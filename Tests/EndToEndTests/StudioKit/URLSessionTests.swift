import Foundation
import GantryTestSupport
import StudioKit
import Testing

/// A server of media on loopback, until it is let go of.
private final class MediaServer: Sendable {
    private let process: Process

    init(_ arguments: [String]) throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runUnblocked()
    }

    /// ffmpeg with a picture of 320x180 and a tone, in real time.
    static func ffmpeg(_ output: [String], seconds: Int = 60, video: [String] = ["libx264"]) throws -> MediaServer {
        try MediaServer(
            [
                "ffmpeg", "-v", "quiet", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-re", "-f",
                "lavfi",
                "-i", "sine=frequency=1000", "-t", "\(seconds)", "-pix_fmt", "yuv420p", "-g", "25", "-c:a", "aac",
                "-c:v",
            ] + video + output)
    }

    deinit {
        // Not SIGTERM: a process that is started on a thread of Dispatch's has it blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

extension EndToEnd {
    /// F1: streams by URL, from real servers.
    @Suite struct URLSessionTests {
        private let folder: TestFolder
        private let studio: StudioController

        init() throws {
            Isolation.apply()
            folder = try TestFolder()
            studio = try StudioController(configuration: StudioConfiguration(stateDirectory: folder.file("studio")))
        }

        private func start(
            _ url: String, recording: RecordingOutput? = nil, duration: MediaDuration? = .seconds(2),
            reconnection: Reconnection = .always
        ) throws -> SessionRun {
            var configuration = StudioSessionConfiguration()
            configuration.duration = duration
            // The server may not listen yet.
            configuration.reconnection = reconnection
            if let recording { configuration.packetOutputs = [recording] }
            return try SessionRun(studio.makeSession(try ProducerTarget(url: url), configuration: configuration))
        }

        /// Plays two seconds of it, records them, and judges the file.
        private func plays(_ url: String, _ name: String) async throws {
            let recording = try RecordingOutput(path: folder.file(name + ".mp4"))
            let run = try start(url, recording: recording)
            #expect(try await run.end() == nil)
            let state = run.state.value
            #expect(state.connections == 1)
            #expect(state.hasFrame)
            #expect(state.streams.map(\.kind) == [.video, .audio])
            #expect(state.players.contains { $0.contains(.playing) })
            let statistics = run.session.statistics
            #expect((45...60).contains(statistics.framesReceived), "\(statistics.framesReceived)")
            #expect(statistics.width == 320)
            let saved = try #require(recording.saved)
            #expect(abs(saved.duration.seconds - 2) < 0.2)
            let picture = try await FFmpegTool.probe(folder.file(name + ".mp4"))
            #expect(picture["codec_name"] == "h264")
            #expect(picture["width"] == "320")
            let sound = try await FFmpegTool.probe(folder.file(name + ".mp4"), stream: "a:0")
            #expect(sound["codec_name"] == "opus")
        }

        @Test("F1: HTTP") func http() async throws {
            let port = try LoopbackSocket.freePort()
            let server = try MediaServer.ffmpeg(["-f", "mpegts", "-listen", "1", "http://127.0.0.1:\(port)"])
            try await plays("http://127.0.0.1:\(port)", "http")
            withExtendedLifetime(server) {}
        }

        @Test("F1: RTMP") func rtmp() async throws {
            let port = try LoopbackSocket.freePort()
            let server = try MediaServer.ffmpeg(["-f", "flv", "-listen", "1", "rtmp://127.0.0.1:\(port)/live/x"])
            try await plays("rtmp://127.0.0.1:\(port)/live/x", "rtmp")
            withExtendedLifetime(server) {}
        }

        @Test("F1: SRT") func srt() async throws {
            let port = try LoopbackSocket.freePort()
            let server = try MediaServer.ffmpeg(["-f", "mpegts", "srt://127.0.0.1:\(port)?mode=listener"])
            try await plays("srt://127.0.0.1:\(port)", "srt")
            withExtendedLifetime(server) {}
        }

        @Test("F1: a file with another coding, and a replay of it") func file() async throws {
            let path = folder.file("clip.mkv")
            try await FFmpegTool.ffmpeg([
                "-f", "lavfi", "-i", "testsrc2=size=320x180:rate=25", "-f", "lavfi", "-i", "sine", "-t", "3", "-c:v",
                "mpeg2video", "-c:a", "flac", path,
            ])
            let run = try start("file://\(path)", duration: nil, reconnection: .never)
            try run.session.replay.arm()
            #expect(try await run.state.wait { $0.hasFrame })
            #expect(try await onThread { waitUntil { run.session.replay.status.held.seconds > 1 } })
            #expect(try run.session.replay.seek(to: .seconds(1)) != nil)
            #expect(try await run.state.wait { $0.replays.contains { $0 != nil } })
            let saved = try await run.session.replay.save(to: folder.file("saved.mp4"))
            #expect(saved.frames > 20)
            #expect(try await run.end() == nil)
            #expect(run.session.statistics.framesReceived == 75)
            #expect(run.state.value.streams.map(\.name) == ["mpeg2video", "flac"])
        }

        private static let rtspServer = """
            import gi, sys
            gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0')
            from gi.repository import Gst, GstRtspServer, GLib
            if len(sys.argv) < 2: sys.exit(0)
            Gst.init(None)
            server = GstRtspServer.RTSPServer(); server.set_address('127.0.0.1'); server.set_service(sys.argv[1])
            factory = GstRtspServer.RTSPMediaFactory()
            factory.set_launch('( videotestsrc is-live=true ! video/x-raw,width=320,height=180,framerate=25/1 '
                '! x264enc tune=zerolatency key-int-max=25 ! rtph264pay name=pay0 pt=96 audiotestsrc is-live=true '
                '! audio/x-raw,rate=8000,channels=1 ! alawenc ! rtppcmapay name=pay1 pt=8 )')
            server.get_mount_points().add_factory('/x', factory); server.attach(None); GLib.MainLoop().run()
            """

        /// Whether the libraries of the server are here: gir1.2-gst-rtsp-server-1.0, python3-gi, gstreamer1.0-plugins-ugly.
        private static var hasServer: Bool {
            guard let test = try? Process.run(URL(fileURLWithPath: "/usr/bin/python3"), arguments: ["-c", rtspServer])
            else { return false }
            test.waitUntilExit()
            return test.terminationStatus == 0
        }

        @Test("F1: RTSP", .enabled(if: hasServer, "needs gir1.2-gst-rtsp-server-1.0 and gstreamer1.0-plugins-ugly"))
        func rtsp() async throws {
            let port = try LoopbackSocket.freePort()
            let server = try MediaServer(["/usr/bin/python3", "-c", Self.rtspServer, "\(port)"])
            try await plays("rtsp://127.0.0.1:\(port)/x", "rtsp")
            withExtendedLifetime(server) {}
        }

        @Test("F1, F2: a server that goes and comes back is found again") func reconnection() async throws {
            let port = try LoopbackSocket.freePort()
            let output = ["-f", "mpegts", "-listen", "1", "http://127.0.0.1:\(port)"]
            var server: MediaServer? = try MediaServer.ffmpeg(output)
            let run = try start("http://127.0.0.1:\(port)", duration: nil)
            #expect(try await run.state.wait { $0.hasFrame })
            // While the server was not there yet, that was told, too.
            let former = run.state.value.losses.count
            server = nil
            #expect(try await run.state.wait { $0.losses.count > former })
            #expect(run.state.value.changes.contains { $0.destroyed.count == 2 })
            server = try MediaServer.ffmpeg(output)
            #expect(try await run.state.wait { $0.connections >= 2 })
            #expect(try await onThread { waitUntil { run.session.playerState.contains(.playing) } })
            #expect(try await run.close() == nil)
            withExtendedLifetime(server) {}
        }

        @Test("F2: what is wrong with a URL is said, without its password") func errors() async throws {
            let port = try LoopbackSocket.freePort()
            let run = try start("rtsp://me:secret@127.0.0.1:\(port)/x?token=secret", reconnection: .afterLoss)
            let error = try #require(try await run.end())
            #expect(error.code == .cannotConnect)
            #expect(error.description.contains("rtsp://127.0.0.1:\(port)/x"))
            #expect(!error.description.contains("secret"))
            #expect(!run.session.target.name.contains("secret"))
            for bad in ["gopher://x/", "concat:a|b", "rtsp:/x", "://", "http://a\0b/"] {
                #expect(throws: GantryError.self) { try ProducerTarget(url: bad) }
            }
            // A playlist of a server leads to nothing on this machine.
            let clip = folder.file("private.ts")
            try await FFmpegTool.ffmpeg(["-f", "lavfi", "-i", "testsrc2=size=320x180", "-t", "2", clip])
            let list = folder.file("list.m3u8")
            try "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile://\(clip)\n#EXT-X-ENDLIST\n".write(
                toFile: list, atomically: true, encoding: .utf8)
            let server = try MediaServer([
                "/usr/bin/python3", "-m", "http.server", "-b", "127.0.0.1", "-d", folder.file(""), "\(port)",
            ])
            #expect(
                try await onThread { waitUntil { (try? LoopbackSocket(port: port)) != nil } })
            let trap = try start("http://127.0.0.1:\(port)/list.m3u8", reconnection: .never)
            #expect(try await trap.end() != nil)
            #expect(trap.session.statistics.framesReceived == 0)
            withExtendedLifetime(server) {}
        }

        @Test func closingWhileItIsOpenedEndsAtOnce() async throws {
            // Takes the connection, and says nothing.
            let silent = try MediaServer([
                "/usr/bin/python3", "-c",
                "import socket, time; s = socket.create_server(('127.0.0.1', \(Self.silentPort))); time.sleep(60)",
            ])
            #expect(try await onThread { waitUntil { (try? LoopbackSocket(port: Self.silentPort)) != nil } })
            let run = try start("http://127.0.0.1:\(Self.silentPort)/x", duration: nil, reconnection: .never)
            #expect(try await run.state.wait { _ in run.session.state == .connecting })
            #expect(try await run.close() == nil)
            withExtendedLifetime(silent) {}
        }

        /// Ten seconds each.
        @Test(arguments: ["rtsp", "rtmp", "http"]) func aServerThatSaysNothingIsNamedSo(scheme: String) async throws {
            let port = try LoopbackSocket.freePort()
            // Reads, and says nothing.
            let silent = try MediaServer([
                "/usr/bin/python3", "-c",
                """
                import socket
                s = socket.create_server(('127.0.0.1', \(port)))
                while True:
                    c, _ = s.accept()
                    while c.recv(65536): pass
                """,
            ])
            #expect(try await onThread { waitUntil { (try? LoopbackSocket(port: port)) != nil } })
            let run = try start("\(scheme)://127.0.0.1:\(port)/x/y", duration: nil, reconnection: .never)
            let error = try #require(try await run.end())
            #expect(error.code == .cannotConnect)
            #expect(error.description.contains("no answer within 10 s"), "\(error)")
            withExtendedLifetime(silent) {}
        }

        private static let silentPort = (try? LoopbackSocket.freePort()) ?? 20_001
    }
}
