import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

extension LabTests {
    /// Programs that know nothing of us look at what we do on the network.
    @Suite struct InteroperationLabTests {
        @Test func avahiBrowseShowsWhatWeSay() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let camera = LabTool.producer(lab, 1, "Küche 1")
                let running = try await camera.send(["--port", "7001"])
                let status = try await camera.check(["status"]).event("status")
                #expect(status?["discoveryName"] as? String == "Küche 1")
                let lines = try await lab.run(2, ["avahi-browse", "-rtpk", "_camo._tcp"]).lines
                let found = lines.filter { $0.hasPrefix("=;") }.map { $0.split(separator: ";").map(String.init) }
                #expect(found.count == 2)
                let key = try #require(running.state.value.event("started")?["key"] as? String)
                for fields in found {
                    #expect(fields[3] == #"K\195\188che\0321"#)
                    #expect(["10.77.0.1", "fd77::1"].contains(fields[7]))
                    #expect(fields[8] == "7001")
                    let text = Set(fields[9].split(separator: " ").map(String.init))
                    #expect(text == ["\"v=1\"", "\"id=\(key.prefix(16))\"", "\"s=free\""])
                }
                try await running.stop()
            }
        }

        // MARK: TLS

        @Test func opensslSeesTLS13OnlyAtAProducer() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await pair(camera, desk)
                let client = TLSClient(lab: lab, host: 2, alpn: "gantry/1")
                let stranger = try await Rogue.make(lab, 2)
                // As the studio itself, with its own key.
                let own = lab.folder(2) + "/own.crt"
                _ = try await Oracle.check([
                    "openssl", "req", "-x509", "-key", desk.stateFolder + "/identity.key", "-subj", "/CN=x", "-out",
                    own,
                ])
                let trusted = try await client.connect(
                    "10.77.0.1:7787", "-tls1_3", certificate: own, key: desk.stateFolder + "/identity.key")
                #expect(trusted.contains("New, TLSv1.3"), "\(trusted)")
                #expect(trusted.contains("ALPN protocol: gantry/1"))
                #expect(!trusted.contains("NewSessionTicket"))
                #expect(!trusted.contains("alert unknown ca"))
                let unknown = try await client.connect(
                    "10.77.0.1:7787", "-tls1_3", certificate: stranger.certificate, key: stranger.key)
                #expect(unknown.contains("alert unknown ca"), "\(unknown)")
                #expect(!unknown.contains("NewSessionTicket"))
                let nobody = try await client.connect("10.77.0.1:7787", "-tls1_3")
                #expect(nobody.contains("alert certificate required"), "\(nobody)")
                try await Self.expectNoTLS12(client, "10.77.0.1:7787", stranger)
                try await running.stop()
            }
        }

        @Test func opensslSeesTLS13OnlyWhileAProducerPairs() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let camera = LabTool.producer(lab, 1)
                // The studio is openssl: the code names its key.
                let studio = try await Rogue.make(lab, 2)
                let key = try await Oracle.check(["openssl", "pkey", "-in", studio.key, "-pubout", "-outform", "DER"])
                let digest = try await Oracle.check(["openssl", "dgst", "-sha256", "-binary"], input: key.output)
                let code = "GANTRY:1/\(Base32.encode(Array(digest.output)))/" + String(repeating: "A", count: 26)
                let pairing = try camera.start(["pair", "-"], input: .text(code))
                let browser = try Probe.browse(lab, 2, "_camopairing._tcp")
                let services = try await browser.services("the producer") {
                    $0.first?.endpoints.contains { $0.hasPrefix("10.") } == true
                }
                let service = try #require(services.first)
                #expect(service.text == ["r": try rendezvous(code)])
                let address = try #require(service.endpoints.first { $0.hasPrefix("10.") })
                let client = TLSClient(lab: lab, host: 2, alpn: "gantry-pair/1")
                let other = LabTool.studio(lab, 2)
                try await other.check(["devices", "list"])
                let certificate = lab.folder(2) + "/other.crt"
                let otherKey = other.stateFolder + "/identity.key"
                _ = try await Oracle.check([
                    "openssl", "req", "-x509", "-key", otherKey, "-subj", "/CN=x", "-out", certificate,
                ])
                let unknown = try await client.connect(address, "-tls1_3", certificate: certificate, key: otherKey)
                #expect(unknown.contains("alert unknown ca"), "\(unknown)")
                try await Self.expectNoTLS12(client, address, studio)
                #expect(pairing.state.value.count("studioAnswered") == 0)
                let named = try await client.connect(
                    address, "-tls1_3", certificate: studio.certificate, key: studio.key)
                #expect(named.contains("New, TLSv1.3"), "\(named)")
                #expect(named.contains("ALPN protocol: gantry-pair/1"))
                #expect(!named.contains("NewSessionTicket"))
                try await pairing.event("studioAnswered")
                pairing.signal(SIGINT)
                #expect(try await pairing.end().status == 7)
            }
        }

        private static func expectNoTLS12(_ client: TLSClient, _ address: String, _ rogue: Rogue) async throws {
            let old = try await client.connect(
                address, "-tls1_2", certificate: rogue.certificate, key: rogue.key)
            #expect(old.contains("alert protocol version"), "\(old)")
            #expect(old.contains("Cipher is (NONE)"), "\(old)")
        }

        /// The studio's listener takes the client's part in TLS: the producer is the server, whoever dials.
        @Test(arguments: ["TLSv1_3", "TLSv1_2"])
        func aStudioThatIsDialledSpeaksTLS13Only(version: String) async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let desk = LabTool.studio(lab, 2)
                let (code, window) = try await desk.showCode()
                let port = try #require(code.firstMatch(of: /\/A10\.77\.0\.2:([0-9]+)/)?.output.1)
                let rogue = try await Rogue.make(lab, 1)
                let dialler = try rogue.start(TLSClient.dialler, ["10.77.0.2", String(port), version])
                let end = try await dialler.end()
                let said = end.outputText + end.errorText
                if version == "TLSv1_3" {
                    #expect(said.contains("version TLSv1.3 gantry-pair/1"), "\(said)")
                    // The studio's hello is the first frame.
                    #expect(said.contains("received"), "\(said)")
                } else {
                    #expect(said.contains("failed"), "\(said)")
                    #expect(!said.contains("version"), "\(said)")
                }
                window.signal(SIGINT)
                #expect(try await window.end().status == 7)
                #expect(try await desk.devices().isEmpty)
            }
        }

        // MARK: On the wire

        /// Waits until a file that grows holds all `words`, and so many bytes more.
        private static func isWritten(_ words: [String], and more: Int, to file: String) async throws -> Bool {
            try await onThread { () throws in
                var size: Int?
                for _ in 0..<1000 {
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                    if let size, bytes.count >= size + more { return true }
                    if size == nil, words.allSatisfy({ bytes.range(of: Data($0.utf8)) != nil }) { size = bytes.count }
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(20))
                }
                return false
            }
        }

        @Test func tsharkFindsNoFaultAndNoSecret() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1, "Visible"), LabTool.studio(lab, 2, "Unheard Of"))
                let file = lab.folder(2) + "/capture.pcapng"
                let capture = try lab.start(2, ["dumpcap", "-q", "-i", "eth0", "-w", file])
                try await capture.errors(containing: "File:")
                let running = try await camera.send()
                let (code, window) = try await desk.showCode()
                try await camera.check(["pair", "-"], input: .text(PairingWay.mdns.code(code)))
                #expect(try await window.end().status == 0)
                let receiving = try await desk.receive(["Visible"])
                // What has not left dumpcap's buffer when it ends is lost: media behind both hellos must be in the file.
                #expect(try await Self.isWritten(["gantry-pair/1", "\u{8}gantry/1"], and: 20_000, to: file))
                try await receiving.stop()
                try await running.stop()
                capture.signal(SIGINT)
                _ = try await capture.end()

                // SRTCP, which tshark takes for RTCP, is encrypted behind its first eight bytes.
                let faults = try await Oracle.check(
                    ["tshark", "-n", "-r", file, "-Y", "(_ws.malformed || _ws.expert.severity >= 8388608) && !rtcp"])
                #expect(faults.text == "")
                // Both connections: to the pairing port and to the streaming port.
                let hellos = try await Oracle.check([
                    "tshark", "-n", "-r", file, "-Y", "tls.handshake.type == 1", "-T", "fields", "-e",
                    "tls.handshake.extensions_alpn_str",
                ])
                #expect(hellos.lines.contains("gantry-pair/1"))
                #expect(hellos.lines.contains("gantry/1"))
                let chosen = try await Oracle.check([
                    "tshark", "-n", "-r", file, "-Y", "tls.handshake.type == 2", "-T", "fields", "-e",
                    "tls.handshake.extensions.supported_version",
                ])
                #expect(Set(chosen.lines) == ["0x0304"], "\(chosen.text)")

                let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                let parsed = try PairingCode.parse(code)
                let words = code.split(separator: "/").map(String.init)
                #expect(bytes.range(of: Data("Visible".utf8)) != nil)
                for hidden in ["Unheard Of", words[1], words[2], words[2].lowercased(), "Test pattern"] {
                    #expect(bytes.range(of: Data(hidden.utf8)) == nil, "\(hidden)")
                }
                let secret = try parsed.secret.withBytes { Data($0) }
                #expect(secret.count == 16)
                #expect(bytes.range(of: secret) == nil)
            }
        }
    }
}

/// `openssl s_client` in a host of a lab.
private struct TLSClient {
    let lab: Lab
    let host: Int
    let alpn: String

    /// All that it says, until the server ends the connection or, where that does not come, for a second.
    func connect(
        _ address: String, _ version: String, certificate: String? = nil, key: String? = nil
    ) async throws -> String {
        var arguments = [
            "timeout", "20", "sh", "-c", "sleep 1 | openssl s_client \"$@\" 2>&1", "sh", "-connect", address, version,
            "-alpn", alpn, "-msg",
        ]
        if let certificate, let key { arguments += ["-cert", certificate, "-key", key] }
        return try await lab.run(host, arguments).text
    }

    /// Dials and plays the server in TLS.
    static let dialler = #"""
        import socket, ssl, sys
        certificate, key, host, port, version = sys.argv[1:6]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["gantry-pair/1"])
        context.minimum_version = context.maximum_version = getattr(ssl.TLSVersion, version)
        c = socket.create_connection((host, int(port)))
        try:
            c = context.wrap_socket(c, server_side=True)
            print("version", c.version(), c.selected_alpn_protocol())
            print("received", len(c.recv(4096)))
        except OSError as error: print("failed", error)
        """#
}
