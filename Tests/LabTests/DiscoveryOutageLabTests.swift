import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// Daemons that are absent, end, crash, come back or refuse.
    @Suite struct DiscoveryOutageLabTests {
        @Test(arguments: ["stop", "kill"])
        func theDaemonOfTheAdvertiserComesBack(how: String) async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Camera", text: ["a=1"])
                try await browser.services("the service") { $0.count == 1 }
                try await lab.control(["mdns", how, "1"])
                try await probe.states(["running", "unavailable"])
                // A crash says no goodbye: the entry stays in caches.
                if how == "stop" { try await browser.services("none") { $0.isEmpty } }
                try probe.say("update a=2")
                try await lab.control(["mdns", "up", "1"])
                try await probe.states(["running", "unavailable", "running"])
                #expect(try await probe.named(2) == "Camera")
                try await browser.services("the service again") { $0.first?.text == ["a": "2"] }
            }
        }

        @Test(arguments: ["stop", "kill"])
        func theDaemonOfTheBrowserComesBack(how: String) async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Camera")
                try await browser.services("the service") { $0.first?.endpoints.count == 2 }
                try await lab.control(["mdns", how, "2"])
                try await browser.services("none") { $0.isEmpty }
                try await browser.states(["running", "unavailable"])
                try await lab.control(["mdns", "up", "2"])
                try await browser.services("the service again") { $0.first?.endpoints.count == 2 }
                try await browser.states(["running", "unavailable", "running"])
                #expect(probe.states == ["running"])
            }
        }

        @Test func aDaemonThatComesLaterIsFound() async throws {
            try await Lab.with(hosts: 1) { lab in
                // First no bus at all, then a bus without a daemon, then both.
                let probe = try Probe.advertise(lab, 1, "Camera")
                try await probe.states(["unavailable"])
                let event = try #require(probe.events.first { $0.event == "unavailable" })
                #expect(event.code == 310)
                #expect(event.message?.contains("sudo systemctl start dbus") == true)
                try await lab.control(["mdns", "up", "1"])
                try await lab.control(["mdns", "stop", "1"])
                let waiting = try Probe.advertise(lab, 1, "Later")
                try await waiting.states(["unavailable"])
                let other = try #require(waiting.events.first { $0.event == "unavailable" })
                #expect(other.message?.contains("sudo systemctl start avahi-daemon") == true)
                try await lab.control(["mdns", "up", "1"])
                #expect(try await waiting.named() == "Later")
                #expect(waiting.states == ["unavailable", "running"])
                try await probe.wait("its name") { $0.contains { $0.event == "named" } }
                let browser = try Probe.browse(lab, 1)
                try await browser.services("both") { $0.map(\.name) == ["Camera", "Later"] }
            }
        }

        @Test func aBusThatGoesComesBack() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let browser = try Probe.browse(lab, 2)
                let probe = try Probe.advertise(lab, 1, "Camera")
                try await browser.services("the service") { $0.count == 1 }
                try await lab.control(["mdns", "down", "1"])
                try await probe.states(["running", "unavailable"])
                try await lab.control(["mdns", "up", "1"])
                try await probe.states(["running", "unavailable", "running"])
                #expect(try await probe.named(2) == "Camera")
                try await browser.services("the service again") { $0.count == 1 }
                // It ends in good order without a bus, too.
                try await lab.control(["mdns", "down", "1"])
                try await probe.states(["running", "unavailable", "running", "unavailable"])
                try probe.say("quit")
                #expect(try await probe.tool.end().status == 0)
            }
        }

        @Test(arguments: ["publish.disable-publishing=yes", "publish.disable-user-service-publishing=yes"])
        func aDaemonThatDoesNotPublishIsNamed(setting: String) async throws {
            try await Lab.with(hosts: 2, mdns: [2]) { lab in
                try await lab.control(["mdns", "up", "1", setting])
                let other = try Probe.advertise(lab, 2, "Other")
                let probe = try Probe.advertise(lab, 1, "Camera")
                // It may have told before that the daemon runs: that was so until the first service was refused.
                try await probe.state("unavailable")
                let event = try #require(probe.events.first { $0.event == "unavailable" })
                #expect(event.code == 310)
                #expect(event.message?.contains("/etc/avahi/avahi-daemon.conf") == true)
                // Looking for others goes on.
                let browser = try Probe.browse(lab, 1)
                try await browser.services("the other one") { $0.map(\.name) == ["Other"] }
                #expect(browser.states == ["running"])
                // Without an advertisement there is nothing wrong.
                try probe.say("withdraw")
                try await probe.state("running")
                withExtendedLifetime(other) {}
            }
        }

        @Test func anotherStackKeepsTheDaemonAway() async throws {
            try await Lab.with(hosts: 1) { lab in
                let stack = try lab.start(
                    1,
                    [
                        "python3", "-c",
                        "import socket,time; s=socket.socket(socket.AF_INET6,socket.SOCK_DGRAM); "
                            + "s.setsockopt(socket.IPPROTO_IPV6,socket.IPV6_V6ONLY,0); s.bind(('::',5353)); "
                            + "print('bound',flush=True); time.sleep(60)",
                    ])
                try await stack.line(containing: "bound")
                await #expect(throws: Oracle.Failure.self) {
                    try await lab.control(["mdns", "up", "1", "server.disallow-other-stacks=yes"])
                }
                let probe = try Probe.advertise(lab, 1, "Camera")
                try await probe.states(["unavailable"])
                #expect(probe.events.contains { $0.message?.contains("avahi-daemon") == true })
            }
        }

        @Test func aHostNameInConflictDoesNotLoseTheService() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 3]) { lab in
                let browser = try Probe.browse(lab, 3)
                let first = try Probe.advertise(lab, 1, "First")
                try await browser.services("the first") { $0.count == 1 }
                try await lab.control(["mdns", "up", "2", "server.host-name=host1"])
                let second = try Probe.advertise(lab, 2, "Second")
                try await browser.services("both, each with its own addresses") {
                    $0.map(\.endpoints) == [
                        ["10.77.0.1:7787", "[fd77::1]:7787"], ["10.77.0.2:7787", "[fd77::2]:7787"],
                    ]
                }
                withExtendedLifetime((first, second)) {}
            }
        }
    }
}
