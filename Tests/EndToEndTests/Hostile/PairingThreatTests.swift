import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Codes that count no more, wrong proofs, and claims of peers that have proved nothing; see docs/security.md.
    @Suite struct PairingThreatTests {
        static func attempt(_ producer: ProducerController, _ code: String) async throws -> GantryError? {
            try await onThread {
                do throws(GantryError) {
                    _ = try producer.pairStudio(withQRCodeData: code)
                    return nil
                } catch {
                    return error
                }
            }
        }

        static func run(_ pairing: StudioPairing) async throws -> GantryError? {
            try await onThread {
                do throws(GantryError) {
                    _ = try pairing.run()
                    return nil
                } catch {
                    return error
                }
            }
        }

        /// The secret of one code at the address of another.
        static func code(_ secret: String, at address: String) throws -> String {
            let (old, new) = (try PairingCode.parse(secret), try PairingCode.parse(address))
            return PairingCode(studio: old.studio, secret: old.secret, endpoints: new.endpoints).text()
        }

        // MARK: Codes that count no more

        @Test func aCodeIsRefusedAfterARestartOfTheStudio() async throws {
            let stage = try Stage()
            let first = try stage.studio.beginPairing(address: "127.0.0.1")
            let old = first.code
            first.close()
            #expect(first.alarm == nil)
            let restarted = try StudioController(
                configuration: StudioConfiguration(name: "Studio", stateDirectory: stage.file("studio")))
            let pairing = try restarted.beginPairing(address: "127.0.0.1")
            let new = pairing.code
            async let studio = Self.run(pairing)
            let error = try await Self.attempt(stage.producer, try Self.code(old, at: new))
            #expect(error?.code == .pairingProof)
            #expect(error?.message.contains("not the one that the studio shows now") == true)
            #expect(try stage.producer.pairedDevices.isEmpty && restarted.pairedDevices.isEmpty)
            #expect(try await Self.attempt(stage.producer, new) == nil)
            #expect(try await studio == nil)
        }

        @Test func aCodeIsRefusedAfterTwoRotations() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(
                address: "127.0.0.1", times: PairingTimes(rotation: .milliseconds(700)))
            let codes = Watched<[String]>([])
            let watching = Task {
                for await event in pairing.events {
                    if case .code(let text, _) = event { codes.change { $0.append(text) } }
                }
            }
            async let studio = Self.run(pairing)
            #expect(try await codes.wait { $0.count >= 3 })
            let old = try #require(codes.value.first)
            #expect(Set(codes.value.prefix(3)).count == 3)
            let error = try await Self.attempt(stage.producer, old)
            #expect(error?.code == .pairingProof)
            #expect(error?.message.contains("not the one that the studio shows now") == true)
            #expect(try stage.producer.pairedDevices.isEmpty && stage.studio.pairedDevices.isEmpty)
            // The one that is shown, or was shown a moment ago, counts.
            var failure: GantryError?
            for _ in 0..<20 {
                failure = try await Self.attempt(stage.producer, pairing.code)
                if failure == nil { break }
            }
            #expect(failure == nil)
            #expect(try await studio == nil)
            try await onThread { pairing.close() }
            await watching.value
        }

        /// Later than 35 s after the success: the window has closed by itself, and the first device stays paired.
        @Test func aUsedCodeFindsNobodyAfterTheGuard() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(
                address: "127.0.0.1", times: PairingTimes(grace: .milliseconds(300)))
            let code = pairing.code
            let watching = Task { for await _ in pairing.events {} }
            async let studio = Self.run(pairing)
            #expect(try await Self.attempt(stage.producer, code) == nil)
            #expect(try await studio == nil)
            // The stream ends with the window.
            await watching.value
            #expect(pairing.code.isEmpty)
            #expect(try await PairingTests.dialling(code)?.code == .cannotConnect)
            #expect(pairing.alarm == nil)
            #expect(try stage.studio.pairedDevices.map(\.keyID) == [stage.producer.keyID])
        }

        // MARK: Guessing

        /// Each one is looked at and refused; nothing of them stays, and the genuine producer pairs afterwards.
        @Test(.timeLimit(.minutes(4))) func tenThousandWrongProofsLeaveNothingBehind() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = try PairingCode.parse(pairing.code)
            let port = try #require(code.endpoints.first).port
            async let studio = Self.run(pairing)
            let refused = Watched(0)
            let resident = Watched<[Int]>([])
            let lanes = (0..<3).map { lane in
                Task.detached {
                    try await onThread {
                        let identity = try Identity()
                        let hello = ControlMessage.pairHello(
                            PairHello(name: DisplayName("Rogue"), streamPort: 1)
                                .with(proof: Array(repeating: UInt8(lane), count: 32)))
                        var index = 0
                        while refused.value < 10_000 {
                            index += 1
                            // Each address has its own allowance of connections in a second.
                            let host = UInt8(10 + lane * 80 + index % 80)
                            do {
                                let peer = try HostilePeer(
                                    .server, over: try HostilePeer.dial(port, host: host), identity: identity,
                                    alpn: WireLimits.pairingProtocolName)
                                try peer.handshake()
                                _ = try HandPairing.studioHello(peer)
                                try peer.send(hello)
                                guard case .pairFail(let fail) = try peer.nextMessage() else { continue }
                                #expect(fail.reason == .badCode)
                                refused.change { $0 += 1 }
                            } catch {
                                // Too many in this second.
                                continue
                            }
                        }
                    }
                }
            }
            for mark in stride(from: 2000, through: 10_000, by: 2000) {
                #expect(try await refused.wait(.seconds(200)) { $0 >= mark })
                resident.change { $0.append(Holdings.current.residentBytes) }
            }
            for lane in lanes { try await lane.value }
            let marks = resident.value
            #expect((marks.last ?? 0) - (marks.first ?? 0) < 8 << 20, "\(marks.map { $0 >> 20 }) MiB")
            #expect(try stage.studio.pairedDevices.isEmpty)
            #expect(try await Self.attempt(stage.producer, pairing.code) == nil)
            #expect(try await studio == nil)
            #expect(try stage.studio.pairedDevices.map(\.keyID) == [stage.producer.keyID])
        }

        // MARK: Claims without a proof

        /// BYE(unpaired) at the pairing listener, from a key that has proved nothing but itself.
        @Test func anUnpairingAtThePairingListenerIsNone() async throws {
            let stage = try Stage()
            try await stage.pair()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let port = try #require(try PairingCode.parse(pairing.code).endpoints.first).port
            async let studio = Self.run(pairing)
            try await onThread {
                let peer = try HostilePeer(
                    .server, over: try HostilePeer.dial(port, host: 20), identity: try Identity(),
                    alpn: WireLimits.pairingProtocolName)
                try peer.handshake()
                _ = try HandPairing.studioHello(peer)
                try peer.send(.bye(Bye(reason: .unpaired)))
                #expect(peer.isClosed(within: 30_000))
            }
            pairing.cancel()
            #expect(try await studio?.code == .pairingCancelled)
            #expect(try stage.studio.pairedDevices.map(\.state) == [.active])
        }

        /// TLS records that anybody can write: the alert "certificate revoked", and an unpairing in clear text.
        @Test func whatComesBeforeTLSIsNoUnpairing() async throws {
            let alert: [UInt8] = [
                21, 3, 3, 0, 2,  // alert, TLS 1.2 on the outside, two bytes (RFC 8446 section 5.1)
                2, 44,  // fatal, certificate_revoked
            ]
            let bye = ControlMessage.bye(Bye(reason: .unpaired))
            let stage = try Stage()
            try await stage.pair()
            // At the producer.
            let port = try #require(stage.producer.port)
            for bytes in [alert, HostilePeer.frames(bye.type, bye.encode())] {
                try await onThread {
                    let socket = try LoopbackSocket(port: port)
                    socket.write(bytes)
                    #expect(socket.isClosed(within: 30_000))
                }
            }
            #expect(try stage.producer.pairedDevices.map(\.state) == [.active])
            // At the studio, from whoever sits at the producer's address.
            let listener = try TCPListener(port: 0)
            let links = Watched<[SocketLink]>([])
            try listener.start(threadName: "test-listen") { link, _ in
                _ = try? alert.withUnsafeBytes { try link.write($0) }
                links.change { $0.append(link) }
            }
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(
                        endpoint: Endpoint(host: "127.0.0.1", port: listener.port), keyID: stage.producer.keyID),
                    configuration: StudioSessionConfiguration()))
            let error = try await run.end()
            #expect(error?.code == .tls, "\(String(describing: error))")
            #expect(try stage.studio.pairedDevices.map(\.state) == [.active])
            listener.stop()
            links.change { $0 = [] }
        }

        /// A handshake in order, but with a key of its own: "certificate revoked" from there says nothing.
        @Test func aStrangerCannotRevoke() async throws {
            let stage = try Stage()
            try await stage.pair()
            let listener = try TCPListener(port: 0)
            let identity = try Identity()
            let ended = Watched(false)
            try listener.start(threadName: "test-listen") { link, _ in
                Thread.detachNewThread {
                    let peer = try? HostilePeer(.server, over: link, identity: identity, verdict: .revoked)
                    try? peer?.handshake()
                    ended.change { $0 = true }
                }
            }
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(
                        endpoint: Endpoint(host: "127.0.0.1", port: listener.port), keyID: stage.producer.keyID),
                    configuration: StudioSessionConfiguration()))
            #expect(try await run.end()?.code == .wrongPeer)
            #expect(try await ended.wait { $0 })
            #expect(try stage.studio.pairedDevices.map(\.state) == [.active])
            listener.stop()
        }

        /// No message says who somebody is: a HELLO with the name and the key of another changes nothing.
        @Test func aForeignIdentityInHELLOIsNotLookedAt() async throws {
            let stage = try Stage()
            try await stage.pair()
            let other = try StudioController(
                configuration: StudioConfiguration(name: "Other", stateDirectory: stage.file("other")))
            try await stage.pair(with: other)
            let port = try #require(stage.producer.port)
            let identity = try Identity.loadOrCreate(in: try StateFolder.open(stage.file("other")))
            let claimed = stage.studio.keyID
            let peer = try await onThread { () -> Unsafe<HostilePeer> in
                let peer = try HostilePeer.studio(port: port, identity: identity, host: 20)
                try peer.handshake()
                var payload = Hello(name: DisplayName("Studio"), codecs: [.h264, .opus])
                    .payload
                var foreign = TLVWriter()
                foreign.bytes(77, claimed.bytes)
                payload += foreign.payload
                try peer.send(HostilePeer.frames(.hello, payload))
                _ = try peer.receive(wait: 2000)
                try peer.send(.start(Start(channels: [1, 2])))
                return Unsafe(peer)
            }
            #expect(try await stage.waitForReceivers(1))
            guard case .active(let peers) = stage.producer.state else {
                Issue.record("\(stage.producer.state)")
                return
            }
            #expect(peers.map(\.keyID) == [identity.keyID])
            #expect(peers.map(\.name) == ["Other"])
            // What is done to the claimed one does not touch it, and the other way round.
            try stage.producer.removePairedDevice(identity.keyID)
            #expect(try await onThread { peer.value.isClosed(within: 30_000, alive: true) })
            #expect(try stage.producer.pairedDevices.map(\.keyID) == [claimed])
        }
    }
}

extension Hello {
    fileprivate var payload: [UInt8] { ControlMessage.hello(self).encode() }
}
