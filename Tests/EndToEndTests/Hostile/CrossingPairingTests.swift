import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import ProducerKit
import Testing

@testable import GantryTransport
@testable import GantryTrust
@testable import StudioKit

extension EndToEnd {
    /// Events of a pairing that cross: an answer and the end of the connection, a cancel and the store.
    @Suite struct CrossingPairingTests {
        private static let secret = Array(repeating: UInt8(7), count: 16)

        /// The person says yes while the studio is being stored and its connection breaks: the attempt goes on.
        @Test func aConnectionThatBreaksWhileTheStudioIsStoredSpoilsNothing() async throws {
            let stage = try Stage()
            let identity = try Identity()
            let studios = Watched<[ScriptedStudio]>([])
            let listener = try TCPListener(port: 0)
            try listener.start(threadName: "test-listen") { link, _ in
                guard let studio = try? ScriptedStudio(link, identity, secret: Self.secret) else { return }
                studios.change { $0.append(studio) }
            }
            let secret = try #require(PairingSecret(bytes: Self.secret))
            let code = PairingCode(
                studio: identity.keyID, secret: secret,
                endpoints: [.ipv4(address: [127, 0, 0, 1], port: listener.port)])
            let numbers = Watched<[String]>([])
            let producer = stage.producer
            async let device = onThread { () throws in
                try producer.pairStudio(withQRCodeData: code.text(), asksForConfirmation: true) { event in
                    guard case .comparison(let number, _) = event else { return }
                    numbers.change { $0.append(number) }
                }
            }
            #expect(try await numbers.wait { $0.count == 1 })
            let first = try #require(studios.value.first)
            #expect(try await first.hasAccepted.wait { $0 })
            // Another process writes: the store waits for it.
            let writer = try SQLiteDatabase(path: stage.file("producer") + "/paired.sqlite")
            try writer.run("BEGIN IMMEDIATE")
            let began = MonotonicClock.now()
            async let answer: Void = onThread { producer.confirmPairing(true) }
            // Whoever asks the store waits for the one who writes to it: then the studio is being stored.
            var isBeingStored = false
            for _ in 0..<100 where !isBeingStored {
                let isAnswered = Watched(false)
                Thread.detachNewThread {
                    _ = try? producer.pairedDevices
                    isAnswered.change { $0 = true }
                }
                isBeingStored = try await !isAnswered.wait(.milliseconds(100)) { $0 }
            }
            #expect(isBeingStored)
            first.carrier.close(afterSending: false)
            try await onThread { first.carrier.join() }
            try writer.run("ROLLBACK")
            try await answer
            // The studio comes again, with another number.
            #expect(try await numbers.wait { $0.count == 2 })
            producer.confirmPairing(true)
            #expect(try await device.keyID == identity.keyID)
            #expect(try producer.pairedDevices.map(\.keyID) == [identity.keyID])
            #expect(MonotonicClock.now() - began < PairingLimits.deadline)
            listener.stop()
        }

        /// The studio asks about one producer, which goes; the answer comes when another one is asked about.
        @Test func anAnswerIsForTheNumberThatWasCompared() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1", asksForConfirmation: true)
            let numbers = Watched<[String]>([])
            let watching = Task {
                for await event in pairing.events {
                    if case .comparison(let number, true) = event { numbers.change { $0.append(number) } }
                }
            }
            async let end = onThread { () -> GantryError? in
                do throws(GantryError) {
                    _ = try pairing.run()
                    return nil
                } catch {
                    return error
                }
            }
            let genuine = try await ScriptedProducer.dial(pairing.code)
            #expect(try await numbers.wait { $0.count == 1 })
            let other = try await ScriptedProducer.dial(pairing.code)
            #expect(try await other.hasShown.wait { $0 })
            genuine.carrier.close(afterSending: false)
            #expect(try await numbers.wait { $0.count == 2 })
            #expect(numbers.value.first != numbers.value.last)
            // What was on the screen when the person looked.
            pairing.confirm(true, number: numbers.value[0])
            pairing.confirm(false, number: numbers.value[1])
            #expect(try await other.result.wait { $0 != nil })
            #expect(other.result.value == .failed(.declined))
            #expect(try stage.studio.pairedDevices.isEmpty)
            pairing.cancel()
            #expect(try await end?.code == .pairingCancelled)
            await watching.value
        }

        /// `run` has said "cancelled": what is being stored just then must not stay, and what was there before must.
        @Test(arguments: [false, true]) func nobodyIsStoredAfterTheCancel(wasPaired: Bool) throws {
            let stage = try Stage()
            let identity = try Identity()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let peer = PairedPeer(
                keyID: identity.keyID, role: .producer, name: DisplayName("New"), model: "", streamPort: nil,
                isConfirmed: false)
            let connection = CarrierPeer(
                keyID: identity.keyID, publicKeyInfo: identity.publicKeyInfo, address: "127.0.0.1:1", exporter: [])
            if wasPaired {
                let earlier = try stage.studio.beginPairing(address: "127.0.0.1")
                #expect(earlier.save(peer, connection) == nil)
            }
            let before = try stage.studio.pairedDevices
            #expect(before.count == (wasPaired ? 1 : 0))
            pairing.cancel()
            #expect(pairing.save(peer, connection) == .cancelled)
            #expect(try stage.studio.pairedDevices == before)
        }

        /// Closed between the moment when a connection has won and the one when the session knows of it.
        @Test func aSessionThatIsClosedWhileItsConnectionWinsEnds() async throws {
            let stage = try Stage()
            let session = stage.studio.makeSession(
                ProducerTarget(endpoint: stage.endpoint), configuration: StudioSessionConfiguration())
            let dialer = try SessionDialer(session)
            let (near, far) = try SocketLink.pair()
            let connection = try StudioConnection(session: session, link: near, dialer: dialer)
            #expect(dialer.claim(connection))
            dialer.cancel()
            #expect(try await onThread { () throws in try dialer.run() } === connection)
            try connection.start()
            let began = MonotonicClock.now()
            try await onThread { connection.join() }
            // Not by the limit of the handshake.
            #expect(MonotonicClock.now() - began < .seconds(4))
            withExtendedLifetime(far) {}
        }
    }
}
