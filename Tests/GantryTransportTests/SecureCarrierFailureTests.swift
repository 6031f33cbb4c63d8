import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Testing

/// What a carrier does when the other end does not do what it should.
@Suite(.timeLimit(.minutes(3))) struct SecureCarrierFailureTests {
    @Test(arguments: Medium.allCases) func aPeerThatVanishesIsLost(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        #expect(try await pair.connect())
        pair.clientLink.close()
        #expect(try await pair.serverEvents.end()?.code == .peerLost)
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func garbageIsNoPeer(_ medium: Medium) async throws {
        let (raw, link) = try await medium.links()
        let carrier = try SecureCarrier.make(.server, over: link)
        let events = RecordingHandler()
        try carrier.start(handler: events)
        _ = try await onThread { RawEnd.exchange(Array("GET / HTTP/1.1\r\n\r\n".utf8), over: raw) }
        let error = try await events.end()
        #expect(error?.code == .protocolError)
        #expect(error?.message.contains("Check the address and the port") == true)
        #expect(events.state.value.peer == nil)
    }

    @Test(arguments: Medium.allCases) func aHandshakeThatNeverComesTimesOut(_ medium: Medium) async throws {
        let (raw, link) = try await medium.links()
        let carrier = try SecureCarrier.make(.server, over: link, limit: .milliseconds(100))
        let events = RecordingHandler()
        try carrier.start(handler: events)
        #expect(try await events.end()?.code == .timeout)
        raw.close()
    }

    @Test(arguments: Medium.allCases) func slowBytesDoNotStretchTheHandshake(_ medium: Medium) async throws {
        let (raw, link) = try await medium.links()
        let carrier = try SecureCarrier.make(.server, over: link, limit: .milliseconds(300))
        let events = RecordingHandler()
        try carrier.start(handler: events)
        let isOver = Watched(false)
        // The beginning of a handshake record, a byte at a time, for as long as the carrier listens.
        async let dripping: Void = onThread {
            for byte: UInt8 in [22, 3, 1, 64, 0, 1] + Array(repeating: 0, count: 10_000) {
                guard !isOver.waitBlocking(.milliseconds(20), until: { $0 }) else { return }
                _ = withUnsafeBytes(of: byte) { try? raw.write($0) }
            }
        }
        #expect(try await events.end()?.code == .timeout)
        isOver.change { $0 = true }
        try await dripping
    }

    @Test(arguments: Medium.allCases) func aStrangerLearnsThatItIsNotPaired(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium, serverTrusts: .unknown)
        try pair.start()
        let client = try await pair.clientEvents.end()
        #expect(client?.code == .notPaired)
        #expect(client?.message.contains("gantry-studio pair") == true)
        #expect(try await pair.serverEvents.end()?.code == .notPaired)
        #expect(pair.serverEvents.state.value.peer == nil)
    }

    @Test(arguments: Medium.allCases) func aRemovedPeerLearnsThatItWasRemoved(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium, serverTrusts: .revoked)
        try pair.start()
        #expect(try await pair.clientEvents.end()?.code == .unpairedByPeer)
        #expect(try await pair.serverEvents.end()?.code == .notPaired)
    }

    @Test(arguments: Medium.allCases) func theClientRefusesAsWell(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium, clientTrusts: .unknown)
        try pair.start()
        #expect(try await pair.clientEvents.end()?.code == .notPaired)
        #expect(try await pair.serverEvents.end()?.code == .notPaired)
        #expect(pair.clientEvents.state.value.peer == nil)
        #expect(pair.serverEvents.state.value.peer == nil)
    }

    @Test(arguments: Medium.allCases) func anotherProtocolIsAnotherVersion(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium, clientALPN: "gantry/2")
        try pair.start()
        #expect(try await pair.clientEvents.end()?.code == .versionMismatch)
        #expect(try await pair.serverEvents.end()?.code == .versionMismatch)
    }

    /// Frames that no receiver may take, and what makes them bad.
    static let broken: [(name: String, bytes: [UInt8])] = [
        ("a fragment of 16385 bytes", [0x0D, 0, 0, 0, 0, 0, 0x40, 0x01]),
        ("a control message on channel 1", [0x0D, 0, 0, 1, 0, 0, 0, 0]),
        ("video on channel 0", [0x20, 0, 0, 0, 0, 0, 0, 1, 0]),
        ("a channel above 8", [0x20, 0, 0, 9, 0, 0, 0, 1, 0]),
        ("a pairing message in a session", [0x30, 0, 0, 0, 0, 0, 0, 0]),
    ]

    @Test(arguments: broken.indices) func whoBreaksTheFramingGetsAGoodbye(_ index: Int) async throws {
        let (raw, link) = try await Medium.socketPair.links()
        let carrier = try SecureCarrier.make(.server, over: link)
        let events = RecordingHandler { _ in
            carrier.send(.bye(Bye(reason: .protocolError, text: "no")))
        }
        try carrier.start(handler: events)
        let received = try await onThread { try RawEnd.speakTLS(Self.broken[index].bytes, over: raw) }
        #expect(try await events.end() == nil)
        #expect(events.state.value.broken?.code == .protocolError, "\(Self.broken[index].name)")
        let payload = ControlMessage.bye(Bye(reason: .protocolError, text: "no")).encode()
        let header = FrameHeader(type: .bye, length: UInt32(payload.count))
        #expect(received == header.bytes + payload, "\(Self.broken[index].name)")
    }

    @Test func onlyHelloIsLetInBeforeThePeerIsAccepted() async throws {
        let pair = try await CarrierPair(.socketPair, serverPhase: .beforeAuthorisation)
        #expect(try await pair.connect())
        #expect(pair.client.send(.ping(Ping(sent: .init(microseconds: 1)))))
        #expect(try await pair.serverEvents.state.wait { $0.broken != nil })
        #expect(pair.serverEvents.state.value.broken?.code == .protocolError)
        #expect(pair.serverEvents.state.value.messages.isEmpty)
        try await pair.finish()
    }

    /// A peer that takes nothing is given up when even the control messages have no room.
    @Test func aPeerThatTakesNothingIsGivenUp() async throws {
        let pair = try await CarrierPair(.socketPair)
        pair.clientEvents.hold()
        #expect(try await pair.connect())
        while pair.server.send(packet(.h264, size: 1_000_000), channel: 1) {}
        var sent = 0
        while sent < 100_000, pair.server.send(.ping(Ping(sent: .init(microseconds: 1)))) { sent += 1 }
        #expect(sent >= 256)
        #expect(sent < 100_000)
        let error = try await pair.serverEvents.end()
        #expect(error?.code == .peerLost)
        pair.clientEvents.release()
        try await pair.finish()
    }
}
