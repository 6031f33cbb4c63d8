import Foundation
import GantryCore
import GantryTestSupport
import Testing

extension LabTests {
    /// Rows S7, S8, S14 and S15 on a network that goes and comes.
    @Suite struct ServiceLabTests {
        private static func reasons(_ state: ToolRun.State) -> [[String]] {
            state.events.filter { $0["event"] as? String == "service" }.compactMap { $0["reasons"] as? [String] }
        }

        @Test("S7, S8, S14: the service goes down with the network and comes back, and so does a session")
        func networkGoesAndComes() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                try await pair(camera, desk)
                let running = try await camera.send()
                let service = try desk.start(["network", "--watch"])
                #expect(try await service.state.wait(.seconds(30)) { Self.reasons($0).last == [] })
                #expect(service.state.value.event("service")?["inVenue"] as? Bool == true)
                #expect(service.state.value.event("service")?["producers"] as? [String] == ["Camera"])

                let session = try await desk.receive(["Camera"])
                try await lab.control(["link", "2", "eth0", "down"])
                try await session.event("disconnected")
                #expect(
                    try await service.state.wait(.seconds(60)) {
                        Self.reasons($0).last?.contains("networkDown") == true
                    })
                #expect(service.state.value.event("service")?["inVenue"] as? Bool == false)
                try await lab.control(["link", "2", "eth0", "up"])
                #expect(try await service.state.wait(.seconds(60)) { Self.reasons($0).last == [] })
                try await session.event("connected", times: 2)
                try await session.stop()

                // It goes out of reach without the network: it is gone from the venue.
                try await running.stop()
                #expect(try await service.state.wait(.seconds(60)) { Self.reasons($0).last == ["noProducers"] })
                try await service.stop()
            }
        }

        @Test("S15: only producers of the field of use are listed and connected")
        func fieldOfUse() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                try await pair(camera, desk)
                let running = try await camera.send(["--venue", "Stadium A", "--app", "Scores"])
                try await desk.expectList(["Camera free paired"])
                let all = try await desk.check(["list"]).events.first
                #expect(all?["venue"] as? String == "Stadium A" && all?["app"] as? String == "Scores")
                #expect(all?["owner"] == nil)
                let same = try await desk.check(["list", "--venue", "Stadium A"]).events
                #expect(same.map(LabTool.listed) == ["Camera free paired"])
                let other = try await desk.check(["list", "--venue", "Stadium B"]).events
                #expect(other.map(LabTool.listed) == ["Camera away paired"])
                let refused = try await desk.run(["receive", "Camera", "--app", "Tickets"], json: false)
                #expect(refused.status == 5, "\(refused.errorText)")
                #expect(refused.errorText.contains("app Scores"), "\(refused.errorText)")
                try await desk.receive(["Camera", "--venue", "Stadium A"]).stop()
                try await running.stop()
            }
        }

        @Test("S13: interfaces of a host, as they are")
        func interfaces() async throws {
            try await Lab.with(hosts: 1) { lab in
                let desk = LabTool.studio(lab, 1)
                let events = try await desk.check(["network"]).events
                let cable = try #require(events.first { $0["interface"] as? String == "eth0" })
                #expect(cable["up"] as? Bool == true)
                let addresses = try #require(cable["addresses"] as? [String])
                #expect(addresses.contains("10.77.0.1"))
                #expect(addresses.contains { $0.hasPrefix("fe80::") && $0.hasSuffix("%eth0") })
                try await lab.control(["link", "1", "eth0", "down"])
                let after = try await desk.check(["network"]).events
                #expect(after.first { $0["interface"] as? String == "eth0" }?["up"] as? Bool == false)
            }
        }
    }
}
