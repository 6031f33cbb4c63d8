import Foundation
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

/// Notes what a delegate is told, and on which threads.
private final class SessionDelegateLog: StudioSessionDelegate {
    struct State: Sendable {
        var calls: [String] = []
        var events = 0
        var threads: Set<String> = []
        var streams: [StreamInfo] = []
        var error: GantryError?
        var players: [PlayerState] = []
    }

    let state = Watched(State())
    private let onConnect: @Sendable (StudioSession) -> Void

    init(onConnect: @escaping @Sendable (StudioSession) -> Void = { _ in }) { self.onConnect = onConnect }

    private func note(_ call: String) { state.change { $0.calls.append(call) } }

    func session(_ session: StudioSession, didReceive event: StudioEvent) {
        let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
        state.change {
            $0.threads.insert(name?.trimmingCharacters(in: .newlines) ?? "")
            $0.events += 1
        }
    }
    func sessionDidConnect(_ session: StudioSession) {
        note("connect")
        onConnect(session)
    }
    func sessionDidDisconnect(_ session: StudioSession, error: GantryError?) { note("disconnect") }
    func sessionDidReconnect(_ session: StudioSession) { note("reconnect") }
    func sessionDidEnd(_ session: StudioSession) { note("end") }
    func session(_ session: StudioSession, didFail error: GantryError) {
        state.change { $0.error = error }
        note("fail")
    }
    func session(_ session: StudioSession, streamsDidChange change: StreamChange) {
        state.change { $0.streams = change.streams }
    }
    func session(_ session: StudioSession, playerDidChange player: PlayerState) {
        state.change { $0.players.append(player) }
    }
}

extension EndToEnd {
    /// Sessions as an application sees them.
    @Suite struct SessionInterfaceTests {
        @Test("S1, O6: the streams of a producer are a live list with all that a list needs")
        func streams() async throws {
            let stage = try Stage(
                video: .init(sourceName: "Lens", sourceType: .camera), audio: .init(sourceName: "Mic"))
            try await stage.pair()
            let run = try await stage.connect()
            #expect(try await run.state.wait { !$0.changes.isEmpty })
            let streams = run.session.streams
            let created = run.state.value.changes.first?.created ?? []
            #expect(created.map { $0.name } == streams.map { $0.name })
            #expect(streams.map(\.kind) == [.video, .audio, .data])
            #expect(streams.map(\.name) == ["Lens", "Mic", "data"])
            #expect(streams.map(\.hasVideo) == [true, false, false])
            #expect(streams.map(\.hasAudio) == [false, true, false])
            #expect(Set(streams.map(\.id)).count == 3)
            #expect(streams[0].source == .camera)
            #expect(streams.allSatisfy { $0.created > MediaTimestamp(microseconds: 0) })
            #expect(streams.allSatisfy { $0.connection.producer == "Camera" })
            #expect(streams.allSatisfy { $0.connection.keyID == stage.producer.keyID })
            #expect(streams[0].width == nil)
            let source = try LivePattern(stage.producer)
            #expect(try await run.state.wait { $0.changes.contains { $0.changed.first?.width == 320 } })
            #expect(run.session.streams[0].height == 180)
            #expect(run.session.streams[0].frameRate == .fps30)
            try await source.stop()
            try await run.close()
            #expect(run.session.streams.isEmpty)
            #expect(run.state.value.changes.last?.destroyed.count == 3)
        }

        @Test("O2: what this very installation publishes is recognised, and not received")
        func ownStream() async throws {
            let stage = try Stage()
            let own = try StudioController(
                configuration: StudioConfiguration(name: "Same", stateDirectory: stage.file("producer")))
            #expect(own.keyID == stage.producer.keyID)
            let run = try await stage.connect(from: own)
            #expect(!run.state.value.isConnected)
            #expect(try await run.end()?.message.contains("this very device") == true)
        }

        @Test("O1, F2: the delegate hears of loss and return, on a thread of its own, and may call the session")
        func delegate() async throws {
            let stage = try Stage(port: try LoopbackSocket.freePort())
            try await stage.pair()
            let log = SessionDelegateLog { session in
                session.pause(.audio)
                session.resume()
                _ = session.statistics
                _ = session.streams
            }
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            let target = ProducerTarget(endpoint: stage.endpoint, keyID: stage.producer.keyID)
            let session = try stage.studio.subscribe(to: target, configuration: configuration, delegate: log)
            #expect(try await log.state.wait { $0.calls == ["connect"] && $0.streams.count == 3 })
            #expect(session.state == .connected)
            try await stage.stop()
            #expect(try await log.state.wait { $0.calls == ["connect", "disconnect"] && $0.streams.isEmpty })
            #expect(session.state == .reconnecting)
            try stage.producer.start()
            #expect(try await log.state.wait { $0.calls == ["connect", "disconnect", "reconnect"] })
            await session.end()
            #expect(try await log.state.wait { $0.calls.last == "end" })
            #expect(session.state == .ended)
            #expect(log.state.value.threads == ["studio-delegate"])
        }

