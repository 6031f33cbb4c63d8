import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import StudioKit

extension EndToEnd {
    /// Rows S7 and S8 with a real studio. A network that is searched is in LabTests.
    @Suite struct ServiceTests {
        @Test("S7: query, stream and callback; start, stop, and twice")
        func lifeCycle() async throws {
            let stage = try Stage()
            let service = stage.studio.service
            #expect(service.state == .down(.notRunning))
            #expect(!service.isInVenue)
            let (streamed, called) = (Watched<[ServiceStatus]>([]), Watched<[ServiceStatus]>([]))
            let updates = service.updates
            let reading = Task { for await status in updates { streamed.change { $0.append(status) } } }
            defer { reading.cancel() }
            let observation = service.observe { status in called.change { $0.append(status) } }
            try service.start()
            #expect(throws: GantryError.self) { try service.start() }
            // Without a message bus the network cannot be searched.
            #expect(
                try await streamed.wait { $0.contains { $0.state.reasons.contains(.discoveryUnavailable) } })
            #expect(try await called.wait { $0.contains { $0.state.reasons.contains(.discoveryUnavailable) } })
            #expect(streamed.value.first?.state == .down(.notRunning))
            #expect(service.state.reasons.isSuperset(of: [.noProducers, .discoveryUnavailable]))

            // By its address a producer can be received although nobody has found it.
            try await stage.pair()
            var configuration = StudioSessionConfiguration()
            configuration.wantsVideo = false
            let run = try await stage.connect(configuration)
            #expect(try await streamed.wait { $0.last?.state == .up })
            #expect(try await run.close() == nil)
            #expect(try await streamed.wait { $0.last?.state.reasons.contains(.noProducers) == true })

            observation.cancel()
            try await onThread { service.stop() }
            #expect(service.state == .down(.notRunning))
            #expect(try await streamed.wait { $0.last?.state == .down(.notRunning) })
            try await onThread { service.stop() }
            // And again.
            try service.start()
            #expect(!service.state.reasons.contains(.notRunning))
            try await onThread { service.stop() }
            try await stage.stop()
        }

        @Test("S8: whether a producer is here cannot be proved while nobody looks")
        func proof() async throws {
            let stage = try Stage()
            let studio = stage.studio
            let error = await #expect(throws: GantryError.self) { try await onThread { try studio.proveVenue() } }
            #expect(error?.code == .invalidState)
            try studio.service.start()
            #expect(try await onThread { try studio.proveVenue() }.isEmpty)
            try await onThread { studio.service.stop() }

            // Who is here proves it by its key; who only was, or claims to be, does not.
            try await stage.pair()
            try await stage.connect().close()
            let here = try studio.pairedDevice(named: "Camera")
            var gone = here
            gone.lastAddress = "127.0.0.1:\(try LoopbackSocket.freePort())"
            gone.keyID = try #require(KeyID(bytes: [UInt8](repeating: 9, count: 32)))
            let devices = [gone, here]
            #expect(try await onThread { studio.prove(devices) }.map(\.keyID) == [here.keyID])
            try await stage.stop()
        }

        @Test func aControllerThatIsLetGoOfEndsItsService() async throws {
            let ended = Watched(false)
            do {
                let stage = try Stage()
                try stage.studio.service.start()
                let updates = stage.studio.service.updates
                Task {
                    for await _ in updates {}
                    ended.change { $0 = true }
                }
                try await stage.stop()
            }
            #expect(try await ended.wait { $0 })
        }
    }
}
