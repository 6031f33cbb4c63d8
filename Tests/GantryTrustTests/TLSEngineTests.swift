import GantryCore
import GantryTrust
import Glibc
import Synchronization
import Testing

/// Two engines in memory.
@Suite struct TLSEngineTests {
    let studio: Identity
    let producer: Identity

    init() throws {
        studio = try Identity()
        producer = try Identity()
    }

    private func pair(_ client: TrustDecision = .trusted, _ server: TrustDecision = .trusted) throws -> EnginePair {
        try EnginePair(client: studio, server: producer, clientTrusts: client, serverTrusts: server)
    }

    private func connected() throws -> EnginePair {
        let pair = try pair()
        let errors = pair.handshake()
        #expect(errors.client == nil && errors.server == nil)
        return pair
    }

    @Test func bothKnowEachOtherAfterTheHandshake() throws {
        let pair = try pair()
        #expect(pair.client.peerKeyID == nil)
        pair.handshake()
        #expect(pair.client.peerKeyID == producer.keyID)
        #expect(pair.server.peerKeyID == studio.keyID)
        #expect(pair.client.peerPublicKeyInfo == producer.publicKeyInfo)
        #expect(pair.server.peerPublicKeyInfo == studio.publicKeyInfo)
        #expect(pair.client.pendingCiphertext == 0 && pair.server.pendingCiphertext == 0)
    }

