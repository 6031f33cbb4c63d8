import Testing

@testable import GantryCore
@testable import ProducerKit
@testable import StudioKit

/// What a program prints of the kits' values.
@Suite struct DescriptionTests {
    @Test func statesAreShort() throws {
        let keyID = try #require(KeyID(bytes: Array(repeating: 7, count: 32)))
        let peer = ProducerPeer(keyID: keyID, name: "Studio A", address: "192.168.1.5:50124", transport: .network)
        #expect("\(peer)" == "Studio A (192.168.1.5:50124)")
        #expect("\(ProducerState.active([peer]))" == "active: Studio A (192.168.1.5:50124)")
        #expect("\(ProducerState.paused([]))" == "paused")
        #expect("\(ProducerState.notRunning)" == "not running")
        #expect("\(SessionState.failed(GantryError(.timeout, "Nobody answers.")))" == "failed: Nobody answers.")
        #expect("\(SessionState.reconnecting)" == "reconnecting")
        #expect("\(PlayerState([.open, .active, .playing]))" == "open, active, playing")
        #expect("\(PlayerState())" == "none")
    }

    @Test func eventsAreOneLine() throws {
        let keyID = try #require(KeyID(bytes: Array(repeating: 7, count: 32)))
        let peer = ProducerPeer(keyID: keyID, name: "Studio A", address: "usb", transport: .usb)
        let error = GantryError(.timeout, "Nobody answers.", cause: "poll")
        #expect("\(ProducerEvent.connected(peer))" == "connected: Studio A (usb)")
        #expect("\(ProducerEvent.disconnected(peer, error))" == "disconnected: Studio A (usb): Nobody answers.")
        #expect(
            "\(ProducerEvent.videoFormat(width: 640, height: 360, bitrate: 900_000))"
                == "video format: 640x360, 900 kbit/s")
        #expect("\(ProducerEvent.streamEnded(.audio))" == "stream ended: audio")
        let format = VideoStreamFormat(codec: .h264, width: 64, height: 48, frameRate: .fps30, color: .bt709)
        #expect("\(StudioEvent.format(.video(format)))" == "format: 64x48 at 30 fps")
        #expect("\(StudioEvent.stoppedHere([.video]))" == "stopped here: picture")
        #expect("\(StudioEvent.replay(behind: nil))" == "live again")
        #expect("\(StudioEvent.ended(nil))" == "ended")
        #expect("\(StudioEvent.ended(error))" == "ended: Nobody answers.")
    }

    @Test func streamsHaveTheirNames() {
        let connection = StreamConnection(producer: "Camera", address: "usb", keyID: nil)
        let stream = StreamInfo(
            channel: 1, kind: .video, codec: .h264, name: "front", source: .camera,
            created: MediaTimestamp(microseconds: 0), connection: connection)
        #expect("\(stream)" == "picture (front)")
        #expect(
            "\(StreamChange(streams: [], created: [stream], destroyed: [stream]))"
                == "created picture (front); destroyed picture (front)")
        #expect("\(StreamChange())" == "none")
    }
}
