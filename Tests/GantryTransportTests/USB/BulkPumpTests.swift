import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Testing

/// The pump over a cable in memory that keeps the rules of packets.
@Suite(.timeLimit(.minutes(3))) struct BulkPumpTests {
    private static let packetSizes = [64, 512, 1024]

    @Test(arguments: packetSizes, [1, 2, 3] as [UInt64]) func randomPiecesArriveExactly(
        packetSize: Int, seed: UInt64
    ) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        try pair.start()
        let total = 1_500_000
        async let up = onThread { () throws in
            var random = SeededRandom(seed: seed)
            return LinkTraffic.write(pair.host, total: total, seed: 1) { Int.random(in: 1...40_000, using: &random) }
        }
        async let down = onThread { () throws in
            var random = SeededRandom(seed: seed &+ 10)
            return LinkTraffic.write(pair.device, total: total, seed: 2) {
                // Often a multiple of the packet size.
                Bool.random(using: &random) ? packetSize * Int.random(in: 1...33, using: &random) : 1
            }
        }
        async let atDevice = onThread { () throws in
            var random = SeededRandom(seed: seed &+ 20)
            return LinkTraffic.read(pair.device, total: total, seed: 1) { Int.random(in: 1...20_000, using: &random) }
        }
        async let atHost = onThread { () throws in LinkTraffic.read(pair.host, total: total, seed: 2) }
        #expect(try await (up, down, atDevice, atHost) == (total, total, total, total))
        #expect(pair.wire.violations == [])
        try await onThread { pair.finish() }
        #expect(pair.hostEnd.value.error == nil && pair.deviceEnd.value.error == nil)
    }

    /// Each piece is read before the next is written: none may wait for another.
    @Test(arguments: packetSizes) func noPieceWaitsForTheNext(packetSize: Int) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        try pair.start()
        let sizes =
            [1, packetSize - 1, packetSize, packetSize + 1, 2 * packetSize, 3 * packetSize, 16383, 16384, 16385, 32768]
            + [20_000, 16384 + packetSize, 16384 - packetSize, 49152]
        let right = try await onThread { () throws in
            sizes.allSatisfy { size in
                LinkTraffic.write(pair.host, total: size, seed: 3) { size } == size
                    && LinkTraffic.read(pair.device, total: size, seed: 3) == size
                    && LinkTraffic.write(pair.device, total: size, seed: 4) { size } == size
                    && LinkTraffic.read(pair.host, total: size, seed: 4) == size
            }
        }
        #expect(right)
        #expect(pair.wire.violations == [])
        try await onThread { pair.finish() }
    }

    @Test(arguments: packetSizes) func whatAnEarlierSessionLeftIsThrownAway(packetSize: Int) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        let earlier = LinkPreface(nonce: [UInt8](repeating: 7, count: 16), from: .device)!.bytes
        let part = LinkPreface(nonce: BulkPair.nonce, from: .device)!.bytes.dropLast(1)
        // A whole preface of before, half of ours, and a write that ends with a full packet: it is glued to what follows.
        for bytes in [earlier, Array(part), [UInt8](repeating: 9, count: 4 * packetSize)] {
            pair.wire.leave(bytes, toHost: true)
            pair.wire.leave(bytes, toHost: false)
        }
        try pair.start()
        let right = try await onThread { () throws in
            LinkTraffic.write(pair.host, total: 100_000, seed: 3) { 7000 } == 100_000
                && LinkTraffic.read(pair.device, total: 100_000, seed: 3) == 100_000
                && LinkTraffic.write(pair.device, total: 100_000, seed: 4) { 7000 } == 100_000
                && LinkTraffic.read(pair.host, total: 100_000, seed: 4) == 100_000
        }
        #expect(right)
        try await onThread { pair.finish() }
    }

    @Test func anEndWithoutAnAnswerIsSaid() async throws {
        let pair = try BulkPair(packetSize: 512, openLimit: .milliseconds(50))
        try pair.hostPump.start()
        #expect(try await pair.hostEnd.wait { $0.hasEnded })
        #expect(pair.hostEnd.value.error?.code == .timeout)
        #expect(!pair.hostEnd.value.isOpen)
        try await onThread { pair.finish() }
    }

    @Test func endlessGarbageEndsIt() async throws {
        let pair = try BulkPair(packetSize: 512, discardLimit: 100_000)
        try pair.hostPump.start()
        for _ in 0..<20 { pair.wire.leave([UInt8](repeating: 0x67, count: 10_001), toHost: true) }
        #expect(try await pair.hostEnd.wait { $0.hasEnded })
        #expect(pair.hostEnd.value.error?.code == .usbTransfer)
        try await onThread { pair.finish() }
    }

    @Test func theEndOfTheStreamComesAfterItsLastByte() async throws {
        let pair = try BulkPair(packetSize: 512)
        try pair.start()
        let (written, read, ended) = try await onThread { () throws in
            let written = LinkTraffic.write(pair.host, total: 60_001, seed: 5) { 20_000 }
            pair.host.finishWriting()
            let read = LinkTraffic.read(pair.device, total: 60_001, seed: 5)
            return (written, read, LinkTraffic.endsWithin(patience, pair.device))
        }
        #expect((written, read, ended) == (60_001, 60_001, true))
        pair.device.close()
        pair.host.close()
        #expect(try await pair.hostEnd.wait { $0.hasEnded })
        #expect(try await pair.deviceEnd.wait { $0.hasEnded })
        #expect(pair.hostEnd.value.error == nil && pair.deviceEnd.value.error == nil)
        try await onThread { pair.finish() }
    }

    /// As a carrier ends: written, and closed in both directions at once.
    @Test func whatWasWrittenBeforeTheCloseStillArrives() async throws {
        let pair = try BulkPair(packetSize: 512)
        try pair.start()
        #expect(try await pair.hostEnd.wait { $0.isOpen })
        let read = try await onThread { () throws in
            LinkTraffic.write(pair.host, total: 20_000, seed: 5) { 20_000 }
            pair.host.close()
            return LinkTraffic.read(pair.device, total: 20_000, seed: 5)
        }
        #expect(read == 20_000)
        #expect(try await pair.hostEnd.wait { $0.hasEnded })
        try await onThread { pair.finish() }
    }

    @Test func aReaderThatDoesNotReadBlocksTheWriter() async throws {
        let pair = try BulkPair(packetSize: 512)
        try pair.start()
        #expect(try await pair.deviceEnd.wait { $0.isOpen })
        let written = try await onThread { () throws in
            LinkTraffic.write(pair.device, total: 4_000_000, seed: 6, limit: .milliseconds(300)) { 16_000 }
        }
        // The socket pairs and eight transfers.
        #expect(written > 64 * 1024)
        #expect(written < 800_000)
        let read = try await onThread { () throws in LinkTraffic.read(pair.host, total: written, seed: 6) }
        #expect(read == written)
        try await onThread { pair.finish() }
    }

    @Test func anUnpluggedCableEndsBothLinks() async throws {
        let pair = try BulkPair(packetSize: 512)
        try pair.start()
        #expect(try await pair.hostEnd.wait { $0.isOpen })
        #expect(try await pair.deviceEnd.wait { $0.isOpen })
        pair.wire.unplug()
        let ended = try await onThread { () throws in
            LinkTraffic.endsWithin(patience, pair.host) && LinkTraffic.endsWithin(patience, pair.device)
        }
        #expect(ended)
        #expect(pair.hostEnd.value.error?.code == .peerLost)
        #expect(pair.deviceEnd.value.error?.code == .peerLost)
        try await onThread { pair.finish() }
    }

    @Test(arguments: packetSizes) func carriersRunOverIt(packetSize: Int) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        try pair.start()
        let (studio, producer) = (RecordingHandler(), RecordingHandler())
        let client = try SecureCarrier.make(.client, over: pair.host)
        let server = try SecureCarrier.make(.server, over: pair.device)
        try server.start(handler: producer)
        try client.start(handler: studio)
        #expect(try await studio.state.wait { $0.peer != nil || $0.isClosed })
        for number in 0..<20 {
            #expect(server.send(packet(.h264, size: 20_000, sequence: UInt32(number)), channel: 1))
        }
        let messages = try await studio.messages(20)
        #expect(messages.count == 20 && messages.allSatisfy { $0.size == 20_000 + MediaPrefix.size })
        client.close()
        #expect(try await producer.end() == nil)
        #expect(try await studio.end() == nil)
        #expect(pair.wire.violations == [])
        try await onThread {
            client.join()
            server.join()
            pair.finish()
        }
    }
}
