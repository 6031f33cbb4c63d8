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
    @Suite struct PairingTests {
        /// The error of an attempt of the producer; nil when it paired.
        private static func attempt(_ producer: ProducerController, _ code: String) async throws -> GantryError? {
            try await onThread {
                do throws(GantryError) {
                    _ = try producer.pairStudio(withQRCodeData: code)
                    return nil
                } catch {
                    return error
                }
            }
        }

        private static func run(_ pairing: StudioPairing) async throws -> GantryError? {
            try await onThread {
                do throws(GantryError) {
                    _ = try pairing.run()
                    return nil
                } catch {
                    return error
                }
            }
        }

        @Test func bothSidesKnowEachOtherAfterwards() async throws {
            let stage = try Stage()
            let comparisons = Watched<[String]>([])
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let watching = Task {
                var shown: [String] = []
                for await event in pairing.events {
                    if case .comparison(let number, _) = event { shown.append(number) }
                }
                return shown
            }
            async let atStudio = onThread { try pairing.run() }
            let producer = stage.producer
            let atProducer = try await onThread {
                try producer.pairStudio(withQRCodeData: pairing.code) { event in
                    guard case .comparison(let number, _) = event else { return }
                    comparisons.change { $0.append(number) }
                }
            }
            let device = try await atStudio
            #expect(atProducer.keyID == stage.studio.keyID)
            #expect(atProducer.kind == .studio)
            #expect(atProducer.displayedName == "Studio")
            #expect(device.keyID == stage.producer.keyID)
            #expect(device.kind == .producer)
            #expect(device.displayedName == "Camera")
            #expect(device.lastAddress == stage.endpoint.description)
            #expect(try stage.studio.pairedDevices.map(\.keyID) == [stage.producer.keyID])
            #expect(try stage.producer.pairedDevices.map(\.keyID) == [stage.studio.keyID])
            // Six digits, the same at both ends.
            let shown = await watching.value
            #expect(comparisons.value.count == 1)
            #expect(shown == comparisons.value)
            #expect(shown.first?.utf8.count(where: { (48...57).contains($0) }) == 6)
        }

        /// The window is closed as soon as the studio knows that it is paired: the producer must hear of it all the same.
        @Test func aWindowThatClosesAtOnceStillTellsTheProducer() async throws {
            for _ in 1...20 {
                let stage = try Stage()
                let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
                async let atStudio = onThread {
                    defer { pairing.close() }
                    return try pairing.run()
                }
                let code = pairing.code
                #expect(try await Self.attempt(stage.producer, code) == nil)
                #expect(try await atStudio.keyID == stage.producer.keyID)
                #expect(try stage.producer.pairedDevices.map(\.keyID) == [stage.studio.keyID])
            }
        }

        @Test func aWrongSecretIsToldOnBothSidesAndTheWindowStaysOpen() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let failures = Watched<[GantryError]>([])
            let watching = Task {
                for await event in pairing.events {
                    if case .attemptFailed(let error) = event { failures.change { $0.append(error) } }
                }
            }
            async let studio = Self.run(pairing)
            let good = try PairingCode.parse(pairing.code)
            let secret = try #require(PairingSecret(bytes: Array(repeating: 7, count: 16)))
            let bad = PairingCode(studio: good.studio, secret: secret, endpoints: good.endpoints).text()
            let error = try await Self.attempt(stage.producer, bad)
            #expect(error?.code == .pairingProof)
            #expect(try await failures.wait { !$0.isEmpty })
            #expect(try stage.studio.pairedDevices.isEmpty)
            #expect(try stage.producer.pairedDevices.isEmpty)
            // The right code is still good.
            #expect(try await Self.attempt(stage.producer, pairing.code) == nil)
            #expect(try await studio == nil)
            await watching.value
        }

        @Test func codesThatCannotBeUsedAreRefusedAtOnce() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = pairing.code
            let cases: [(String, GantryError.Code)] = [
                ("", .pairingCodeInvalid), ("https://example.org/", .pairingCodeInvalid),
                (String(code.prefix(60)), .pairingCodeInvalid), (String(code.prefix(20)), .pairingCodeInvalid),
                (code.replacing("GANTRY:1", with: "GANTRY:2"), .pairingCodeVersion),
                (code.replacing("GANTRY:1", with: "GANTRY:0"), .pairingCodeVersion),
                (code + "/X1", .pairingCodeVersion),
                (code.replacing(try Regex("/T[0-9]+"), with: "/T0"), .pairingCodeExpired),
            ]
            for (text, wanted) in cases {
                let error = try await Self.attempt(stage.producer, text)
                #expect(error?.code == wanted, "\(text.prefix(20))")
                // What failed may be a secret that counts: it is never repeated.
                #expect(error?.description.contains(code.suffix(20)) == false)
            }
            pairing.cancel()
        }

        @Test func anInstallationDoesNotPairWithItself() async throws {
            let stage = try Stage()
            let studio = try StudioController(
                configuration: StudioConfiguration(stateDirectory: stage.file("producer")))
            let pairing = try studio.beginPairing(address: "127.0.0.1")
            #expect(try await Self.attempt(stage.producer, pairing.code)?.code == .pairingCodeOwn)
        }

        @Test func onlyOnePairingAtATimeAndItCanBeCancelled() async throws {
            let stage = try Stage()
            // A studio that takes connections and never says anything.
            let silent = try TCPListener(port: 0)
            let links = Watched<[SocketLink]>([])
            try silent.start(threadName: "test-silent") { link, _ in links.change { $0.append(link) } }
            let secret = try #require(PairingSecret(bytes: Array(repeating: 7, count: 16)))
            let code = PairingCode(
                studio: stage.studio.keyID, secret: secret,
                endpoints: [.ipv4(address: [127, 0, 0, 1], port: silent.port)]
            ).text()
            async let first = Self.attempt(stage.producer, code)
            #expect(try await links.wait { !$0.isEmpty })
            #expect(try await Self.attempt(stage.producer, code)?.code == .busy)
            stage.producer.cancelPairing()
            links.change { links in for link in links { link.close() } }
            #expect(try await first?.code == .pairingCancelled)
            // And then there is room for the next.
            try await stage.pair()
            silent.stop()
        }

        @Test func aStudioCanCancelItsWindow() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            async let end = Self.run(pairing)
            pairing.cancel()
            #expect(try await end?.code == .pairingCancelled)
        }

        @Test func aWindowClosesByItself() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1", duration: .milliseconds(200))
            let error = try await Self.run(pairing)
            #expect(error?.code == .pairingTimeout)
            #expect(error?.message.contains("gantry-studio pair") == true)
        }

        /// What becomes of a connection to the first address in a code; nil when somebody takes it.
        static func dialling(_ code: String) async throws -> GantryError? {
            let endpoint = try #require(try PairingCode.parse(code).endpoints.first)
            return try await onThread { () -> GantryError? in
                do throws(GantryError) {
                    _ = try TCPDialer.dial(
                        Endpoint(host: endpoint.host, port: endpoint.port), until: MonotonicClock.now() + patience,
                        cancel: try EventDescriptor())
                    return nil
                } catch {
                    return error
                }
            }
        }

        @Test func aCodePairsOneDeviceOnly() async throws {
            let stage = try Stage()
            let second = try ProducerController(
                configuration: ProducerConfiguration(name: "Second", port: 0, stateDirectory: stage.file("second")))
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = pairing.code
            async let studio = Self.run(pairing)
            #expect(try await Self.attempt(stage.producer, code) == nil)
            #expect(try await studio == nil)
            try await onThread { pairing.close() }
            // The window is closed: nobody answers at the address any more.
            let late = Attempt(second, code)
            #expect(try await Self.dialling(code)?.code == .cannotConnect)
            #expect(try await late.cancel()?.code == .pairingCancelled)
            #expect(try second.pairedDevices.isEmpty)
            #expect(try stage.studio.pairedDevices.map(\.keyID) == [stage.producer.keyID])
        }

        /// Within 35 s of the success: somebody else has seen the code, so that nobody stays paired, on either end.
        @Test func aSecondDeviceAfterTheSuccessRaisesTheAlarm() async throws {
            let stage = try Stage()
            let second = try ProducerController(
                configuration: ProducerConfiguration(name: "Second", port: 0, stateDirectory: stage.file("second")))
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = pairing.code
            async let studio = Self.run(pairing)
            #expect(try await Self.attempt(stage.producer, code) == nil)
            #expect(try await studio == nil)
            #expect(pairing.alarm == nil)
            let refused = try await Self.attempt(second, code)
            #expect(refused?.code == .pairingProof)
            #expect(refused?.message.contains("Two devices knew the code") == true)
            try await onThread { pairing.close() }
            #expect(pairing.alarm?.code == .pairingProof)
            #expect(try stage.studio.pairedDevices.isEmpty)
            #expect(try second.pairedDevices.isEmpty)
            #expect(try stage.producer.pairedDevices.isEmpty)
        }

        /// An attempt that runs by itself.
        private struct Attempt {
            let producer: ProducerController
            let result = Watched<GantryError??>(nil)

            init(_ producer: ProducerController, _ code: String) {
                self.producer = producer
                Task { [result] in
                    let error = try await PairingTests.attempt(producer, code)
                    result.change { $0 = .some(error) }
                }
            }

            /// Cancels until it has ended: it may not have begun yet.
            func cancel() async throws -> GantryError? {
                for _ in 0..<600 {
                    producer.cancelPairing()
                    if try await result.wait(.milliseconds(100), until: { $0 != nil }) { break }
                }
                return result.value ?? nil
            }
        }

        @Test func twoDevicesThatKnowTheCodeNeverBothPair() async throws {
            let stage = try Stage()
            let second = try ProducerController(
                configuration: ProducerConfiguration(name: "Second", port: 0, stateDirectory: stage.file("second")))
            try second.start()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = pairing.code
            async let studio = Self.run(pairing)
            let attempts = [Attempt(stage.producer, code), Attempt(second, code)]
            _ = try await studio
            for attempt in attempts { #expect(try await attempt.result.wait { $0 != nil }) }
            try await onThread { pairing.close() }
            #expect(pairing.alarm?.code == .pairingProof)
            for controller in [stage.producer, second] { #expect(try controller.pairedDevices.isEmpty) }
            #expect(try stage.studio.pairedDevices.isEmpty)
            try await onThread { second.stop() }
        }

        /// Somebody between the two, with certificates of its own on both sides, who has turned the address in the
        /// code to itself: neither end may keep a record.
        @Test func somebodyInTheMiddleGetsNothing() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            async let studio = Self.run(pairing)
            let good = try PairingCode.parse(pairing.code)
            let endpoint = try #require(good.endpoints.first)
            let middle = try Identity()

            // Towards the studio: as a producer that does not know the secret.
            let atStudio = SilentHandler()
            let link = try await onThread {
                try TCPDialer.dial(
                    Endpoint(host: endpoint.host, port: endpoint.port), until: MonotonicClock.now() + patience,
                    cancel: try EventDescriptor())
            }
            let toStudio = try SecureCarrier(
                link: link, identity: middle,
                configuration: .init(
                    role: .server, alpn: WireLimits.pairingProtocolName, phase: .pairing, threadName: "test-middle")
            ) { _ in .trusted }
            try toStudio.start(handler: atStudio)
            #expect(try await atStudio.peer.wait { $0 != nil })

            // Towards the producer: as the studio.
            let listener = try TCPListener(port: 0)
            let ends = Watched<[SilentHandler]>([])
            try listener.start(threadName: "test-listen") { link, _ in
                let carrier = try? SecureCarrier(
                    link: link, identity: middle,
                    configuration: .init(
                        role: .client, alpn: WireLimits.pairingProtocolName, phase: .pairing,
                        threadName: "test-middle")
                ) { _ in .trusted }
                let handler = SilentHandler()
                ends.change { $0.append(handler) }
                try? carrier?.start(handler: handler)
            }
            let turned = PairingCode(
                studio: good.studio, secret: good.secret,
                endpoints: [.ipv4(address: [127, 0, 0, 1], port: listener.port)])
            async let producer = Self.attempt(stage.producer, turned.text())
            #expect(try await ends.wait { !$0.isEmpty })
            let handler = try #require(ends.value.first)
            #expect(try await handler.end.wait { $0 != nil })
            // The producer saw another key than the code names.
            #expect(handler.end.value??.code == .notPaired)
            stage.producer.cancelPairing()
            #expect(try await producer?.code == .pairingCancelled)
            pairing.cancel()
            #expect(try await studio?.code == .pairingCancelled)
            #expect(try stage.studio.pairedDevices.isEmpty)
            #expect(try stage.producer.pairedDevices.isEmpty)
            toStudio.close(afterSending: false)
            listener.stop()
        }
    }
}
