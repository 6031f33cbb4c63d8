import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// Several networks, changes of address, firewalls, strangers.
    @Suite struct DiscoveryNetworkLabTests {
        @Test func twoNetworksGiveTheAddressesOfBoth() async throws {
            try await Lab.with(hosts: 2, networks: 2) { lab in
                try await lab.control(["addr", "1", "eth1", "set", "10.78.0.1/24"])
                try await lab.control(["mdns", "up", "1"])
                try await lab.control(["mdns", "up", "2"])
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Camera", port: 80)
                let services = try await browser.services("all addresses") { $0.first?.endpoints.count == 4 }
                #expect(
                    services.first?.endpoints == [
                        "10.77.0.1:80", "10.78.0.1:80", "[fd77::1]:80", "[fe80::77:ff:fe00:101%eth1]:80",
                    ])
                withExtendedLifetime(probe) {}
            }
        }

        @Test func anotherAddressIsSeen() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Camera", port: 80)
                try await browser.services("the addresses") {
                    $0.first?.endpoints == ["10.77.0.1:80", "[fd77::1]:80"]
                }
                try await lab.control(["addr", "1", "eth0", "set", "10.77.0.99/24"])
                try await browser.services("the other address") {
                    $0.first?.endpoints.contains("10.77.0.99:80") == true
                        && $0.first?.endpoints.contains("10.77.0.1:80") == false
                }
                withExtendedLifetime(probe) {}
            }
        }

        @Test func aFirewallHidesAndItsEndShows() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2, 3]) { lab in
                try await lab.control(["firewall", "2", "on"])
                let behind = try Probe.browse(lab, 2)
                let free = try Probe.browse(lab, 3)
                let probe = try Probe.advertise(lab, 1, "Camera")
                try await free.services("the service") { $0.first?.endpoints.count == 2 }
                try await behind.states(["running"])
                #expect(!behind.events.contains { $0.services?.isEmpty == false })
                try await lab.control(["firewall", "2", "off"])
                try await behind.services("the service") { $0.first?.endpoints.count == 2 }
                withExtendedLifetime(probe) {}
            }
        }

        @Test func strangersDoNotDisturb() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let long = String(repeating: "x", count: 240)
                let strangers = try [
                    [
                        "\u{1B}[2J\u{1B}]0;title\u{7}", "_camo._tcp", "7787", "a=\u{1B}[31m", "=nothing", "A=2",
                        "noequals",
                    ],
                    ["no port", "_camo._tcp", "0"],
                    ["long", "_camo._tcp", "1", "l=\(long)"] + (1...20).map { "k\($0)=\($0)" },
                    ["other type", "_http._tcp", "80"],
                ].map { try lab.start(1, ["avahi-publish", "-s"] + $0) }
                let ours = try Probe.advertise(lab, 1, "Ours")
                let services = try await browser.services("three services") {
                    $0.count == 3 && $0.allSatisfy { $0.endpoints.count == 2 }
                }
                #expect(services.map(\.name) == ["\u{1B}[2J\u{1B}]0;title\u{7}", "Ours", "long"].sorted())
                let hostile = try #require(services.first { $0.name.hasPrefix("\u{1B}") })
                // Of two equal keys either may come first: Avahi does not keep their order.
                #expect(Set(hostile.text.keys) == ["a", "noequals"])
                #expect(hostile.text["noequals"] == "")
                let big = try #require(services.first { $0.name == "long" })
                #expect(big.text.count == 16)
                #expect(browser.states == ["running"])
                withExtendedLifetime((strangers, ours)) {}
            }
        }

        @Test func answersThatNoStackGivesAreTaken() async throws {
            try await Lab.with(hosts: 2, mdns: [2]) { lab in
                let browser = try Probe.browse(lab, 2)
                try await browser.states(["running"])
                let sender = try lab.start(1, ["python3", "-c", HostileAnswers.program])
                let services = try await browser.services("the last of the answers") { services in
                    services.contains { $0.name == "plain" }
                }
                let plain = try #require(services.first { $0.name == "plain" })
                #expect(plain.endpoints == ["10.77.0.1:7787"])
                #expect(plain.text == ["ok": "1"])
                for service in services {
                    #expect(service.endpoints.count <= 16)
                    #expect(service.name.utf8.count <= 255)
                    #expect(!service.name.utf8.contains(0))
                }
                let probe = try Probe.advertise(lab, 2, "Ours")
                try await browser.services("ours") { $0.contains { $0.name == "Ours" } }
                #expect(browser.states == ["running"])
                withExtendedLifetime((sender, probe)) {}
            }
        }

        @Test func aCrowdIsBounded() async throws {
            try await Lab.with(hosts: 2, mdns: [2]) { lab in
                for number in 1...140 {
                    try """
                    <?xml version="1.0"?><!DOCTYPE service-group SYSTEM "avahi-service.dtd"><service-group>
                    <name>crowd \(number)</name><service><type>_camo._tcp</type><port>\(number)</port></service>
                    </service-group>
                    """.write(toFile: lab.folder(1) + "/services/\(number).service", atomically: true, encoding: .utf8)
                }
                let browser = try Probe.browse(lab, 2)
                try await browser.states(["running"])
                try await lab.control(["mdns", "up", "1"])
                try await browser.services("as many as are kept") { $0.count == 64 }
                try await browser.tool.errors(containing: "some are left out")
                #expect(!browser.events.contains { ($0.services?.count ?? 0) > 64 })
                let said = browser.tool.state.value.errorText.components(separatedBy: "some are left out").count - 1
                #expect(said == 1)
                try await lab.control(["mdns", "stop", "1"])
                try await browser.services("none") { $0.isEmpty }
            }
        }

        @Test func anIndependentReaderFindsNoFault() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let file = lab.folder(2) + "/capture.pcapng"
                let capture = try lab.start(2, ["dumpcap", "-q", "-i", "eth0", "-f", "udp port 5353", "-w", file])
                try await capture.errors(containing: "File:")
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Küche \"1\" 🎥", text: ["id=abc", "v=1"])
                try await browser.services("the service") { $0.first?.endpoints.count == 2 }
                try probe.say("update v=2")
                try await browser.services("the text") { $0.first?.text == ["v": "2"] }
                try probe.say("quit")
                _ = try await probe.tool.end()
                try await browser.services("none") { $0.isEmpty }
                capture.signal(SIGINT)
                _ = try await capture.end()
                let ours = try await Oracle.check(
                    [
                        "tshark", "-n", "-r", file, "-Y",
                        "dns.resp.name contains \"_camo._tcp\"",
                    ])
                #expect(ours.lines.count >= 3)
                // Errors only: that a question is asked again, which mDNS does, is a warning to it.
                let faults = try await Oracle.check(
                    ["tshark", "-n", "-r", file, "-Y", "_ws.malformed || _ws.expert.severity >= 8388608"])
                #expect(faults.text == "")
            }
        }
    }
}
