import GantryCore
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    @Suite struct ProducerPairingTests {
        @Test("C6: pairing is awaited, and the studio connects without more") func awaited() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            async let atStudio = onThread { try pairing.run() }
            // As it may be pasted.
            let device = try await stage.producer.pairStudio(withQRCodeData: " \(pairing.code)\n")
            #expect(device.keyID == stage.studio.keyID && device.kind == .studio)
            _ = try await atStudio
            let run = try await stage.connect()
            #expect(run.state.value.isConnected)
            try await run.close()
            try await stage.stop()
        }

        @Test("C6: the completion comes once, after a success and after an error") func completion() async throws {
            let stage = try Stage()
            let results = Watched<[Result<PairedDevice, GantryError>]>([])
            stage.producer.pairStudio(withQRCodeData: "no code") { result in results.change { $0.append(result) } }
            #expect(try await results.wait { $0.count == 1 })
            guard case .failure(let error) = results.value[0] else {
                Issue.record("paired with no code")
                return
            }
            #expect(error.code == .pairingCodeInvalid)
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            async let atStudio = onThread { try pairing.run() }
            stage.producer.pairStudio(withQRCodeData: pairing.code) { result in
                results.change { $0.append(result) }
            }
            _ = try await atStudio
            #expect(try await results.wait { $0.count == 2 })
            #expect(try results.value[1].get().keyID == stage.studio.keyID)
            try await stage.stop()
            #expect(results.value.count == 2)
        }

        /// A code whose studio is not there any more.
        private func deadCode(_ stage: Stage) async throws -> String {
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = pairing.code
            async let end = onThread { _ = try? pairing.run() }
            pairing.cancel()
            try await end
            return code
        }

        @Test("C6: cancelling the task, or cancelPairing(), ends it; only one runs at a time") func cancelled()
            async throws
        {
            let stage = try Stage()
            let producer = stage.producer
            let code = try await deadCode(stage)
            for isByTask in [true, false] {
                let hasBegun = Watched(false)
                let attempt = Task { () -> GantryError? in
                    do throws(GantryError) {
                        _ = try await producer.pairStudio(withQRCodeData: code) { _ in hasBegun.change { $0 = true } }
                        return nil
                    } catch {
                        return error
                    }
                }
                #expect(try await hasBegun.wait { $0 })
                let second = Watched<GantryError.Code?>(nil)
                producer.pairStudio(withQRCodeData: code) { result in
                    if case .failure(let error) = result { second.change { $0 = error.code } }
                }
                #expect(try await second.wait { $0 == .busy })
                if isByTask { attempt.cancel() } else { producer.cancelPairing() }
                #expect(await attempt.value?.code == .pairingCancelled)
            }
            // A task that was cancelled before it began.
            let early = Task { () -> GantryError? in
                do throws(GantryError) {
                    while !Task.isCancelled { await Task.yield() }
                    _ = try await producer.pairStudio(withQRCodeData: code)
                    return nil
                } catch {
                    return error
                }
            }
            early.cancel()
            #expect(await early.value?.code == .pairingCancelled)
            producer.cancelPairing()
            producer.confirmPairing(true)
            #expect(try producer.pairedDevices.isEmpty)
            try await stage.stop()
        }

        @Test("C6: after 30 seconds without a studio it fails, and the next one may begin") func timesOut() async throws
        {
            let stage = try Stage()
            let code = try await deadCode(stage)
            let start = MonotonicClock.now()
            let producer = stage.producer
            let result = Watched<GantryError.Code?>(nil)
            producer.pairStudio(withQRCodeData: code) { end in
                if case .failure(let error) = end { result.change { $0 = error.code } }
            }
            #expect(try await result.wait { $0 != nil })
            #expect(result.value == .noStudioAnswered)
            #expect((MonotonicClock.now() - start).seconds >= 29)
            try await stage.pair()
            try await stage.stop()
        }
    }
}