    /// Before the server has proved its key, an alert is anybody's: it must not look like the word of a paired device.
    @Test(arguments: [48, 44] as [UInt8]) func anAlertBeforeTheProofSaysNothingOfPairing(alert: UInt8) throws {
        let client = try TLSEngine(role: .client, identity: studio, alpn: "gantry/1") { _ in .trusted }
        #expect(try !client.advanceHandshake())
        // RFC 8446 section 5.1 and 6: a plaintext record, level fatal; 48 is unknown_ca, 44 certificate_revoked.
        let record: [UInt8] = [21, 3, 3, 0, 2, 2, alert]
        let error = #expect(throws: GantryError.self) {
            try record.withUnsafeBytes { try client.receive($0) }
            _ = try client.advanceHandshake()
        }
        #expect(error?.code == .tls)
        #expect(error?.message.contains("pair") == false)
    }

    @Test func exportedKeysAreSharedAndFresh() throws {
        let pair = try connected()
        let key = try pair.client.exportKeyingMaterial(label: "EXPORTER-GANTRY-PAIR-V1", count: 32)
        #expect(key.count == 32)
        #expect(try pair.server.exportKeyingMaterial(label: "EXPORTER-GANTRY-PAIR-V1", count: 32) == key)
        #expect(try pair.server.exportKeyingMaterial(label: "EXPORTER-GANTRY-PAIR-V2", count: 32) != key)
        #expect(try connected().client.exportKeyingMaterial(label: "EXPORTER-GANTRY-PAIR-V1", count: 32) != key)
        #expect(throws: GantryError.self) {
            try self.pair().client.exportKeyingMaterial(label: "EXPORTER-GANTRY-PAIR-V1", count: 32)
        }
    }

    @Test(arguments: [1, 2, 100, 16383, 16384])
    func oneWriteIsOneRecord(count: Int) throws {
        let pair = try connected()
        let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        for (source, target) in [(pair.client, pair.server), (pair.server, pair.client)] {
            try EnginePair.write(message, source)
            // Header 5, content type 1, tag 16: RFC 8446 section 5.2.
            #expect(source.pendingCiphertext == count + 22)
            try pair.pump(source, target)
            let read = try EnginePair.read(target)
            #expect(read.bytes == message)
            #expect(read.end == .needsInput)
        }
    }

    @Test func callsOutOfOrderAreErrors() throws {
        let early = try pair()
        #expect(throws: GantryError.self) { try EnginePair.write([1], early.client) }
        #expect(throws: GantryError.self) { try EnginePair.read(early.client) }
        let pair = try connected()
        #expect(throws: GantryError.self) { try EnginePair.write([], pair.client) }
        #expect(throws: GantryError.self) {
            try EnginePair.write([UInt8](repeating: 0, count: TLSEngine.maximumPlaintext + 1), pair.client)
        }
        try EnginePair.write([7], pair.client)  // Still alive.
        try pair.pump(pair.client, pair.server)
        #expect(try EnginePair.read(pair.server).bytes == [7])
        #expect(throws: GantryError.self) {
            try TLSEngine(role: .client, identity: self.studio, alpn: "") { _ in .trusted }
        }
    }

    @Test func byteByByte() throws {
        let pair = try pair()
        pair.pieceSize = 1
        let errors = pair.handshake()
        #expect(errors.client == nil && errors.server == nil)
        #expect(pair.client.peerKeyID == producer.keyID)
        try EnginePair.write(Array("slow".utf8), pair.server)
        let bytes = EnginePair.drain(pair.server)
        for byte in bytes.dropLast() {
            try EnginePair.receive([byte], pair.client)
            #expect(try EnginePair.read(pair.client).bytes.isEmpty)
        }
        try EnginePair.receive(Array(bytes.suffix(1)), pair.client)
        #expect(try EnginePair.read(pair.client).bytes == Array("slow".utf8))
    }

    @Test func gluedRecordsComeInOrder() throws {
        let pair = try connected()
        for number in 0..<50 { try EnginePair.write([UInt8(number)], pair.server) }
        try pair.pump(pair.server, pair.client)
        #expect(try EnginePair.read(pair.client).bytes == (0..<50).map { UInt8($0) })
    }

    @Test func goodbyeIsSeen() throws {
        let pair = try connected()
        try EnginePair.write([1, 2], pair.client)
        pair.client.close()
        pair.client.close()
        try pair.pump(pair.client, pair.server)
        let read = try EnginePair.read(pair.server)
        #expect(read.bytes == [1, 2])
        #expect(read.end == .closedByPeer)
        // The other direction is still open.
        try EnginePair.write([3], pair.server)
        try pair.pump(pair.server, pair.client)
        #expect(try EnginePair.read(pair.client).bytes == [3])
    }

    // MARK: Refusals

    /// The client is done before the server refuses it: it learns at its first read.
    @Test(arguments: [
        (TrustDecision.unknown, GantryError.Code.notPaired), (.revoked, .unpairedByPeer),
    ])
    func theServerRefuses(decision: TrustDecision, code: GantryError.Code) throws {
        let pair = try pair(.trusted, decision)
        let errors = pair.handshake()
        #expect(errors.server?.code == .notPaired)
        #expect(pair.server.peerKeyID == nil)
        #expect(pair.client.peerKeyID == producer.keyID)
        let error = #expect(throws: GantryError.self) { try EnginePair.read(pair.client) }
        #expect(error?.code == code)
        #expect(error?.message.contains("gantry-studio pair") == true)
        #expect(throws: GantryError.self) { try EnginePair.write([1], pair.client) }
    }

    @Test(arguments: [
        (TrustDecision.unknown, GantryError.Code.notPaired), (.revoked, .unpairedByPeer),
    ])
    func theClientRefuses(decision: TrustDecision, code: GantryError.Code) throws {
        let pair = try pair(decision, .trusted)
        let errors = pair.handshake()
        #expect(errors.client?.code == .notPaired)
        #expect(errors.server?.code == code)
        #expect(errors.server?.message.contains("gantry-producer pair") == true)
        #expect(pair.client.peerKeyID == nil && pair.server.peerKeyID == nil)
    }

    @Test func theVerifierIsAskedOnceForTheRightKey() throws {
        let asked = Recorder()
        let server = try TLSEngine(role: .server, identity: producer, alpn: "x") { key in
            asked.note(key)
            return .trusted
        }
        let client = try TLSEngine(role: .client, identity: studio, alpn: "x") { _ in .trusted }
        for _ in 0..<4 {
            _ = try client.advanceHandshake()
            try EnginePair.receive(EnginePair.drain(client), server)
            _ = try server.advanceHandshake()
            try EnginePair.receive(EnginePair.drain(server), client)
        }
        #expect(asked.keys == [studio.keyID])
    }

    @Test func ourOwnKeyIsRefused() throws {
        let pair = try EnginePair(client: studio, server: studio)
        let errors = pair.handshake()
        #expect(errors.client?.code == .wrongPeer)
        #expect(pair.client.peerKeyID == nil && pair.server.peerKeyID == nil)
    }

    @Test(arguments: [("gantry/1", "gantry/2"), ("gantry/1", "gantry/10"), ("gantry-pair/1", "gantry/1")])
    func anotherProtocolIsRefusedOnBothSides(client: String, server: String) throws {
        let pair = try EnginePair(client: studio, server: producer, clientALPN: client, serverALPN: server)
        let errors = pair.handshake()
        #expect(errors.client?.code == .versionMismatch)
        #expect(errors.server?.code == .versionMismatch)
        #expect(pair.client.peerKeyID == nil && pair.server.peerKeyID == nil)
    }

    @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "\0\0\0\0", "\u{16}hello, this is no TLS"])
    func whatIsNoTLSIsNoPeer(text: String) throws {
        let server = try TLSEngine(role: .server, identity: producer, alpn: "gantry/1") { _ in .trusted }
        let client = try TLSEngine(role: .client, identity: studio, alpn: "gantry/1") { _ in .trusted }
        for engine in [server, client] {
            _ = try engine.advanceHandshake()
            let error = #expect(throws: GantryError.self) {
                try EnginePair.receive(Array(text.utf8), engine)
                _ = try engine.advanceHandshake()
            }
            #expect(error?.code == .protocolError)
            #expect(error?.message.contains("not a Gantry peer") == true)
        }
    }

    // MARK: Damage

    @Test func aFlippedBitEndsTheSessionForGood() throws {
        for position in [0, 1, 3, 5, 6, 20, 30] {
            let pair = try connected()
            try EnginePair.write(Array("something".utf8), pair.server)
            var bytes = EnginePair.drain(pair.server)
            #expect(bytes.count == 31)
            bytes[position] ^= 0x10
            // A length that grew waits for more: more comes.
            try EnginePair.receive(bytes + [UInt8](repeating: 0, count: 20000), pair.client)
            let error = #expect(throws: GantryError.self) { try EnginePair.read(pair.client) }
            #expect(error?.code == .protocolError || error?.code == .tls)
            #expect(throws: GantryError.self) { try EnginePair.read(pair.client) }
            #expect(throws: GantryError.self) { try EnginePair.write([1], pair.client) }
        }
    }

    @Test func aTruncatedRecordWaits() throws {
        let pair = try connected()
        try EnginePair.write(Array("something".utf8), pair.server)
        try EnginePair.receive(EnginePair.drain(pair.server).dropLast(), pair.client)
        let read = try EnginePair.read(pair.client)
        #expect(read.bytes.isEmpty)
        #expect(read.end == .needsInput)
    }

    /// No flip anywhere in the server's flight leads to a session, and none crashes.
    @Test func aFlippedBitInTheHandshakeNeverConnects() throws {
        let flight = try serverFlight()
        #expect(flight > 500)
        for position in stride(from: 0, to: flight, by: 5) {
            let pair = try pair()
            // One flip, in the first bytes only.
            nonisolated(unsafe) var isFirst = true
            pair.tamper = { bytes in
                var bytes = bytes
                if isFirst, bytes.indices.contains(position) { bytes[position] ^= 1 << UInt8(position % 8) }
                if !bytes.isEmpty { isFirst = false }
                return bytes
            }
            pair.handshake()
            #expect(pair.server.peerKeyID == nil, "position \(position)")
        }
    }

    private func serverFlight() throws -> Int {
        let pair = try pair()
        _ = try pair.client.advanceHandshake()
        try pair.pump(pair.client, pair.server)
        _ = try pair.server.advanceHandshake()
        return pair.server.pendingCiphertext
    }

    @Test func aFloodIsRefused() throws {
        let pair = try connected()
        let piece = [UInt8](repeating: 0x17, count: 1 << 20)
        let error = #expect(throws: GantryError.self) {
            for _ in 0..<5 { try EnginePair.receive(piece, pair.client) }
        }
        #expect(error?.code == .invalidState)
    }

    /// One lost certificate a session would be megabytes. In a process of its own, because memory is measured.
    @Test(.enabled(if: !Self.isSanitized, "sanitizers keep freed memory"))
    func sessionsLeaveNoMemory() async {
        await #expect(processExitsWith: .success) { try Self.expectFlatSessions() }
    }

    private static func expectFlatSessions() throws {
        let identity = try Identity()
        let peer = try Identity()
        func session(_ decision: TrustDecision) throws {
            let pair = try EnginePair(client: identity, server: peer, serverTrusts: decision)
            pair.handshake()
        }
        for _ in 0..<200 { try session(.trusted) }
        let before = residentBytes()
        for number in 0..<1500 { try session(number % 3 == 0 ? .revoked : .trusted) }
        let growth = residentBytes() - before
        #expect(before > 0)
        #expect(growth < 1_500_000, "\(growth) bytes")
    }

    @Test(.enabled(if: !Self.isSanitized, "sanitizers keep freed memory"))
    func recordsLeaveNoMemory() async {
        await #expect(processExitsWith: .success) { try Self.expectFlatRecords() }
    }

    private static func expectFlatRecords() throws {
        let pair = try EnginePair(client: try Identity(), server: try Identity())
        pair.handshake()
        let message = UnsafeMutableRawBufferPointer.allocate(byteCount: 16384, alignment: 16)
        let wire = UnsafeMutableRawBufferPointer.allocate(byteCount: 20000, alignment: 16)
        message.initializeMemory(as: UInt8.self, repeating: 7)
        var before = 0
        for number in 0..<5000 {
            if number == 200 { before = residentBytes() }
            try pair.server.writePlaintext(UnsafeRawBufferPointer(message))
            let count = pair.server.drainCiphertext(into: wire)
            try pair.client.receive(UnsafeRawBufferPointer(rebasing: wire[..<count]))
            guard try pair.client.readPlaintext(into: message) == .bytes(16384) else {
                Issue.record("a record did not come whole")
                return
            }
        }
        let growth = residentBytes() - before
        #expect(growth < 500_000, "\(growth) bytes")
    }

    /// Whether the address or thread sanitizer is in this process.
    private static let isSanitized =
        dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

    private static func residentBytes() -> Int {
        let fields = String(decoding: ScratchFolder.contents("/proc/self/statm"), as: UTF8.self).split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(sysconf(Int32(_SC_PAGESIZE))) : 0
    }

    @Test func randomBytesNeverCrash() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<300 {
            let server = try TLSEngine(role: .server, identity: producer, alpn: "gantry/1") { _ in .trusted }
            var bytes = (0..<Int.random(in: 1...400, using: &random)).map { _ in UInt8.random(in: 0...255) }
            bytes.replaceSubrange(0..<1, with: [0x16])
            do {
                try EnginePair.receive(bytes, server)
                #expect(try !server.advanceHandshake())
            } catch {
                #expect([.protocolError, .tls, .versionMismatch].contains(error.code))
            }
        }
    }
}

final class Recorder: Sendable {
    private let seen = Mutex<[KeyID]>([])
    func note(_ key: KeyID) { seen.withLock { $0.append(key) } }
    var keys: [KeyID] { seen.withLock { $0 } }
}
