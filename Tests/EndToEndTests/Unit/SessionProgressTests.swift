import GantryCore
import Testing

@testable import StudioKit

@Suite struct SessionProgressTests {
    private let connection = StreamConnection(producer: "Camera", address: "127.0.0.1:1", keyID: nil)

    private func stream(_ channel: Int, _ kind: MediaKind) -> StreamInfo {
        StreamInfo(
            channel: channel, kind: kind, codec: nil, name: "", source: .camera, created: .init(microseconds: 0),
            connection: connection)
    }

    private func playing(_ wanted: MediaSelection = .all) -> SessionProgress {
        var progress = SessionProgress(wanted: wanted)
        progress.started()
        progress.note(
            .connected(name: "Camera", address: "", streams: [stream(1, .video), stream(2, .audio), stream(3, .data)]))
        progress.mediaCame()
        return progress
    }

    @Test("S3, S12: of two streams one may go, and the other one plays on") func oneOfTwo() {
        var progress = playing()
        #expect(progress.player.contains(.playing))
        progress.note(.playbackStopped(stream(2, .audio)))
        #expect(progress.player.contains(.playing) && !progress.player.contains(.stopped))
        progress.note(.playbackStopped(stream(1, .video)))
        #expect(progress.player.contains(.stopped) && !progress.player.contains(.playing))
        // One comes again: it begins.
        progress.note(
            .format(.audio(.init(codec: .opus, sampleRate: 48_000, channels: 2, samplesPerPacket: 480, head: []))))
        #expect(progress.player.contains(.buffering))
        progress.mediaCame()
        #expect(progress.player.contains(.playing))
    }

    @Test("S12: what alone was wanted has gone") func theOnlyOne() {
        var progress = playing(.video)
        progress.note(.playbackStopped(stream(1, .video)))
        #expect(progress.player.contains(.stopped))
    }
}
