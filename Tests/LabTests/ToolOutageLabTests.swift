import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// Daemons, addresses and cables that go away while the tools are used.
    @Suite struct ToolOutageLabTests {
        @Test func aRunningProducerComesBackToTheNetwork() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await desk.expectList(["Camera free stranger"])
                try await lab.control(["mdns", "stop", "1"])
                try await running.event("discoveryUnavailable")
                try await desk.expectList([])
                try await lab.control(["mdns", "up", "1"])
                try await running.event("advertised", times: 2)
                let watch = try desk.start(["list", "--watch"])
                try await watch.event("found")
                watch.signal(SIGTERM)
                #expect(try await watch.end().status == 0)
                let end = try await running.stop()
                #expect(end.count("discoveryUnavailable") == 1)
                let said = end.event("discoveryUnavailable")?["error"] as? String
                #expect(said?.contains("sudo systemctl start avahi-daemon") == true, "\(said ?? "")")
            }
        }

        @Test func aPairingWindowOutlivesTheDaemon() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let (code, window) = try await desk.showCode()
                try await lab.control(["mdns", "stop", "2"])
                try await window.event("discoveryUnavailable")
                // The address in the code still serves.
                try await camera.check(["pair", "-", "--name", "Camera"], input: .text(code))
                #expect(try await window.end().status == 0)

                try await lab.control(["mdns", "up", "2"])
                let (next, other) = try await desk.showCode()
                try await lab.control(["mdns", "restart", "2"])
                try await other.event("discoveryUnavailable")
                try await camera.check(["pair", "-", "--name", "Camera"], input: .text(PairingWay.mdns.code(next)))
                let end = try await other.end()
                #expect(end.status == 0, "\(end.errorText)")
                #expect(end.count("discoveryUnavailable") == 1)
            }
        }

        @Test func withoutADaemonTheAddressServes() async throws {
            try await Lab.with(hosts: 2) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                // With words for people, as a user would see them.
                let window = try desk.start(["pair", "--text"], json: false)
                let code = try await window.line(containing: "GANTRY:")
                let producer = try await camera.run(["pair", "-", "--name", "Camera"], json: false, input: .text(code))
                #expect(producer.status == 0, "\(producer.errorText)")
                #expect(Self.outages(producer) == 1, "\(producer.errorText)")
                let studio = try await window.end()
                #expect(studio.status == 0, "\(studio.errorText)")
                #expect(Self.outages(studio) == 1, "\(studio.errorText)")

                let running = try camera.start(["run", "test", "--name", "Camera", "--size", "320x180"], json: false)
                try await running.errors(containing: "on port 7787")
                let receiving = try await desk.run(["receive", "Camera", "-d", "500ms"], json: false)
                #expect(receiving.status == 0, "\(receiving.errorText)")
                #expect(Self.outages(receiving) <= 1, "\(receiving.outputText)")
                let list = try await desk.run(["list"], json: false)
                #expect(list.status != 0)
                #expect(list.outputText.contains("Camera"))
                #expect(Self.outages(list) == 1, "\(list.errorText)")
                let end = try await running.stop()
                #expect(Self.outages(end) == 1, "\(end.outputText)\(end.errorText)")

                // Nothing at all leads to the studio.
                let nowhere = try await camera.run(
                    ["pair", "-"], json: false, input: .text(PairingWay.mdns.code(code)))
                #expect(nowhere.status == 7)
                #expect(nowhere.errorText.contains("--address"), "\(nowhere.errorText)")
            }
        }

        /// How often a tool has said that the network cannot be searched.
        private static func outages(_ state: ToolRun.State) -> Int {
            (state.outputText + state.errorText).components(separatedBy: "sudo systemctl start").count - 1
        }

        @Test func anAddressThatChangesIsFoundAgain() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await pair(camera, desk)
                let receiving = try await desk.receive(["Camera"])
                try await lab.control(["addr", "1", "eth0", "set", "10.77.0.99/24"])
                let at = ContinuousClock.now
                try await receiving.event("disconnected")
                #expect(ContinuousClock.now - at < .seconds(10))
                // It goes on by itself.
                try await receiving.event("connected", times: 2)
                let address = receiving.state.value.event("connected")?["address"] as? String
                #expect(address == "10.77.0.99:7787" || address?.hasPrefix("[fe80::77:ff:fe00:1%") == true)
                try await receiving.stop()
                try await running.event("disconnected", times: 2)
                try await running.stop()
            }
        }

        @Test func aCableThatIsPulledAndPutBack() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await pair(camera, desk)
                let receiving = try await desk.receive(["Camera"])
                try await lab.control(["link", "1", "eth0", "down"])
                let at = ContinuousClock.now
                try await receiving.event("disconnected")
                #expect(ContinuousClock.now - at < .seconds(10))
                try await running.event("disconnected")
                try await lab.control(["link", "1", "eth0", "up"])
                try await receiving.event("connected", times: 2)
                try await receiving.stop()
                let watch = try desk.start(["list", "--watch"])
                try await watch.event("found")
                watch.signal(SIGINT)
                #expect(try await watch.end().status == 0)
                let last = try await running.stop()
                #expect(last.count("discoveryUnavailable") == 0)
            }
        }
    }
}
