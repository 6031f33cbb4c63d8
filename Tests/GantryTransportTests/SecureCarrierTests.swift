import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Testing

/// Two carriers back to back, over a socket pair and over TCP: the same must happen.
@Suite(.timeLimit(.minutes(3))) struct SecureCarrierTests {
    @Test(arguments: Medium.allCases) func bothEndsKnowEachOtherAfterTheHandshake(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium, exporterLabel: "EXPORTER-test")
        #expect(try await pair.connect())
        let client = pair.clientEvents.state.value
        let server = pair.serverEvents.state.value
        #expect(client.peer?.keyID == pair.serverIdentity.keyID)
        #expect(server.peer?.keyID == pair.clientIdentity.keyID)
        #expect(client.peer?.publicKeyInfo == pair.serverIdentity.publicKeyInfo)
        #expect(client.peer?.exporter.count == 32)
        #expect(client.peer?.exporter == server.peer?.exporter)
        if medium == .loopback { #expect(Endpoint(text: client.peer?.address ?? "")?.host == "127.0.0.1") }
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func messagesGoBothWaysInOrder(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        #expect(try await pair.connect())
        for number in 0..<50 {
            #expect(pair.client.send(.ping(Ping(sent: MediaTimestamp(microseconds: Int64(number))))))
            #expect(pair.server.send(.data(DataMessage(label: "n", bytes: [UInt8(number)])), channel: 3))
        }
        let atServer = try await pair.serverEvents.messages(50)
        let atClient = try await pair.clientEvents.messages(50)
        #expect(
            atServer.map(\.bytes)
                == (0..<50).map { ControlMessage.ping(Ping(sent: MediaTimestamp(microseconds: $0))).encode() })
        #expect(atServer.allSatisfy { $0.type == .ping && $0.channel == 0 })
        #expect(atClient.map(\.bytes.last) == (0..<50).map { UInt8($0) })
        #expect(atClient.allSatisfy { $0.type == .data && $0.channel == 3 })
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func whatWaitsLeavesByPriority(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        // Before the threads run: all of it waits when the handshake is complete.
        #expect(pair.server.send(packet(.h264, size: 300_000), channel: 1))
        #expect(pair.server.send(.data(DataMessage(label: "d", bytes: [1])), channel: 3))
        #expect(pair.server.send(packet(.opus, size: 100), channel: 2))
        #expect(
            pair.server.send(
                .pong(
                    Pong(
                        pingSent: .init(microseconds: 1), received: .init(microseconds: 2), sent: .init(microseconds: 3)
                    ))))
        #expect(try await pair.connect())
        let messages = try await pair.clientEvents.messages(4)
        #expect(messages.map(\.type) == [.pong, .audio, .data, .video])
        #expect(messages.last?.size == 300_000 + MediaPrefix.size)
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func soundOvertakesALargePicture(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        pair.clientEvents.hold()
        #expect(try await pair.connect())
        // More than any socket holds, so that the rest is still here when the sound comes.
        for number in 0..<6 {
            #expect(pair.server.send(packet(.h264, size: 4_000_000, sequence: UInt32(number)), channel: 1))
        }
        let (server, events) = (pair.server, pair.clientEvents)
        let (sound, ping) = (packet(.opus, size: 120, fill: 0x11), Ping(sent: .init(microseconds: 7)))
        // On one thread: nobody reads meanwhile, and TCP gives up after ten seconds of that.
        let sent = try await onThread { () -> [Bool] in
            defer { events.release() }
            // The link is full: what is queued now leaves by class.
            let isFull = events.state.waitBlocking { $0.isWaiting } && waitUntil { server.videoBacklog.isBlocked }
            return [isFull, server.send(sound, channel: 2), server.send(.ping(ping))]
        }
        #expect(sent == [true, true, true])
        let messages = try await pair.clientEvents.messages(8)
        let order = messages.map(\.type)
        let soundPlace = try #require(order.firstIndex(of: .audio))
        #expect(soundPlace < order.lastIndex(of: .video) ?? 0)
        // Which of the two is first is decided above, where both wait before anything is sent: here the link may take the
        // sound between the two calls.
        #expect(order.firstIndex(of: .ping) ?? 9 < order.lastIndex(of: .video) ?? 0)
        #expect(order.count { $0 == .video } == 6)
        #expect(messages.filter { $0.type == .video }.allSatisfy { $0.size == 4_000_000 + MediaPrefix.size })
        // Inside the message, not only between two.
        #expect(messages[soundPlace].bytes.dropFirst(MediaPrefix.size).allSatisfy { $0 == 0x11 })
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func aReaderThatDoesNotReadFillsBoundedQueues(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        pair.clientEvents.hold()
        #expect(try await pair.connect())
        let video = packet(.h264, size: 1_000_000)
        let sound = packet(.opus, size: 200)
        let before = ProcessUsage.current.residentBytes
        var taken = 0
        while taken < 200, pair.server.send(video, channel: 1) { taken += 1 }
        #expect(taken >= 32)
        #expect(taken < 80)
        #expect(pair.server.videoBacklog.count <= 32)
        #expect(pair.server.videoBacklog.bytes <= 32 * (1_000_000 + MediaPrefix.size))
        // Sound has room of its own, and that ends too.
        var sounds = 0
        while sounds < 100_000, pair.server.send(sound, channel: 2) { sounds += 1 }
        #expect(sounds >= 64)
        #expect(sounds < 100_000)
        // 32 times the same packet is one packet: nothing was copied for the queue.
        #expect(ProcessUsage.current.residentBytes - before < 64 << 20)
        pair.clientEvents.release()
        let messages = try await pair.clientEvents.messages(taken + sounds)
        #expect(messages.count { $0.type == .video } == taken)
        #expect(messages.count { $0.type == .audio } == sounds)
        #expect(pair.server.videoBacklog.bytes == 0)
        #expect(pair.server.videoBacklog.count == 0)
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func closingSendsWhatWaits(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        #expect(try await pair.connect())
        for number in 0..<10 {
            #expect(pair.client.send(packet(.h264, size: 30_000, sequence: UInt32(number)), channel: 1))
        }
        #expect(pair.client.send(.bye(Bye(reason: .normal))))
        pair.client.close()
        #expect(!pair.client.send(.ping(Ping(sent: .init(microseconds: 1)))))
        #expect(try await pair.serverEvents.end() == nil)
        #expect(try await pair.clientEvents.end() == nil)
        let types = pair.serverEvents.state.value.messages.map(\.type)
        #expect(types.count { $0 == .video } == 10)
        #expect(types.count { $0 == .bye } == 1)
        try await pair.finish()
    }

    @Test(arguments: Medium.allCases) func mediaArrivesByteForByte(_ medium: Medium) async throws {
        let pair = try await CarrierPair(medium)
        #expect(try await pair.connect())
        let sent = MediaPacket(capacity: 50_000)
        let content = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        content.withUnsafeBytes { sent.append($0) }
        sent.header = MediaHeader(
            sequence: 0x0102_0304, presentationTime: MediaTimestamp(microseconds: 0x1112_1314_1516_1718),
            captureTime: MediaTimestamp(microseconds: -1), epoch: 0x2122, isKey: true)
        #expect(pair.client.send(sent, channel: 1))
        let message = try #require(try await pair.serverEvents.messages(1).first)
        #expect(message.flags.contains(.key))
        #expect(
            Array(message.bytes.prefix(MediaPrefix.size))
                == [1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18] + Array(repeating: 0xFF, count: 8)
                + [0x21, 0x22])
        #expect(Array(message.bytes.dropFirst(MediaPrefix.size)) == content)
        try await pair.finish()
    }
}