        @Test("O3: subscribing to who is not there fails with what mends it")
        func failure() async throws {
            let stage = try Stage()
            try await stage.pair()
            let log = SessionDelegateLog()
            let target = ProducerTarget(endpoint: Endpoint(host: "127.0.0.1", port: try LoopbackSocket.freePort()))
            let session = try stage.studio.subscribe(to: target, delegate: log)
            #expect(try await log.state.wait { $0.calls == ["fail"] })
            #expect(log.state.value.error?.message.contains("127.0.0.1") == true)
            guard case .failed(let error) = session.state else {
                Issue.record("\(session.state)")
                return
            }
            #expect(error.code == log.state.value.error?.code)
            #expect(throws: GantryError.self) { try stage.studio.target("nobody") }
        }

        @Test("F3: sessions are listed while they are open")
        func openSessions() async throws {
            let stage = try Stage()
            try await stage.pair()
            #expect(stage.studio.sessions.isEmpty)
            let first = try await stage.connect()
            let second = try await stage.connect()
            #expect(
                stage.studio.sessions.map(ObjectIdentifier.init)
                    == [first, second].map { ObjectIdentifier($0.session) })
            try await first.close()
            #expect(stage.studio.sessions.map(ObjectIdentifier.init) == [ObjectIdentifier(second.session)])
            await second.session.end()
            #expect(stage.studio.sessions.isEmpty)
        }

        @Test("Every reader of the events gets all of them, also one that comes late")
        func readers() async throws {
            let stage = try Stage()
            try await stage.pair()
            let run = try await stage.connect()
            let (early, late) = (Watched<[String]>([]), Watched<[String]>([]))
            let session = run.session
            let reading = Task.detached { for await event in session.events { early.change { $0.append("\(event)") } } }
            try await run.close()
            await reading.value
            for await event in session.events { late.change { $0.append("\(event)") } }
            #expect(early.value == late.value)
            #expect(late.value.first?.hasPrefix("connecting") == true)
            #expect(late.value.last?.hasPrefix("ended") == true)
        }

        @Test("S3, S4: what the player does: buffering, playing, hidden, paused, ended")
        func playerStates() async throws {
            let stage = try Stage()
            try await stage.pair()
            let run = try await stage.connect()
            let source = try LivePattern(stage.producer)
            #expect(try await run.state.wait { $0.players.last == [.open, .active, .visible, .playing] })
            #expect(run.state.value.players.first?.contains(.buffering) == true)
            run.session.setVideoHidden(true)
            #expect(run.session.playerState == [.open, .active, .playing])
            let sounds = run.session.statistics.audioPacketsReceived
            #expect(try await onThread { waitUntil { run.session.statistics.audioPacketsReceived > sounds + 20 } })
            run.session.pause()
            #expect(run.session.playerState == [.open, .active, .paused])
            run.session.resume()
            run.session.setVideoHidden(false)
            #expect(run.session.playerState == [.open, .active, .visible, .playing])
            try await source.stop()
            try await run.close()
            #expect(run.session.playerState == [])
        }

        @Test("O9: sound or picture alone")
        func oneKind() async throws {
            let stage = try Stage()
            try await stage.pair()
            let source = try LivePattern(stage.producer)
            for isVideo in [true, false] {
                var configuration = StudioSessionConfiguration()
                configuration.wantsVideo = isVideo
                configuration.wantsAudio = !isVideo
                let run = try await stage.connect(configuration)
                let session = run.session
                #expect(
                    try await onThread {
                        waitUntil {
                            let now = session.statistics
                            return (isVideo ? now.framesDecoded : now.audioPacketsReceived) > 10
                        }
                    })
                #expect(run.session.playerState.contains(.visible) == isVideo)
                try await run.close()
                let result = run.session.statistics
                #expect((isVideo ? result.audioPacketsReceived : result.framesReceived) == 0)
            }
            try await source.stop()
        }

        @Test func blockingCallsHaveAsyncForms() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            async let device = stage.studio.pair(pairing)
            let (producer, code) = (stage.producer, pairing.code)
            _ = try await onThread { try producer.pairStudio(withQRCodeData: code) }
            let paired = try await device
            #expect(paired.keyID == stage.producer.keyID)
            pairing.close()
            try await stage.studio.checkConnection(to: paired)
            try await stage.studio.removePairedDevice(paired.keyID)
            await #expect(throws: GantryError.self) { try await stage.studio.checkConnection(to: paired) }

            let cancelled = try stage.studio.beginPairing(address: "127.0.0.1")
            let (studio, waiting) = (stage.studio, cancelled)
            let task = Task { try await studio.pair(waiting) }
            task.cancel()
            await #expect(throws: GantryError.self) { try await task.value }
        }
    }
}
