import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    @Suite struct DiscoveryLabTests {
        @Test func aProducerIsSeenWithAllItsAddresses() async throws {
            try await Lab.with(hosts: 3) { lab in
                try await lab.control(["addr", "2", "eth0", "set"])
                for host in 1...3 { try await lab.control(["mdns", "up", "\(host)"]) }
                let browser = try Probe.browse(lab, 3)
                let first = try Probe.advertise(lab, 1, "First", port: 7787, text: ["v=1", "K=Übung =;", "empty="])
                let second = try Probe.advertise(lab, 2, "Second", port: 65535)
                let services = try await browser.services("both with all addresses") {
                    $0.map(\.endpoints.count) == [2, 1]
                }
                #expect(
                    services == [
                        .init(
                            name: "First", endpoints: ["10.77.0.1:7787", "[fd77::1]:7787"],
                            text: ["v": "1", "k": "Übung =;", "empty": ""]),
                        .init(name: "Second", endpoints: ["[fe80::77:ff:fe00:2%eth0]:65535"], text: [:]),
                    ])
                #expect(try await first.named() == "First")
                #expect(try await second.named() == "Second")
                #expect(browser.states == ["running"])
            }
        }

        @Test func namesArriveAsTheyAre() async throws {
            let names = [
                "Living room  camera", "\"quoted\" \\back.slash. ;", "Küche 🎥 👩‍👩‍👧", "\u{1B}[31mred\u{7}",
                String(repeating: "n", count: 63),
                // 80 bytes: 15 characters of 4 bytes fit.
                String(repeating: "🎬", count: 20),
            ]
            let expected = names.dropLast() + [String(repeating: "🎬", count: 15)]
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let probes = try names.map { try Probe.advertise(lab, 1, $0) }
                let services = try await browser.services("all names") {
                    $0.count == names.count && $0.allSatisfy { $0.endpoints.count == 2 }
                }
                #expect(Set(services.map(\.name)) == Set(expected))
                for (probe, name) in zip(probes, expected) { #expect(try await probe.named() == name) }
            }
        }

        @Test("C5: another browser sees _camo._tcp") func anotherBrowserSeesWhatWePublish() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let probe = try Probe.advertise(lab, 1, "Camera 1", port: 4711, text: ["id=abc", "v=2"])
                try await probe.named()
                let lines = try await lab.run(2, ["avahi-browse", "-rtpk", "_camo._tcp"]).lines
                let found = lines.filter { $0.hasPrefix("=;") }.map { $0.split(separator: ";").map(String.init) }
                #expect(found.count == 2)
                for fields in found {
                    #expect(Array(fields[3...6]) == ["Camera\\0321", "_camo._tcp", "local", "host1.local"])
                    #expect(["10.77.0.1", "fd77::1"].contains(fields[7]))
                    #expect(fields[8] == "4711")
                    #expect(Set(fields[9].split(separator: " ")) == ["\"id=abc\"", "\"v=2\""])
                }
            }
        }

        @Test func aConflictIsSettledByNumbers() async throws {
            let long = String(repeating: "é", count: 31)
            try await Lab.with(hosts: 3, mdns: [1, 2, 3]) { lab in
                let browser = try Probe.browse(lab, 3)
                // Two on one machine, one on another; and a name that leaves no room for a number.
                let probes = [
                    try Probe.advertise(lab, 1, "Camera", port: 1001),
                    try Probe.advertise(lab, 1, "Camera", port: 1002),
                    try Probe.advertise(lab, 2, "Camera", port: 1003),
                    try Probe.advertise(lab, 1, long, port: 1004), try Probe.advertise(lab, 2, long, port: 1005),
                ]
                let services = try await browser.services("five services") {
                    Set($0.flatMap(\.endpoints)).count == 10 && $0.allSatisfy { $0.endpoints.count == 2 }
                }
                #expect(
                    Set(services.map(\.name)) == [
                        "Camera", "Camera #2", "Camera #3", long, String(repeating: "é", count: 30) + " #2",
                    ])
                for (probe, port) in zip(probes, 1001...) {
                    let name = try #require(services.first { $0.endpoints[0].hasSuffix(":\(port)") }?.name)
                    // The last name that was told is the one on the network.
                    try await probe.wait("name \(name)") { $0.last { $0.event == "named" }?.name == name }
                }
            }
        }

        @Test func whatGoesIsRemoved() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let stays = try Probe.advertise(lab, 1, "Stays")
                let withdrawn = try Probe.advertise(lab, 1, "Withdrawn")
                let ended = try Probe.advertise(lab, 1, "Ended")
                let killed = try Probe.advertise(lab, 1, "Killed")
                try await browser.services("all four") { $0.count == 4 }
                try withdrawn.say("withdraw")
                try withdrawn.say("withdraw")
                try await browser.services("without the withdrawn one") {
                    $0.map(\.name) == ["Ended", "Killed", "Stays"]
                }
                ended.tool.signal(SIGTERM)
                #expect(try await ended.tool.end().status == 0)
                killed.tool.signal(SIGKILL)
                try await browser.services("only the one that stays") { $0.map(\.name) == ["Stays"] }
                try stays.say("quit")
                #expect(try await stays.tool.end().status == 0)
                try await browser.services("none") { $0.isEmpty }
                #expect(browser.states == ["running"])
                #expect(withdrawn.tool.state.value.status == nil)
            }
        }

        @Test func anotherTextIsSeen() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Camera", text: ["state=free"])
                try await browser.services("the first text") { $0.first?.text == ["state": "free"] }
                try probe.say("update state=busy more=1")
                try await browser.services("the second text") { $0.first?.text == ["state": "busy", "more": "1"] }
                try probe.say("update")
                try await browser.services("no text") { $0.count == 1 && $0[0].text.isEmpty }
                // The name stands all the time.
                #expect(probe.events.filter { $0.event == "named" }.count == 1)
            }
        }

        @Test func aBrowseThatWasStoppedSaysNothing() async throws {
            try await Lab.with(hosts: 1, mdns: [1]) { lab in
                let stopped = try Probe.browse(lab, 1)
                let goesOn = try Probe.browse(lab, 1)
                let first = try Probe.advertise(lab, 1, "First")
                try await stopped.services("the first") { $0.map(\.name) == ["First"] }
                try stopped.say("stop")
                // It has been read and done when the process has ended in good order.
                let second = try Probe.advertise(lab, 1, "Second")
                try await goesOn.services("both") { $0.map(\.name) == ["First", "Second"] }
                try stopped.say("quit")
                #expect(try await stopped.tool.end().status == 0)
                #expect(stopped.events.last?.event == "stopped")
                #expect(!stopped.events.contains { $0.services?.contains { $0.name == "Second" } == true })
                withExtendedLifetime((first, second)) {}
            }
        }
    }
}
