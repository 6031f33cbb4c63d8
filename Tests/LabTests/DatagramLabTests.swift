import Foundation
import GantryCore
import GantryTestSupport
import Testing

extension LabTests {
    /// Media over UDP on a network of its own: a firewall, a lossy one, and an independent reader.
    @Suite struct DatagramLabTests {
        /// Drops UDP that comes to a host, but not mDNS; or `part` in 100 of all that comes.
        private static func drop(_ lab: Lab, _ host: Int, part: Int = 100) async throws {
            let rule = part == 100 ? "drop" : "numgen random mod 100 < \(part) drop"
            let what = part == 100 ? "udp dport != 5353" : "meta l4proto { tcp, udp }"
            try await drop(lab, host, "\(what) \(rule)")
        }

        /// - Parameter rule: for what comes to a host.
        private static func drop(_ lab: Lab, _ host: Int, _ rule: String) async throws {
            let path = lab.folder(host) + "/drop.nft"
            let text = """
                table inet loss {
                    chain in { type filter hook input priority 0; \(rule); }
                }
                """
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            let result = try await lab.run(host, ["nft", "-f", path])
            #expect(result.status == 0, "\(result.errors)")
        }

        private static func receive(_ lab: Lab, _ arguments: [String] = []) async throws -> ToolRun.State {
            let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
            let running = try await camera.send()
            try await pair(camera, desk)
            let end = try await desk.run(["receive", "Camera", "--stats", "--duration", "4s"] + arguments)
            #expect(end.status == 0, "\(end.errorText)")
            running.signal(SIGTERM)
            let producer = try await running.end()
            #expect(producer.status == 0)
            return producer.errorText.isEmpty ? end : try #require(Self.note(producer, end))
        }

        /// The studio's end with what the producer said.
        private static func note(_ producer: ToolRun.State, _ end: ToolRun.State) -> ToolRun.State? {
            warnings.change { $0.append(producer.errorText) }
            return end
        }
        private static let warnings = Watched<[String]>([])

        @Test func aFirewallLetsMediaGoOverTCP() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                try await Self.drop(lab, 2)
                let end = try await Self.receive(lab)
                let summary = try #require(end.event("summary"))
                #expect(summary["udp"] == nil)
                #expect(summary["framesLost"] as? Int == 0)
                #expect(summary["framesReceived"] as? Int ?? 0 > 60)
                // Once.
                #expect(Self.warnings.value.count { $0.contains("takes no UDP") } == 1)
            }
        }

        @Test func fivePercentOfLossIsNotSeen() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                try await Self.drop(lab, 1, part: 5)
                try await Self.drop(lab, 2, part: 5)
                let end = try await Self.receive(lab, ["--transport", "udp"])
                let summary = try #require(end.event("summary"))
                let udp = try #require(summary["udp"] as? [String: Any])
                #expect(udp["units"] as? Int ?? 0 > 200)
                #expect((udp["repaired"] as? Int ?? 0) + (udp["requested"] as? Int ?? 0) > 0)
                #expect(summary["framesLost"] as? Int == 0)
                #expect(summary["audioPacketsLost"] as? Int == 0)
            }
        }

        @Test func lossMakesMediaChangeOver() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                try await Self.drop(lab, 1, part: 5)
                try await Self.drop(lab, 2, part: 5)
                let end = try await Self.receive(lab)
                let summary = try #require(end.event("summary"))
                let udp = try #require(summary["udp"] as? [String: Any])
                #expect(udp["units"] as? Int ?? 0 > 100)
                #expect(summary["framesLost"] as? Int == 0)
            }
        }

        /// No TCP passes for four seconds, twice as long as silence may last: media goes on by UDP, and the session with it.
        @Test func aConnectionThatStandsStillEndsNoSession() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await pair(camera, desk)
                let receiving = try await desk.receive([
                    "Camera", "--stats", "--transport", "udp", "--duration", "10s",
                ])
                try await receiving.event("statistics", times: 2)
                for host in [1, 2] { try await Self.drop(lab, host, "meta l4proto tcp drop") }
                let before = receiving.state.value.count("statistics")
                try await receiving.event("statistics", times: before + 4)
                for host in [1, 2] { _ = try await lab.run(host, ["nft", "delete", "table", "inet", "loss"]) }
                let end = try await receiving.end()
                #expect(end.status == 0, "\(end.errorText)")
                #expect(end.count("connected") == 1 && end.count("disconnected") == 0)
                let summary = try #require(end.event("summary"))
                #expect(summary["framesLost"] as? Int == 0)
                #expect(summary["framesReceived"] as? Int ?? 0 > 270, "\(summary)")
                try await running.stop()
            }
        }

        @Test func withoutLossMediaStaysOnTCP() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let end = try await Self.receive(lab)
                let summary = try #require(end.event("summary"))
                #expect(summary["udp"] == nil)
                #expect(summary["framesLost"] as? Int == 0)
            }
        }

        /// tshark reads the RTP headers, which SRTP leaves in clear.
        @Test func anIndependentReaderSeesRTP() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let file = lab.folder(2) + "/udp.pcap"
                let capture = try lab.start(
                    2, ["tshark", "-q", "-i", "eth0", "-w", file, "-f", "udp and not port 5353 and not port 53"])
                _ = try await capture.state.wait(.seconds(20)) { $0.outputEnded || $0.errorText.contains("Capturing") }
                _ = try await Self.receive(lab, ["--transport", "udp"])
                capture.signal(SIGINT)
                _ = try await capture.end()
                let read = try await Oracle.check([
                    "tshark", "-r", file, "-o", "rtp.heuristic_rtp:TRUE", "--enable-heuristic", "rtp_udp", "-Y",
                    "rtp.version == 2 && rtp.ext.profile == 0x1000", "-T", "fields", "-e", "rtp.ssrc", "-e",
                    "rtp.p_type", "-e",
                    "rtp.seq", "-e", "rtp.marker", "-e", "rtp.timestamp",
                ])
                let rows = read.lines.map { $0.split(separator: "\t").map(String.init) }.filter { $0.count == 5 }
                let video = rows.filter { $0[0] == "0x00000001" && $0[1] == "96" }
                let sound = rows.filter { $0[0] == "0x00000002" && $0[1] == "97" }
                #expect(video.count > 60)
                #expect(sound.count > 200)
                // Without loss, each is the one before and one.
                for stream in [video, sound] {
                    let numbers = stream.compactMap { Int($0[2]) }
                    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 })
                }
                // One marker for each picture: as many as there are time stamps.
                let markers = video.count { ["1", "True"].contains($0[3]) }
                #expect(markers == Set(video.map { $0[4] }).count)
            }
        }
    }
}
