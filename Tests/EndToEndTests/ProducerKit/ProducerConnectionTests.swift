import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    @Suite struct ProducerConnectionTests {
        /// A second studio, paired with the stage's producer.
        private func second(_ stage: Stage) async throws -> StudioController {
            let studio = try StudioController(
                configuration: StudioConfiguration(name: "Second", stateDirectory: stage.file("second-studio")))
            try await stage.pair(with: studio)
            return studio
        }

        @Test("C1: started, stopped, started again") func lifecycle() async throws {
            let stage = try Stage()
            let producer = stage.producer
            #expect(producer.isRunning && producer.state == .notConnected)
            try await stage.stop()
            #expect(!producer.isRunning && producer.state == .notRunning && producer.port == nil)
            try await stage.pair()
            try producer.start()
            let run = try await stage.connect()
            #expect(run.state.value.isConnected)
            try await run.close()
            try await stage.stop()
        }

        @Test("C2: the delegate is asked with name, way and key, and lets in") func accepted() async throws {
            let stage = try Stage()
            let delegate = DelegateLog()
            stage.producer.delegate = delegate
            try await stage.pair()
            let run = try await stage.connect()
            #expect(run.state.value.isConnected)
            let asked = try #require(delegate.asked.value.first)
            #expect(asked.name == "Studio" && asked.transport == .network && asked.keyID == stage.studio.keyID)
            #expect(asked.fingerprint == stage.studio.keyID.description)
            #expect(asked.address.hasPrefix("127.0.0.1:"))
            try await run.close()
            try await stage.stop()
        }

        @Test("C2: who is declined is told so, and may come again later") func declined() async throws {
            let stage = try Stage()
            let isReady = Watched(false)
            let delegate = DelegateLog(accepts: { _ in isReady.value })
            stage.producer.delegate = delegate
            try await stage.pair()
            let run = try await stage.connect()
            let failure = try #require(try await run.end())
            #expect(failure.code == .rejected)
            #expect(
                failure.description.contains("declined")
                    && failure.description.contains("the application there said no"))
            #expect(
                try await stage.events.wait {
                    $0.contains {
                        if case .refused(_, let error) = $0 {
                            error.message.contains("Studio was declined")
                        } else {
                            false
                        }
                    }
                })
            #expect(stage.producer.state == .notConnected)
            isReady.change { $0 = true }
            let again = try await stage.connect()
            #expect(again.state.value.isConnected)
            try await again.close()
            try await stage.stop()
        }

        @Test("C2: an answer that takes long holds up nobody else") func slowAnswer() async throws {
            let stage = try Stage()
            let isOver = Watched(false)
            // Blocks its thread, which no delegate should.
            let delegate = DelegateLog(accepts: { studio in
                if studio.name == "Studio" { isOver.waitBlocking { $0 } }
                return true
            })
            stage.producer.delegate = delegate
            try await stage.pair()
            let other = try await second(stage)
            let target = ProducerTarget(endpoint: stage.endpoint, keyID: stage.producer.keyID)
            let slow = try SessionRun(stage.studio.makeSession(target, configuration: StudioSessionConfiguration()))
            #expect(try await delegate.asked.wait { $0.count == 1 })
            let quick = try await stage.connect(from: other)
            #expect(quick.state.value.isConnected)
            #expect(!slow.state.value.isConnected && !slow.state.value.isEnded)
            isOver.change { $0 = true }
            #expect(try await slow.state.wait { $0.isConnected })
            try await slow.close()
            try await quick.close()
            try await stage.stop()
        }

        @Test("C3: states with the names of the connections, to the delegate and to every reader") func states()
            async throws
        {
            let stage = try Stage()
            let producer = stage.producer
            let delegate = DelegateLog()
            producer.delegate = delegate
            let readers = [Watched(0), Watched(0)]
            let tasks = readers.map { count in
                let events = producer.events
                return Task { for await _ in events { count.change { $0 += 1 } } }
            }
            try await stage.pair()
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            #expect(try await delegate.states.wait { $0.last?.connections.map(\.name) == ["Studio"] })
            guard case .active(let peers) = producer.state else {
                Issue.record("the producer is \(producer.state)")
                return
            }
            #expect(peers.first?.name == "Studio")
            producer.pause()
            #expect(try await delegate.states.wait { $0.last == .paused(peers) })
            producer.resume()
            #expect(try await delegate.states.wait { $0.last == .active(peers) })
            try await run.close()
            #expect(try await delegate.states.wait { $0.last == .notConnected })
            try await stage.stop()
            #expect(try await delegate.states.wait { $0.last == .notRunning })
            let states = delegate.states.value
            #expect(
                states == [.notConnected, .active(peers), .paused(peers), .active(peers), .notConnected, .notRunning])
            #expect(delegate.threads.value == ["delegate"])
            // Another one is told how it is, not what was.
            let next = DelegateLog()
            producer.delegate = next
            #expect(next.states.value.isEmpty)
            try producer.start()
            #expect(try await next.states.wait { $0.last == .notConnected })
            let third = DelegateLog()
            producer.delegate = third
            #expect(try await third.states.wait { $0 == [.notConnected] })
            try await stage.stop()
            // Each reader has had them all: connected, paused, resumed, disconnected, stopped, two of the demand.
            for count in readers { #expect(try await count.wait { $0 >= 7 }) }
            for task in tasks { task.cancel() }
        }

        @Test("C4: without a gadget, USB says what to do, and nothing is left running") func usbWithoutGadget()
            async throws
        {
            Isolation.apply()
            let folder = try TestFolder()
            let port = try LoopbackSocket.freePort()
            let producer = try ProducerController(
                configuration: ProducerConfiguration(
                    port: port, stateDirectory: folder.file("producer"),
                    usb: .init(mountPoint: folder.file("no-such-mount"), strangers: .ask)))
            for _ in 0..<2 {
                let refusal = try await onThread { () -> GantryError? in
                    do throws(GantryError) {
                        try producer.start()
                        return nil
                    } catch {
                        return error
                    }
                }
                #expect(refusal?.code == .usbFunction)
                #expect(!producer.isRunning)
                #expect(!ProcessView(getpid()).listeningPorts.contains(port))
            }
        }

        @Test("C5: without a way to announce it, the producer says so once and is reached by its address")
        func withoutDiscovery() async throws {
            let stage = try Stage()
            #expect(
                try await stage.events.wait {
                    $0.contains { if case .discoveryUnavailable = $0 { true } else { false } }
                })
            try await stage.pair()
            let run = try await stage.connect()
            #expect(run.state.value.isConnected)
            try await run.close()
            try await stage.stop()
        }

        @Test("C7: paired devices are listed, renamed and removed; who is removed is told") func devices() async throws
        {
            let stage = try Stage()
            let producer = stage.producer
            try await stage.pair()
            #expect(try producer.pairedDevices.map(\.displayedName) == ["Studio"])
            try producer.renamePairedDevice(stage.studio.keyID, to: "Desk")
            #expect(try producer.pairedDevice(named: "Desk").keyID == stage.studio.keyID)
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            #expect(producer.state.connections.map(\.name) == ["Desk"])
            try producer.removePairedDevice(stage.studio.keyID)
            #expect(try await run.end()?.code == .unpairedByPeer)
            #expect(try producer.pairedDevices.isEmpty)
            let again = try await stage.connect()
            #expect(try await again.end() != nil)
            try await stage.stop()
        }

        @Test("C12: the studio shows whom it is connected to") func names() async throws {
            let stage = try Stage()
            try await stage.pair()
            let run = try await stage.connect()
            #expect(run.state.value.name == "Camera")
            #expect(stage.producer.displayedName == "Camera")
            #expect(try stage.studio.pairedDevices.map(\.displayedName) == ["Camera"])
            try await run.close()
            try await stage.stop()
        }
    }
}
