import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

/// Counts what an output is told.
private final class EndLog: VideoOutput, AudioOutput {
    struct Counts: Equatable, Sendable {
        var frames = 0
        var interruptions = 0
        var ends = 0
    }

    let video = Watched(Counts())
    let audio = Watched(Counts())

    var returnsAtOnce: Bool { true }
    func receive(_ frame: VideoFrame) { video.change { $0.frames += 1 } }
    func videoInterrupted() { video.change { $0.interruptions += 1 } }
    func videoEnded() { video.change { $0.ends += 1 } }
    func receive(_ frame: AudioFrame) { audio.change { $0.frames += 1 } }
    func audioInterrupted() { audio.change { $0.interruptions += 1 } }
    func audioEnded() { audio.change { $0.ends += 1 } }
}

extension EndToEnd {
    /// Sessions that outlive their connections.
    @Suite struct ReconnectionTests {
        private func play(to producer: ProducerController, seconds: Int64) async throws {
            try await SourceRun(producer).play(try TestPatternSource.small(seconds: seconds))
        }

        @Test func aRecordingGoesOnAfterTheProducersRestart() async throws {
            let port = try LoopbackSocket.freePort()
            let stage = try Stage(port: port)
            try await stage.pair()
            let path = stage.file("take.mkv")
            let recording = try MuxOutput.recording(path: path, overwrite: false) { Issue.record("\($0)") }
            let log = EndLog()
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [recording]
            configuration.videoOutputs = [log]
            configuration.audioOutputs = [log]
            configuration.reconnection = .always
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            try await play(to: stage.producer, seconds: 1)
            try await stage.stop()
            #expect(try await run.state.wait { $0.losses.count == 1 })
            #expect(run.state.value.losses.allSatisfy { $0 == nil }, "a goodbye is no loss")
            let first = run.session.statistics.framesReceived
            #expect(first > 15)

            try stage.producer.start()
            #expect(try await run.state.wait { $0.connections == 2 })
            #expect(try await stage.waitForReceivers(2))
            try await play(to: stage.producer, seconds: 1)
            let received = try await log.video.wait { $0.frames > first + 15 }
            #expect(received)
            try await run.close()
            #expect(run.state.value.error == nil)
            try await stage.stop()

            #expect(log.video.value.interruptions == 1 && log.audio.value.interruptions == 1)
            #expect(log.video.value.ends == 1 && log.audio.value.ends == 1)
            let facts = try await Judge.probe(path)
            #expect(facts.video["codec_name"] == "h264" && facts.audio["codec_name"] == "opus")
            let frames = recording.summary?.frames ?? 0
            #expect(frames > first + 10)
            #expect(frames <= run.session.statistics.framesReceived)
            #expect(recording.summary?.paths.count == 1)
        }

        @Test func aSessionWaitsForAProducerThatIsNotThereYet() async throws {
            let port = try LoopbackSocket.freePort()
            let stage = try Stage(port: port)
            try await stage.pair()
            let endpoint = stage.endpoint
            try await stage.stop()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(endpoint: endpoint, keyID: stage.producer.keyID), configuration: configuration))
            #expect(try await run.state.wait { !$0.losses.isEmpty })
            #expect(run.state.value.losses.first??.code == .cannotConnect)
            try stage.producer.start()
            #expect(try await run.state.wait { $0.isConnected })
            try await run.close()
            try await stage.stop()
        }

        @Test func closingEndsTheWaiting() async throws {
            let port = try LoopbackSocket.freePort()
            let stage = try Stage(port: port)
            try await stage.pair()
            let endpoint = stage.endpoint
            try await stage.stop()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(endpoint: endpoint, keyID: stage.producer.keyID), configuration: configuration))
            // Told once, however often it tries.
            #expect(try await run.state.wait { $0.losses.count == 1 })
            #expect(try await run.close() == nil)
        }

        @Test func aGoodbyeEndsASessionThatOutlivesLossesOnly() async throws {
            let stage = try Stage()
            try await stage.pair()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .afterLoss
            let run = try await stage.connect(configuration)
            #expect(run.state.value.isConnected)
            try await stage.stop()
            #expect(try await run.end() == nil)
            #expect(run.state.value.losses.isEmpty)
        }

        @Test func aNoEndsEverySession() async throws {
            let stage = try Stage()
            let pairing = try await stage.pair()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            let run = try await stage.connect(configuration)
            #expect(run.state.value.isConnected)
            try stage.producer.removePairedDevice(pairing.atProducer.keyID)
            #expect(try await run.end()?.code == .unpairedByPeer)
            #expect(run.state.value.losses.isEmpty)
            try await stage.stop()
        }

        @Test func aLengthIsThatOfAllConnectionsTogether() async throws {
            let port = try LoopbackSocket.freePort()
            let stage = try Stage(port: port)
            try await stage.pair()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            configuration.duration = .milliseconds(1500)
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            try await play(to: stage.producer, seconds: 1)
            try await stage.stop()
            #expect(try await run.state.wait { $0.losses.count == 1 })
            let source = try TestPatternSource.small()
            try stage.producer.start()
            let playing = Task { [producer = stage.producer] in try await SourceRun(producer).play(source) }
            #expect(try await run.end() == nil)
            let seconds = run.session.statistics.mediaSeconds
            #expect(abs(seconds - 1.5) < 0.15, "\(seconds)")
            source.stop()
            _ = try await playing.value
            try await stage.stop()
        }
    }
}
