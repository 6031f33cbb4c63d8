import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Who is let in, who is not, and what each side learns.
    @Suite struct SessionTests {
        private static var soundOnly: StudioSessionConfiguration {
            var configuration = StudioSessionConfiguration()
            configuration.wantsVideo = false
            return configuration
        }

        @Test func aStudioLearnsWhatTheProducerOffers() async throws {
            let stage = try Stage(video: .init(sourceName: "Lens"), audio: .init(sourceName: "Mic"))
            try await stage.pair()
            let run = try await stage.connect()
            #expect(run.state.value.isConnected)
            #expect(run.state.value.name == "Camera")
            #expect(run.state.value.streams.map(\.name) == ["Lens", "Mic", "data"])
            #expect(run.state.value.streams.map(\.kind) == [.video, .audio, .data])
            #expect(run.state.value.streams.map(\.codec) == [.h264, .opus, nil])
            #expect(try await stage.waitForReceivers(1))
            guard case .active(let peers) = stage.producer.state else {
                Issue.record("the producer is \(stage.producer.state)")
                return
            }
            #expect(peers.map(\.name) == ["Studio"])
            #expect(peers.map(\.keyID) == [stage.studio.keyID])
            #expect(try await run.close() == nil)
            #expect(
                try await stage.events.wait {
                    $0.contains { if case .disconnected(_, nil) = $0 { true } else { false } }
                })
            #expect(stage.producer.state == .notConnected)
            try await stage.stop()
            #expect(stage.producer.state == .notRunning)
        }

        /// The session asks for the one paired producer by nothing, by its name, and by its address.
        @Test func aProducerIsFoundByItsName() async throws {
            let stage = try Stage()
            #expect(throws: GantryError.self) { try stage.studio.target(nil) }
            try await stage.pair()
            for text in [nil, "Camera", stage.endpoint.description] {
                let target = try stage.studio.target(text)
                // An address is that address; a name is looked for.
                #expect(target.endpoint == (text == stage.endpoint.description ? stage.endpoint : nil))
                #expect(target.endpoint != nil || target.keyID == stage.producer.keyID)
                let run = try SessionRun(stage.studio.makeSession(target, configuration: Self.soundOnly))
                #expect(try await run.state.wait { $0.isConnected || $0.isEnded })
                #expect(try await run.close() == nil)
                #expect(run.state.value.isConnected)
            }
            let error = #expect(throws: GantryError.self) { try stage.studio.target("Nobody") }
            #expect(error?.code == .unknownDevice)
            #expect(error?.message.contains("Did you mean") == false)
            // A slip of the finger, or of the shift key.
            let name = "Camera"
            try stage.studio.renamePairedDevice(stage.producer.keyID, to: name)
            for slip in ["camera", "Camrea", "Cemera"] {
                let error = #expect(throws: GantryError.self) { try stage.studio.target(slip) }
                #expect(error?.message.contains("Did you mean \(name)?") == true)
            }
        }

        @Test func whoIsNotPairedIsRefused() async throws {
            let stage = try Stage()
            let stranger = try Stage()
            try await stage.pair()
            // The studio does not know that producer.
            let run = try SessionRun(
                stage.studio.makeSession(ProducerTarget(endpoint: stranger.endpoint), configuration: Self.soundOnly))
            let error = try await run.end()
            #expect(error?.code == .notPaired)
            #expect(error?.message.contains("gantry-studio pair") == true)
            #expect(!run.state.value.isConnected)
            #expect(try await stranger.events.wait { $0.contains { if case .refused = $0 { true } else { false } } })
        }

        @Test func aProducerThatForgotUsSaysNotPaired() async throws {
            let stage = try Stage()
            try await stage.pair()
            // The same key, an empty store: as after losing the file.
            let copy = stage.file("copy")
            try FileManager.default.createDirectory(
                atPath: copy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try FileManager.default.copyItem(
                atPath: stage.file("producer/identity.key"), toPath: copy + "/identity.key")
            let forgetful = try Stage(producerState: copy)
            #expect(forgetful.producer.keyID == stage.producer.keyID)
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(endpoint: forgetful.endpoint, keyID: stage.producer.keyID),
                    configuration: Self.soundOnly))
            #expect(try await run.end()?.code == .notPaired)
            // That is no removal: the record stays as it was.
            #expect(try stage.studio.pairedDevices.map(\.state) == [.active])
        }

        @Test func removingADeviceEndsItsSessionAndItLearns() async throws {
            let stage = try Stage()
            try await stage.pair()
            let run = try await stage.connect(Self.soundOnly)
            #expect(try await stage.waitForReceivers(1))
            try stage.producer.removePairedDevice(stage.studio.keyID)
            #expect(try await run.end()?.code == .unpairedByPeer)
            // Told on the session itself: both sides forget.
            #expect(try stage.studio.pairedDevices.isEmpty)
            #expect(try stage.producer.pairedDevices.isEmpty)
        }

        @Test func removingAtTheStudioEndsTheSessionAndTheProducerLearns() async throws {
            let stage = try Stage()
            try await stage.pair()
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            let (studio, producer) = (stage.studio, stage.producer)
            try await onThread { try studio.removePairedDevice(producer.keyID) }
            #expect(try await run.end()?.code == .notPaired)
            #expect(try producer.pairedDevices.isEmpty && studio.pairedDevices.isEmpty)
        }

        @Test func aProducerThatIsNotConnectedLearnsOfItsRemovalToo() async throws {
            let stage = try Stage()
            try await stage.pair()
            let (studio, producer) = (stage.studio, stage.producer)
            try await onThread { try studio.removePairedDevice(producer.keyID) }
            #expect(try producer.pairedDevices.isEmpty && studio.pairedDevices.isEmpty)
        }

        @Test func aRemovedDeviceLearnsItWhenItDials() async throws {
            let stage = try Stage()
            try await stage.pair()
            try stage.producer.removePairedDevice(stage.studio.keyID)
            let run = try await stage.connect(Self.soundOnly)
            let error = try await run.end()
            #expect(error?.code == .unpairedByPeer)
            #expect(!run.state.value.isConnected)
            #expect(try stage.studio.pairedDevices.map(\.state) == [.rejectedByPeer])
            // Pairing again mends it.
            try await stage.pair()
            let again = try await stage.connect(Self.soundOnly)
            #expect(again.state.value.isConnected)
            #expect(try await again.close() == nil)
            #expect(try stage.studio.pairedDevices.map(\.state) == [.active])
        }

        @Test func anotherKeyAtTheAddressIsNotTaken() async throws {
            let stage = try Stage()
            let other = try Stage()
            try await stage.pair()
            try await other.pair(with: stage.studio)
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(endpoint: other.endpoint, keyID: stage.producer.keyID), configuration: Self.soundOnly
                ))
            #expect(try await run.end()?.code == .wrongPeer)
            #expect(!run.state.value.isConnected)
        }

        @Test func nobodyThereIsToldWithWhatMendsIt() async throws {
            let stage = try Stage()
            try await stage.pair()
            let endpoint = stage.endpoint
            try await stage.stop()
            let run = try SessionRun(
                stage.studio.makeSession(ProducerTarget(endpoint: endpoint), configuration: Self.soundOnly))
            let error = try await run.end()
            #expect(error?.code == .cannotConnect)
            #expect(error?.message.contains("gantry-producer run") == true)
        }

        @Test func theSeventeenthStudioHearsThatTheProducerIsBusy() async throws {
            let stage = try Stage(video: nil)
            try await stage.pair()
            var runs: [SessionRun] = []
            var attempts = 0
            // Ten connections a second are let in: some attempts must be made again.
            while runs.count < 16, attempts < 400 {
                attempts += 1
                let run = try await stage.connect(Self.soundOnly)
                if run.state.value.isConnected {
                    runs.append(run)
                    #expect(try await stage.waitForReceivers(runs.count))
                } else {
                    _ = try await run.state.wait(.milliseconds(100)) { _ in false }
                }
            }
            #expect(runs.count == 16)
            var error: GantryError?
            while attempts < 400, error?.code != .rejected {
                attempts += 1
                error = try await stage.connect(Self.soundOnly).end()
                if error?.code != .rejected { _ = try await stage.events.wait(.milliseconds(100)) { _ in false } }
            }
            #expect(error?.code == .rejected)
            #expect(error?.message.contains("as many studios as it can") == true)
            try await stage.stop()
            for run in runs { #expect(try await run.end() == nil) }
        }

        @Test func aProducerOfAnotherVersionIsNamedSo() async throws {
            let stage = try Stage()
            try await stage.pair()
            let listener = try TCPListener(port: 0)
            let identity = try Identity()
            let carriers = Watched<[SecureCarrier]>([])
            try listener.start(threadName: "test-listen") { link, _ in
                let carrier = try? SecureCarrier(
                    link: link, identity: identity,
                    configuration: .init(role: .server, alpn: "gantry/2", phase: .session, threadName: "test-other")
                ) { _ in .trusted }
                guard let carrier else { return }
                carriers.change { $0.append(carrier) }
                try? carrier.start(handler: SilentHandler())
            }
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(endpoint: Endpoint(host: "127.0.0.1", port: listener.port)),
                    configuration: Self.soundOnly))
            let error = try await run.end()
            #expect(error?.code == .versionMismatch)
            #expect(error?.message.contains("Bring both to the same version") == true)
            listener.stop()
        }

        @Test("S16: two studios receive the same") func twoStudiosReceiveTheSame() async throws {
            let stage = try Stage()
            try await stage.pair()
            let second = try StudioController(
                configuration: StudioConfiguration(name: "Second", stateDirectory: stage.file("second")))
            try await stage.pair(with: second)
            var runs: [SessionRun] = []
            for (index, studio) in [stage.studio, second].enumerated() {
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [
                    try MuxOutput.recording(path: stage.file("\(index).mkv"), overwrite: false) {
                        Issue.record("\($0)")
                    }
                ]
                runs.append(try await stage.connect(configuration, from: studio))
            }
            #expect(try await stage.waitForReceivers(2))
            let source = SourceRun(stage.producer)
            try await source.play(try TestPatternSource.small(seconds: 2))
            let statistics = stage.producer.statistics
            try await stage.stop()
            for (index, run) in runs.enumerated() {
                #expect(try await run.end() == nil)
                #expect(run.session.statistics.framesLost == 0)
                let pictures = try await Judge.pictures(stage.file("\(index).mkv"), width: 320, height: 180)
                let numbers = Judge.frameNumbers(pictures)
                #expect(numbers.allSatisfy { $0 != nil })
                #expect(numbers.count == statistics.framesSent)
                if statistics.framesSkipped + statistics.framesReplaced == 0 {
                    #expect(numbers == source.state.value.numbers.map { $0 })
                }
            }
        }

        @Test func aStudioThatJoinsLaterBeginsWithAKeyFrame() async throws {
            let stage = try Stage()
            try await stage.pair()
            let pattern = try TestPatternSource.small()
            let source = SourceRun(stage.producer)
            async let end = source.play(pattern)
            let first = try await stage.connect()
            #expect(try await first.state.wait { $0.hasFrame || $0.isEnded })
            #expect(try await source.state.wait { $0.frames > 20 })
            let second = try await stage.connect()
            #expect(try await second.state.wait { $0.hasFrame || $0.isEnded })
            #expect(second.state.value.hasFrame)
            #expect(second.session.statistics.framesReceived - second.session.statistics.framesDecoded <= 4)
            pattern.stop()
            _ = try await end
            #expect(try await first.close() == nil)
            #expect(try await second.close() == nil)
        }

        @Test func aSizeThatChangesGoesThrough() async throws {
            let stage = try Stage(audio: nil)
            try await stage.pair()
            let recording = try MuxOutput.recording(path: stage.file("take.mkv"), overwrite: false) {
                Issue.record("\($0)")
            }
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [recording]
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            try await SourceRun(stage.producer).play(try TestPatternSource.small(seconds: 1, audio: false))
            try await SourceRun(stage.producer).play(
                try TestPatternSource.small(seconds: 1, width: 480, height: 270, audio: false))
            try await stage.stop()
            #expect(try await run.end() == nil)
            let sizes = run.state.value.formats.map { format in
                if case .video(let video) = format { video.width } else { 0 }
            }
            #expect(sizes == [320, 480])
            #expect(run.session.statistics.framesLost == 0)
            #expect(run.session.statistics.width == 480)
            let paths = try #require(recording.summary?.paths)
            #expect(recording.summary?.frames == run.session.statistics.framesReceived)
            for path in paths { #expect(try await Judge.complaints(path) == "") }
        }
    }
}

/// Takes part in a carrier, and says nothing.
final class SilentHandler: CarrierHandler, Sendable {
    let peer = Watched<CarrierPeer?>(nil)
    /// How it ended, once it has.
    let end = Watched<GantryError??>(nil)

    func carrierEstablished(_ peer: CarrierPeer) { self.peer.change { $0 = peer } }
    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {}
    func carrierBroken(_ error: GantryError) {}
    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? { nil }
    func carrierClosed(_ error: GantryError?) { end.change { $0 = .some(error) } }
}
