import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Glibc
import Testing

/// The link over a cable in memory that keeps the rules of packets.
@Suite(.timeLimit(.minutes(3))) struct BulkLinkTests {
    private static let packetSizes = [64, 512, 1024]

    @Test(arguments: packetSizes, [1, 2, 3] as [UInt64]) func randomPiecesArriveExactly(
        packetSize: Int, seed: UInt64
    ) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        let total = 1_500_000
        let right = try await onThread { () throws in
            try pair.begin()
            var random = SeededRandom(seed: seed)
            let up = LinkFlow(
                from: pair.host, to: pair.device, total: total, seed: 1,
                room: { Int.random(in: 1...20_000, using: &random) }
            ) { Int.random(in: 1...40_000, using: &random) }
            let down = LinkFlow(from: pair.device, to: pair.host, total: total, seed: 2) {
                // Often a multiple of the packet size.
                Bool.random(using: &random) ? packetSize * Int.random(in: 1...33, using: &random) : 1
            }
            let right = LinkTraffic.run([up, down])
            pair.finish()
            return right
        }
        #expect(right == [total, total])
        #expect(pair.wire.violations == [])
    }

    /// Each piece is read before the next is written: none may wait for another.
    @Test(arguments: packetSizes) func noPieceWaitsForTheNext(packetSize: Int) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        let sizes =
            [1, packetSize - 1, packetSize, packetSize + 1, 2 * packetSize, 3 * packetSize, 16383, 16384, 16385, 32768]
            + [20_000, 16384 + packetSize, 16384 - packetSize, 49152]
        let right = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            return sizes.allSatisfy { size in
                LinkTraffic.write(pair.host, total: size, seed: 3) { size } == size
                    && LinkTraffic.read(pair.device, total: size, seed: 3) == size
                    && LinkTraffic.write(pair.device, total: size, seed: 4) { size } == size
                    && LinkTraffic.read(pair.host, total: size, seed: 4) == size
            }
        }
        #expect(right)
        #expect(pair.wire.violations == [])
    }

    @Test(arguments: packetSizes) func whatAnEarlierSessionLeftIsThrownAway(packetSize: Int) async throws {
        let earlier = LinkPreface(nonce: [UInt8](repeating: 7, count: 16), from: .device)!.bytes
        let part = LinkPreface(nonce: BulkPair.nonce, from: .device)!.bytes.dropLast(1)
        let pair = try BulkPair(packetSize: packetSize) { wire in
            // A whole preface of before, half of ours, and a write that ends with a full packet: it is glued to what
            // follows.
            for bytes in [earlier, Array(part), [UInt8](repeating: 9, count: 4 * packetSize)] {
                wire.leave(bytes, toHost: true)
                wire.leave(bytes, toHost: false)
            }
        }
        let right = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            return LinkTraffic.run([
                LinkFlow(from: pair.host, to: pair.device, total: 100_000, seed: 3) { 7000 },
                LinkFlow(from: pair.device, to: pair.host, total: 100_000, seed: 4) { 7000 },
            ])
        }
        #expect(right == [100_000, 100_000])
    }

    /// A buffer smaller than a transfer: the rest stays, and the descriptor says so.
    @Test func whatWasNotTakenIsAnnounced() async throws {
        let pair = try BulkPair(packetSize: 512)
        let right = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            guard LinkTraffic.write(pair.host, total: 30_000, seed: 3, next: { 30_000 }) == 30_000 else { return 0 }
            return LinkTraffic.read(pair.device, total: 30_000, seed: 3) { 7 }
        }
        #expect(right == 30_000)
    }

    /// It was collected with the preface: the first `poll` of who reads must not wait for more.
    @Test func whatCameWithThePrefaceIsAnnounced() async throws {
        let pair = try BulkPair(packetSize: 512)
        let (events, right) = try await onThread { () throws in
            try pair.host.open(limit: patience)
            LinkTraffic.write(pair.host, total: 1000, seed: 3) { 1000 }
            try pair.device.open(limit: patience)
            defer { pair.finish() }
            var waiting = pollfd(fd: pair.device.pollDescriptor, events: Int16(POLLIN), revents: 0)
            return (poll(&waiting, 1, 0), LinkTraffic.read(pair.device, total: 1000, seed: 3))
        }
        #expect((events, right) == (1, 1000))
    }

    @Test func anEndWithoutAnAnswerIsSaid() async throws {
        let wire = try FakeBulkWire(packetSize: 512)
        let link = try BulkLink(
            pipe: wire.host, peerAddress: "fake:device",
            ownPreface: LinkPreface(nonce: BulkPair.nonce, from: .host)!,
            peerPreface: LinkPreface(nonce: BulkPair.nonce, from: .device)!)
        let error = try await onThread { () throws in
            defer { wire.dismantle() }
            return #expect(throws: GantryError.self) { try link.open(limit: .milliseconds(50)) }
        }
        #expect(error?.code == .timeout)
    }

    @Test func endlessGarbageEndsIt() async throws {
        let pair = try BulkPair(packetSize: 512, discardLimit: 100_000) { wire in
            for _ in 0..<20 { wire.leave([UInt8](repeating: 0x67, count: 10_001), toHost: true) }
        }
        let error = try await onThread { () throws in
            defer { pair.finish() }
            return #expect(throws: GantryError.self) { try pair.host.open(limit: patience) }
        }
        #expect(error?.code == .usbTransfer)
    }

    @Test func theEndOfTheStreamComesAfterItsLastByte() async throws {
        let pair = try BulkPair(packetSize: 512)
        let (read, ended, isRefused) = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            LinkTraffic.write(pair.host, total: 60_001, seed: 5) { 20_000 }
            pair.host.finishWriting()
            let read = LinkTraffic.read(pair.device, total: 60_001, seed: 5)
            // The descriptor tells that the last write has left.
            _ = LinkTraffic.read(pair.host, total: 1, seed: 0, limit: .milliseconds(50))
            let byte: [UInt8] = [1]
            let isRefused = byte.withUnsafeBytes { try? pair.host.write($0) } == nil
            return (read, LinkTraffic.endsWithin(patience, pair.device), isRefused)
        }
        #expect((read, ended, isRefused) == (60_001, true, true))
    }

    /// As a carrier ends: written, and closed in both directions at once.
    @Test func whatWasWrittenBeforeTheCloseStillArrives() async throws {
        let pair = try BulkPair(packetSize: 512)
        let (read, ended) = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            LinkTraffic.write(pair.host, total: 20_000, seed: 5) { 20_000 }
            pair.host.close()
            let read = LinkTraffic.read(pair.device, total: 20_000, seed: 5)
            return (read, LinkTraffic.endsWithin(patience, pair.device))
        }
        #expect(read == 20_000)
        #expect(ended)
    }

    @Test func aReaderThatDoesNotReadBlocksTheWriter() async throws {
        let pair = try BulkPair(packetSize: 512)
        let (written, read) = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            let written = LinkTraffic.write(pair.device, total: 4_000_000, seed: 6, limit: .milliseconds(300)) {
                16_384
            }
            return (written, LinkTraffic.read(pair.host, total: written, seed: 6))
        }
        // Four writes and four reads, and nothing behind them.
        #expect(written == 8 * 16_384)
        #expect(read == written)
    }

    /// The other end takes nothing: closing goes on without it.
    @Test func closingDoesNotWaitForever() async throws {
        let pair = try BulkPair(packetSize: 512)
        let (written, isClosed) = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            let written = LinkTraffic.write(pair.device, total: 4_000_000, seed: 6, limit: .milliseconds(100)) {
                16_384
            }
            pair.device.close()
            return (written, LinkTraffic.endsWithin(.seconds(1), pair.device))
        }
        #expect(written == 8 * 16_384)
        #expect(isClosed)
    }

    /// Who waits in `poll` is woken, and the descriptor stays readable.
    @Test(arguments: [true, false]) func anEndFromAnotherThreadWakesTheReader(_ isAbort: Bool) async throws {
        let pair = try BulkPair(packetSize: 512)
        try await onThread { try pair.begin() }
        async let ended = onThread { LinkTraffic.endsWithin(patience, pair.host) }
        if isAbort { pair.host.abort(GantryError(.peerLost, "test")) } else { pair.host.close() }
        #expect(try await ended)
        #expect(try await onThread { LinkTraffic.endsWithin(.milliseconds(1), pair.host) })
        try await onThread { pair.finish() }
    }

    @Test func anUnpluggedCableEndsBothLinks() async throws {
        let pair = try BulkPair(packetSize: 512)
        let right = try await onThread { () throws in
            try pair.begin()
            defer { pair.finish() }
            let isWritten = LinkTraffic.write(pair.device, total: 20_000, seed: 6) { 20_000 } == 20_000
            // Collected, and not yet read: it is not lost with the cable.
            let isFirstRead = LinkTraffic.read(pair.host, total: 100, seed: 6) { 100 } == 100
            pair.wire.unplug()
            var word: [UInt8] = [0]
            var rest = 0
            while case .bytes? = word.withUnsafeMutableBytes({ try? pair.host.read(into: $0) }) { rest += 1 }
            return isWritten && isFirstRead && rest == 19_900 && LinkTraffic.endsWithin(patience, pair.host)
                && LinkTraffic.endsWithin(patience, pair.device)
        }
        #expect(right)
    }

    @Test(arguments: packetSizes) func carriersRunOverIt(packetSize: Int) async throws {
        let pair = try BulkPair(packetSize: packetSize)
        try await onThread { try pair.begin() }
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
