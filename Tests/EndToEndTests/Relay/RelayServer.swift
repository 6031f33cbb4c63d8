import Foundation
import GantryPlatform
import GantryTestSupport
import Glibc

/// A real media server on loopback that writes down what it gets, until it is let go of.
final class RelayServer: Sendable {
    let tool: ToolRun

    private init(_ arguments: [String]) throws { tool = try ToolRun(arguments) }

    func kill() async throws {
        tool.signal(SIGKILL)
        try await tool.end()
    }

    // MARK: RTMP

    private static let module = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
    static var hasNginx: Bool { access(module, R_OK) == 0 && access("/usr/sbin/nginx", X_OK) == 0 }

    /// nginx, which records into `folder`. Its application is "live".
    static func nginx(port: UInt16, folder: String) async throws -> RelayServer {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let text = """
            load_module \(module);
            daemon off; master_process off; pid \(folder)/pid; error_log \(folder)/error.log info;
            events { worker_connections 64; }
            rtmp { server { listen 127.0.0.1:\(port); chunk_size 4096;
                application live { live on; record all; record_path \(folder); } } }
            """
        try text.write(toFile: folder + "/nginx.conf", atomically: true, encoding: .utf8)
        let server = try RelayServer(["/usr/sbin/nginx", "-p", folder, "-c", folder + "/nginx.conf"])
        try await waitForPort(port)
        return server
    }

    // MARK: SRT

    /// ffmpeg, which waits for a caller and copies what comes.
    static func srt(port: UInt16, file: String) throws -> RelayServer {
        try RelayServer([
            "ffmpeg", "-v", "error", "-nostdin", "-y", "-i", "srt://127.0.0.1:\(port)?mode=listener", "-map", "0", "-c",
            "copy", "-f", "mpegts", file,
        ])
    }

    // MARK: RTSP

    private static let rtspProgram = """
        import gi, sys
        gi.require_version('Gst', '1.0'); gi.require_version('GstRtspServer', '1.0')
        from gi.repository import Gst, GstRtspServer, GLib
        if len(sys.argv) < 2: sys.exit(0)
        Gst.init(None)
        server = GstRtspServer.RTSPServer(); server.set_address('127.0.0.1'); server.set_service(sys.argv[1])
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_transport_mode(GstRtspServer.RTSPTransportMode.RECORD)
        factory.set_launch('( rtph264depay name=depay0 ! h264parse ! queue ! matroskamux name=m streamable=true '
            '! filesink location=' + sys.argv[2] + ' rtpopusdepay name=depay1 ! queue ! m. )')
        server.get_mount_points().add_factory('/stage', factory); server.attach(None); GLib.MainLoop().run()
        """

    /// Whether the libraries of the server are here: gir1.2-gst-rtsp-server-1.0, python3-gi, gstreamer1.0-plugins-bad.
    static var hasRTSP: Bool {
        guard let test = try? Process.run(URL(fileURLWithPath: "/usr/bin/python3"), arguments: ["-c", rtspProgram])
        else { return false }
        test.waitUntilExit()
        return test.terminationStatus == 0
    }

    /// GStreamer's, which records what is published at /stage.
    static func rtsp(port: UInt16, file: String) async throws -> RelayServer {
        let server = try RelayServer(["/usr/bin/python3", "-c", rtspProgram, "\(port)", file])
        try await waitForPort(port)
        return server
    }

    private static func waitForPort(_ port: UInt16) async throws {
        guard try await onThread({ waitUntil { (try? LoopbackSocket(port: port)) != nil } }) else {
            throw Oracle.Failure(text: "Nothing listens at \(port).")
        }
    }
}
