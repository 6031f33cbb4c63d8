import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// Neighbours that mean ill while two of ours pair.
    @Suite struct PairingThreatLabTests {
        /// Everything that can be copied is copied twenty times, and is there first.
        @Test(arguments: [["stall", "garbage", "tls", "wrong", "refuse"], ["stall"]])
        func twentyRoguesDoNotKeepTheGenuineOneOut(behaviours: [String]) async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let (code, window) = try await desk.showCode()
                let rogue = try await Rogue.make(lab, 3)
                let ports = (0..<20).map { (port: 9000 + $0, behaviour: behaviours[$0 % behaviours.count]) }
                for (port, _) in ports {
                    try rogue.advertise("_camopairing._tcp", "R\(port)", port: port, ["r=\(try rendezvous(code))"])
                }
                let listener = try rogue.start(
                    Rogue.listener, ports.filter { $0.behaviour != "refuse" }.map { "\($0.port)=\($0.behaviour)" })
                for (port, behaviour) in ports where behaviour != "refuse" {
                    try await listener.line(containing: "listening \(port)")
                }
                try await lab.control(["mdns", "up", "3"])
                for behaviour in behaviours where behaviour != "refuse" {
                    try await listener.line(containing: "accepted \(behaviour)")
                }
                // Only what the network tells: the address in the code would be too easy.
                let end = try await camera.run(
                    ["pair", "-", "--name", "Camera"], input: .text(PairingWay.mdns.code(code)))
                #expect(end.status == 0, "\(end.errorText)")
                let studio = try await window.end()
                #expect(studio.status == 0, "\(studio.errorText)")
                #expect(studio.event("paired")?["name"] as? String == "Camera")
                // Those that were heard before the genuine one are told, but do not fill the screen.
                #expect(studio.count("attemptFailed") <= 8)
                #expect(try await desk.devices() == ["Camera paired"])
                #expect(try await camera.devices() == ["Desk paired"])
            }
        }

        @Test func aStolenNameIsReplaced() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let rogue = try await Rogue.make(lab, 3)
                let thief = try rogue.start(Rogue.nameThief, ["2", "10.77.0.3"])
                try await thief.line(containing: "listening")
                try await pair(camera, desk, .mdns)
                let taken = thief.state.value.lines.filter { $0.hasPrefix("taken") }
                #expect(taken.count == 2, "\(taken)")
                #expect(try await desk.devices() == ["Camera paired"])
            }
        }

        /// Two keys, two advertisements of the same `id`; first they are alone, then the genuine one comes.
        @Test func whoClaimsToBeAProducerIsToldNothing() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send(["--port", "7001"])
                try await pair(camera, desk)
                let services = try Probe.browse(lab, 2)
                let genuine = try await services.services("the producer") { $0.first?.text["id"] != nil }
                let text = try #require(genuine.first?.text)
                try await running.stop()

                let rogue = try await Rogue.make(lab, 3)
                let other = try await LabTool.producer(lab, 3, "Other").send(["--port", "7002"], until: "started")
                let server = try lab.start(
                    3,
                    [
                        "openssl", "s_server", "-accept", "7003", "-cert", rogue.certificate, "-key", rogue.key,
                        "-tls1_3", "-alpn", "gantry/1", "-quiet",
                    ])
                for (name, port) in [("Camera", 7002), ("Camera 2", 7003)] {
                    try rogue.advertise("_camo._tcp", name, port: port, text.map { "\($0)=\($1)" })
                }
                try await lab.control(["mdns", "up", "3"])
                try await services.services("both rogues") {
                    $0.count { $0.text["id"] == text["id"] && $0.endpoints.first?.hasPrefix("10.77.0.3") == true } == 2
                }
                let alone = try await desk.run(["receive", "Camera"], json: false)
                #expect(alone.status == 6, "\(alone.errorText)")
                #expect(alone.errorText.contains("another key"), "\(alone.errorText)")
                #expect(alone.errorText.contains("Camera"), "\(alone.errorText)")
                #expect(!alone.outputText.contains("Connected"))
                try await other.event("refused")
                try await server.errors(containing: "alert")

                // Who would take a paired producer instead of a scan goes on showing the code.
                let refusals = other.state.value.count("refused")
                let (_, window) = try await desk.showCode(["receive", "--pair"])
                try await other.event("refused", times: refusals + 1)
                window.signal(SIGINT)
                let cancelled = try await window.end()
                #expect(cancelled.status == 7, "\(cancelled.errorText)")
                #expect(cancelled.count("connecting") == 0, "\(cancelled.outputText)")

                let again = try await camera.send(["--port", "7001"])
                let receiving = try await desk.receive(["Camera"])
                let address = receiving.state.value.event("connected")?["address"] as? String
                #expect(address == "10.77.0.1:7001" || address == "[fd77::1]:7001")
                try await receiving.stop()
                #expect(other.state.value.event("connected") == nil)
                // Nothing was said to it beneath TLS.
                #expect(server.state.value.output.isEmpty, "\(server.state.value.outputText)")
                #expect(try await desk.devices() == ["Camera paired"])
                try await other.stop()
                try await again.stop()
            }
        }

        /// The two cannot see each other; somebody between them terminates TLS on both sides, for each of the two ways.
        @Test func aManInTheMiddlePairsNobody() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2, 3]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let rogue = try await Rogue.make(lab, 3)
                for (host, other) in [(1, 2), (2, 1)] {
                    try await lab.run(host, ["nft", Self.separation(from: other)]).expectSuccess()
                }
                let (code, window) = try await desk.showCode()
                // The way by the address of the code: whoever the producer dials, it is the man in the middle.
                let port = try #require(code.firstMatch(of: /\/A10\.77\.0\.2:([0-9]+)/)?.output.1)
                let direct = try rogue.start(Rogue.proxy, ["8002", "10.77.0.2", String(port), "client"])
                try await direct.line(containing: "listening")
                let seen = try Probe.browse(lab, 3, "_camopairing._tcp")
                let producer = try camera.start(["pair", "-", "--name", "Camera"], input: .text(code))
                // The way by mDNS: he announces what he has seen.
                let found = try await seen.services("the producer") { $0.first?.text["r"] != nil }
                let service = try #require(found.first)
                let there = try #require(service.endpoints.first?.split(separator: ":").last)
                let announced = try rogue.start(Rogue.proxy, ["8001", "10.77.0.1", String(there), "server"])
                try await announced.line(containing: "listening")
                let advert = try lab.start(
                    3, ["avahi-publish", "-s", "Rogue", "_camopairing._tcp", "8001", "r=\(service.text["r"] ?? "")"])
                // He speaks TLS with both, and what the studio says reaches him; the proof does not come that far.
                try await announced.line(containing: "secured caller")
                try await direct.line(containing: "secured callee")
                try await announced.line(containing: "from caller")
                let end = try await producer.end()
                #expect(end.status == 7, "\(end.errorText)")
                #expect(end.errorText.contains("gantry-studio pair"), "\(end.errorText)")
                window.signal(SIGINT)
                let studio = try await window.end()
                #expect(studio.status == 7)
                #expect(studio.count("paired") == 0)
                #expect(try await desk.devices().isEmpty)
                #expect(try await camera.devices().isEmpty)
                withExtendedLifetime(advert) {}
            }
        }

        private static func separation(from host: Int) -> String {
            "table inet apart { chain in { type filter hook input priority 0; ether saddr 02:77:00:00:00:0\(host) drop; }; "
                + (host == 2
                    ? "chain out { type nat hook output priority -100; ip daddr 10.77.0.2 tcp dport != 0 "
                        + "dnat ip to 10.77.0.3:8002; }; " : "")
                + "}"
        }

        /// A host that sees everything but the code: it knows which studio it is, and makes up a secret.
        @Test func whoHasNotSeenTheCodePairsWithNobody() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2, 3]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let spy = LabTool.producer(lab, 3, "Spy")
                let (code, window) = try await desk.showCode()
                let made = codeWithMadeUpSecret(code)
                let end = try await spy.run(["pair", "-", "--name", "Spy"], input: .text(made))
                #expect(end.status == 7, "\(end.errorText)")
                try await window.event("attemptFailed")
                #expect(try await spy.devices().isEmpty)
                #expect(try await desk.devices().isEmpty)
                // The genuine one is not disturbed.
                try await camera.check(["pair", "-", "--name", "Camera"], input: .text(code))
                #expect(try await window.end().event("paired")?["name"] as? String == "Camera")
                #expect(try await desk.devices() == ["Camera paired"])
            }
        }

        @Test func aSecondDeviceWithTheCodeLeavesNobodyPaired() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2, 3]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let thief = LabTool.producer(lab, 3, "Thief")
                let running = try await camera.send()
                let (code, receiving) = try await desk.showCode(["receive", "--pair"])
                try await camera.check(["pair", "-"], input: .text(code))
                try await receiving.line(containing: "\"firstFrame\"")
                let second = try await thief.run(["pair", "-", "--name", "Thief"], input: .text(code))
                #expect(second.status == 7, "\(second.errorText)")
                #expect(second.errorText.contains("Two devices knew the code"), "\(second.errorText)")
                let end = try await receiving.end()
                #expect(end.status == 7, "\(end.errorText)")
                #expect(end.errorText.contains("gantry-studio pair"), "\(end.errorText)")
                try await running.event("disconnected")
                #expect(try await desk.devices().isEmpty)
                #expect(try await camera.devices().isEmpty)
                #expect(try await thief.devices().isEmpty)
                try await running.stop()
            }
        }
    }
}

extension Oracle.Result {
    fileprivate func expectSuccess(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(status == 0, "\(errors)", sourceLocation: sourceLocation)
    }
}
