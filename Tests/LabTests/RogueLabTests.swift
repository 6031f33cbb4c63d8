import Foundation
import GantryCore
import GantryTestSupport
import GantryTrust
import Testing

extension LabTests {
    /// A machine on the network that advertises itself a hundred times under somebody else's id, takes connections and
    /// says nothing.
    @Suite struct RogueLabTests {
        private static let count = 100

        /// Says how many connections it has taken.
        private static let program = #"""
            import socket, select
            listeners, held = [], []
            for port in range(9000, 9100):
                s = socket.socket(socket.AF_INET6)
                s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                s.bind(("::", port))
                s.listen(64)
                listeners.append(s)
            print("listening", flush=True)
            while True:
                for s in select.select(listeners, [], [])[0]:
                    held.append(s.accept()[0])
                    print("taken", len(held), flush=True)
            """#

        /// Has the Avahi daemon of host 3 announce them, under names that come before all others.
        private static func advertise(_ lab: Lab, _ type: String, _ text: [String]) throws {
            let records = text.map { "<txt-record>\($0)</txt-record>" }.joined()
            for number in 0..<count {
                let xml = """
                    <?xml version="1.0"?><!DOCTYPE service-group SYSTEM "avahi-service.dtd"><service-group>
                    <name>!\(number) \(type)</name><service><type>\(type)</type><port>\(9000 + number)</port>\(records)</service>
                    </service-group>
                    """
                try Data(xml.utf8).write(to: URL(fileURLWithPath: "\(lab.folder(3))/services/\(type)\(number).service"))
            }
        }

        /// Until host 2 sees that many.
        private static func wait(_ lab: Lab, _ type: String, _ wanted: Int = count) async throws {
            for _ in 0..<60 {
                let lines = try await lab.run(2, ["avahi-browse", "-tp", type]).lines
                if Set(lines.map { $0.split(separator: ";").dropFirst(3).first ?? "" }).count >= wanted { return }
            }
            Issue.record("host 2 does not see the rogues")
        }

        private static func code(_ studio: ToolRun) async throws -> PairingCode {
            try PairingCode.parse(try await studio.line(containing: "GANTRY:1/"))
        }

        /// Pairs by mDNS alone.
        private static func pair(_ lab: Lab, _ folder: String, _ code: PairingCode) async throws -> ToolRun.State {
            let text = PairingCode(studio: code.studio, secret: code.secret).text()
            return try await lab.start(
                1, ["gantry-producer", "--state-dir", folder, "pair", "--name", "Camera", "-"],
                input: .text(text + "\n")
            ).end()
        }

        @Test func theGenuineProducerIsFoundAmongRogues() async throws {
            try await Lab.with(hosts: 3, mdns: [1, 2, 3]) { lab in
                let (producer, studio) = (lab.folder(1) + "/state", lab.folder(2) + "/state")
                let rogue = try lab.start(3, ["python3", "-c", Self.program])
                try await rogue.line(containing: "listening")

                // Pairing: they copy what the studio looks for.
                let window = try lab.start(2, ["gantry-studio", "--state-dir", studio, "pair", "--text"])
                let code = try await Self.code(window)
                let r = try PairingTranscript.rendezvous(secret: code.secret, crypto: PairingCryptography.self)
                try Self.advertise(lab, "_camopairing._tcp", ["r=\(r)"])
                try await Self.wait(lab, "_camopairing._tcp")
                try await rogue.line(containing: "taken 2")
                let paired = try await Self.pair(lab, producer, code)
                #expect(paired.status == 0, "\(paired.errorText)")
                #expect(try await window.end().status == 0)

                // Receiving: the producer is at another port than before, the studio's daemon knows nothing yet.
                let sender = try lab.start(
                    1,
                    [
                        "gantry-producer", "--state-dir", producer, "run", "test", "--name", "Camera", "--port", "7799",
                        "--json",
                    ])
                let key = try #require(jsonLine(try await sender.line(containing: "started"))?["key"] as? String)
                try Self.advertise(lab, "_camo._tcp", ["v=1", "id=\(key.prefix(16))", "s=free"])
                try await Self.wait(lab, "_camo._tcp", Self.count + 1)
                try await lab.control(["mdns", "restart", "2"])
                let receive = ["gantry-studio", "--state-dir", studio, "receive"]
                let received = try await lab.start(2, receive + ["Camera", "-d", "200ms", "--json"]).end()
                #expect(received.status == 0, "\(received.errorText)")
                sender.signal(SIGINT)
                _ = try await sender.end()

                // An advert alone does not close a pairing window.
                let open = try lab.start(2, receive + ["--pair", "--text"])
                try await open.errors(containing: "is paired already")
                let other = try await Self.pair(lab, lab.folder(1) + "/other", try await Self.code(open))
                #expect(other.status == 0, "\(other.errorText)")
                open.signal(SIGINT)
                _ = try await open.end()
                rogue.signal(SIGKILL)
            }
        }
    }
}
