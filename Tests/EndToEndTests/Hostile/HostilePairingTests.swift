import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    @Suite struct HostilePairingTests {
        /// A producer's hello with a proof that is wrong.
        private static let wrongHello = ControlMessage.pairHello(
            PairHello(name: DisplayName("Rogue"), streamPort: 1).with(proof: Array(repeating: 9, count: 32)))

        /// A thousand wrong proofs, from many addresses, while the genuine producer pairs.
        @Test func wrongProofsDoNotKeepTheGenuineOneOut() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = pairing.code
            let port = try #require(try PairingCode.parse(code).endpoints.first).port
            async let atStudio = onThread { try pairing.run() }
            let flooding = Watched(true)
            let tried = Watched(0)
            let before = Holdings.current.threads("studio-")
            let peak = Watched(before)
            let floods = (0..<4).map { lane in
                Task.detached {
                    try await onThread {
                        let identity = try Identity()
                        var index = 0
                        while tried.value < 1000, flooding.value || tried.value < 200 {
                            index += 1
                            tried.change { $0 += 1 }
                            let host = UInt8(20 + lane * 50 + index % 50)
                            guard let link = try? HostilePeer.dial(port, host: host),
                                let peer = try? HostilePeer(
                                    .server, over: link, identity: identity, alpn: WireLimits.pairingProtocolName)
                            else { continue }
                            do {
                                try peer.handshake()
                                _ = try peer.receive(wait: 50)
                                try peer.send(Self.wrongHello)
                                _ = try peer.receive(wait: 20)
                            } catch {
                                continue
                            }
                            let threads = Holdings.current.threads("studio-")
                            peak.change { $0 = max($0, threads) }
                        }
                    }
                }
            }
            #expect(try await tried.wait { $0 > 600 })
            let producer = stage.producer
            let device = try await onThread { try producer.pairStudio(withQRCodeData: code) }
            #expect(device.keyID == stage.studio.keyID)
            flooding.change { $0 = false }
            #expect(try await atStudio.keyID == producer.keyID)
            for flood in floods { try await flood.value }
            #expect(peak.value < before + 40)
            #expect(try stage.studio.pairedDevices.map(\.keyID) == [producer.keyID])
        }

        /// The messages of a producer that knows the code, in every wrong order: nobody is paired.
        @Test func messagesInAnotherOrderPairNobody() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let port = try #require(try PairingCode.parse(pairing.code).endpoints.first).port
            async let atStudio = onThread { () -> GantryError.Code? in
                do throws(GantryError) {
                    _ = try pairing.run()
                    return nil
                } catch {
                    return error.code
                }
            }
            let accept = ControlMessage.pairAccept(PairAccept(proof: Array(repeating: 9, count: 32)))
            let messages = [
                Self.wrongHello, accept, .pairDone, .pairFail(PairFail(reason: .cancelled)), .bye(Bye(reason: .normal)),
            ]
            try await onThread {
                let identity = try Identity()
                var host: UInt8 = 20
                for first in messages {
                    for second in messages {
                        host += 1
                        let peer = try HostilePeer(
                            .server, over: try HostilePeer.dial(port, host: host), identity: identity,
                            alpn: WireLimits.pairingProtocolName)
                        do {
                            try peer.handshake()
                            for message in [first, second, .pairDone] { try peer.send(message) }
                        } catch {
                            continue
                        }
                        #expect(peer.isClosed(within: 30_000))
                    }
                }
            }
            #expect(try stage.studio.pairedDevices.isEmpty)
            pairing.cancel()
            #expect(try await atStudio == .pairingCancelled)
        }
    }
}
