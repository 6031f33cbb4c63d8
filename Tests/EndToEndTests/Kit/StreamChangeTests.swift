import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import GantryTrust
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Streams that begin and end at the producer while studios are connected.
    @Suite struct StreamChangeTests {
        /// A producer that plays the pattern, and a studio that records and keeps the headers.
        private struct Setting {
            let stage: Stage
            let pattern: LivePattern
            let packets = HeaderCollector()
            let recording: RecordingOutput
            let run: SessionRun

            init(without ended: MediaKind? = nil, transport: MediaTransport = .auto) async throws {
                stage = try Stage()
                try await stage.pair()
                if let ended { stage.producer.endStream(ended) }
                pattern = try LivePattern(stage.producer)
                recording = try RecordingOutput(path: stage.file("take.mkv")) { Issue.record("\($0)") }
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [packets, recording]
                configuration.transport = transport
                run = try await stage.connect(configuration)
                if ended != .video { try await waitForMore(10, isVideo: true) }
                if ended != .audio { try await waitForMore(20, isVideo: false) }
            }

            var kinds: [MediaKind] { run.session.streams.map(\.kind) }

            func count(_ isVideo: Bool) -> Int { packets.entries.value.count { $0.isVideo == isVideo } }

            func waitForMore(_ count: Int, isVideo: Bool) async throws {
                let before = self.count(isVideo)
                #expect(try await packets.entries.wait { $0.count { $0.isVideo == isVideo } >= before + count })
            }

            func waitForChange(_ matches: @escaping @Sendable (StreamChange) -> Bool) async throws {
                #expect(try await run.state.wait { $0.changes.contains(where: matches) })
            }

            func finish() async throws -> [String] {
                try await pattern.stop()
                #expect(try await run.close() == nil)
                try await stage.stop()
                #expect(run.state.value.connections == 1)
                return recording.saved?.paths ?? []
            }
        }

        @Test(arguments: [MediaTransport.tcp, .udp]) func soundEndsAndBeginsAgain(transport: MediaTransport)
            async throws
        {
            let setting = try await Setting(transport: transport)
            let (producer, session) = (setting.stage.producer, setting.run.session)
            let first = session.streams.first { $0.kind == .audio }
            #expect(producer.endStream(.audio) && !producer.endStream(.audio))
            #expect(!producer.isOffered(.audio) && producer.isOffered(.video))
            try await setting.waitForChange { $0.destroyed.map(\.kind) == [.audio] }
            #expect(setting.kinds == [.video, .data])
            #expect(try await setting.run.state.wait { $0.lostStreams.map(\.kind) == [.audio] })
            #expect(!producer.isReceived(.audio) && producer.isReceived(.video))
            #expect(try !producer.enqueuePCMAudio([Int16](repeating: 0, count: 960)))
            // What was on its way has come with the next pictures.
            try await setting.waitForMore(3, isVideo: true)
            let heard = setting.count(false)
            try await setting.waitForMore(20, isVideo: true)
            #expect(setting.count(false) == heard)

            #expect(producer.beginStream(.audio) && !producer.beginStream(.audio))
            try await setting.waitForChange { [first] change in
                change.created.contains { $0.kind == .audio && $0.created > first?.created ?? $0.created }
            }
            try await setting.waitForMore(40, isVideo: false)
            try await setting.waitForMore(5, isVideo: true)
            #expect(setting.kinds == [.video, .audio, .data])
            #expect(session.playerState.contains(.playing))
            #expect(session.statistics.framesLost == 0 && session.statistics.audioPacketsLost == 0)
            let told = setting.stage.events.value.compactMap { event -> Bool? in
                switch event {
                case .streamEnded(.audio): false
                case .streamBegan(.audio): true
                default: nil
                }
            }
            #expect(told == [false, true])
            let paths = try await setting.finish()
            #expect(paths.count == 1, "the recording goes on in its file")
            let facts = try await Judge.probe(try #require(paths.first))
            #expect(facts.audio["codec_name"] == "opus" && facts.frames > 30)
            #expect(try await Judge.complaints(paths[0]).isEmpty)
        }

        @Test(arguments: [MediaTransport.tcp, .udp]) func soundBeginsLater(transport: MediaTransport) async throws {
            let setting = try await Setting(without: .audio, transport: transport)
            #expect(setting.run.state.value.streams.map(\.kind) == [.video, .data])
            #expect(setting.count(false) == 0)
            #expect(setting.stage.producer.beginStream(.audio))
            try await setting.waitForMore(40, isVideo: false)
            // A key frame comes every two seconds where something is recorded.
            try await setting.waitForMore(90, isVideo: true)
            #expect(setting.kinds == [.video, .audio, .data])
            #expect(setting.run.session.statistics.framesLost == 0)
            // A file without sound cannot get some: another one begins.
            let paths = try await setting.finish()
            #expect(paths.count == 2)
            #expect(try await Judge.probe(try #require(paths.first)).audio.isEmpty)
            #expect(try await Judge.probe(try #require(paths.last)).audio["codec_name"] == "opus")
        }

        @Test func thePictureEndsAndSoundGoesOn() async throws {
            let setting = try await Setting()
            let producer = setting.stage.producer
            producer.endStream(.video)
            try await setting.waitForChange { $0.destroyed.map(\.kind) == [.video] }
            try await setting.waitForMore(5, isVideo: false)
            let (seen, sent) = (setting.count(true), producer.statistics.framesSent)
            try await setting.waitForMore(60, isVideo: false)
            #expect(setting.count(true) == seen)
            #expect(producer.statistics.framesSent == sent, "what nobody can receive is not encoded")
            // Who comes meanwhile sees what there is.
            let other = try await setting.stage.connect()
            #expect(other.state.value.streams.map(\.kind) == [.audio, .data])
            producer.beginStream(.video)
            try await setting.waitForMore(10, isVideo: true)
            #expect(setting.packets.entries.value.filter(\.isVideo).dropFirst(seen).first?.header.isKey == true)
            #expect(try await other.state.wait { $0.hasFrame })
            #expect(setting.run.session.statistics.audioPacketsLost == 0)
            try await other.close()
            _ = try await setting.finish()
        }

        @Test func dataStaysAndSoDoesWhatIsNotThere() async throws {
            let stage = try Stage(audio: nil)
            #expect(!stage.producer.endStream(.data) && stage.producer.isOffered(.data))
            #expect(!stage.producer.beginStream(.audio) && !stage.producer.isOffered(.audio))
            stage.producer.endStream(.video)
            try await stage.stop()
            #expect(!stage.producer.isOffered(.video), "it holds for the next run")
            let producer = stage.producer
            try await onThread { try producer.start() }
            #expect(!producer.isOffered(.video) && producer.beginStream(.video))
            try await stage.stop()
        }

        /// As a studio that does not follow at once sees it.
        @Test func onTheWire() async throws {
            let stage = try Stage()
            try await stage.pair()
            let identity = try Identity.loadOrCreate(in: try StateFolder.open(stage.file("studio")))
            let (producer, port) = (stage.producer, stage.producer.port ?? 0)
            try await onThread {
                let peer = try HostilePeer.studio(port: port, identity: identity)
                func next(_ matches: (ControlMessage) -> Bool) throws -> ControlMessage {
                    while true {
                        let message = try peer.nextMessage()
                        if matches(message) { return message }
                        try peer.send(.stats(Stats()))
                    }
                }
                func streams() throws -> Streams? {
                    let message = try next { if case .streams = $0 { true } else { false } }
                    if case .streams(let streams) = message { return streams }
                    return nil
                }
                try peer.handshake()
                try peer.send(HostileMessages.hello)
                _ = try next { if case .accept = $0 { true } else { false } }
                producer.endStream(.audio)
                #expect(try streams() == Streams(removed: [2]))
                // Both crossed: what has gone is passed over, and the rest is served.
                try peer.send(.start(Start(channels: [1, 2])))
                try peer.send(.resume(Pause(mask: 1 << 2, reason: .user)))
                try peer.send(.keyframe(Keyframe(channel: 2, reason: .loss)))
                #expect(waitUntil { producer.state.connections.count == 1 })
                #expect(!producer.isReceived(.audio))
                producer.beginStream(.audio)
                #expect(try streams()?.added.map(\.channel) == [2])
                #expect(!producer.isReceived(.audio), "not before the next START")
                try peer.send(.start(Start(channels: [1, 2])))
                #expect(waitUntil { producer.isReceived(.audio) })
            }
            try await stage.stop()
        }
    }
}
