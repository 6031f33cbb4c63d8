import Foundation
import GantryCore
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// Peers that are no Gantry, of another version, or not paired.
    @Suite struct ToolNetworkTests {
        @Test func nobodyIsPairedIsToldWithWhatMendsIt() async throws {
            let stage = try ToolStage()
            let nobody = try await stage.studio(["receive"], json: false).end()
            expectFailure(nobody, status: 6, saying: ["gantry-studio pair", "gantry-producer pair"])
            let address = try await stage.studio(["receive", "127.0.0.1:\(stage.port)"], json: false).end()
            expectFailure(address, status: 6, saying: ["gantry-studio pair"])
        }

        @Test func aPathIsToldHowAFileIsWritten() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let end = try await stage.studio(["receive", "/films/clip.mp4"], json: false).end()
            expectFailure(end, status: 6, saying: ["No paired producer", "file:///films/clip.mp4"])
        }

        @Test func whyNothingCanBeReceivedIsSaidInWords() async throws {
            let stage = try ToolStage()
            let watching = try stage.studio(["network", "--watch"], json: false)
            try await watching.line(containing: "no paired producer is found (is it running? gantry-producer run)")
            watching.signal(SIGTERM)
            #expect(try await watching.end().status == 0)
        }

        @Test func aPeerThatIsNotPairedIsRefusedOnBothSides() async throws {
            let (stage, other) = (try ToolStage(), try ToolStage())
            try await stage.pair()
            try await other.pair()
            let producer = try await other.startPattern()
            let end = try await stage.studio(["receive", "127.0.0.1:\(other.port)"], json: false).end()
            #expect(end.status == 6, "\(end.errorText)")
            #expect(end.errorText.contains("gantry-studio pair"))
            try await producer.line(containing: "\"refused\"")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func aRemovedStudioIsToldSo() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let list = try await stage.producer(["devices", "list"]).end()
            let name = try #require(jsonLine(list.lines.first ?? "").flatMap { Self.firstName($0) })
            #expect(try await stage.producer(["devices", "remove", name], json: false).end().status == 0)
            let producer = try await stage.startPattern()
            let end = try await stage.studio(["receive", "Camera"], json: false).end()
            #expect(end.status == 6, "\(end.errorText)")
            #expect(end.errorText.contains("has removed this one"))
            #expect(end.errorText.contains("Pair them again"))
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        /// Another process removes it: the producer that runs notices by the store.
        @Test func aStudioThatIsRemovedWhileItReceivesIsSentAway() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let path = stage.file("take.mkv")
            let studio = try await stage.startReceiving(["Camera", "--record", path])
            let list = try await stage.producer(["devices", "list"]).end()
            let name = try #require(jsonLine(list.lines.first ?? "").flatMap { Self.firstName($0) })
            // A change that is no removal ends nothing.
            #expect(try await stage.producer(["devices", "rename", name, "Attic"]).end().status == 0)
            #expect(try await stage.producer(["devices", "remove", "Attic"]).end().status == 0)
            let end = try await studio.end()
            #expect(end.status == 6, "\(end.errorText)")
            #expect(end.errorText.contains("Pair again"), "\(end.errorText)")
            try await Judge.expectSound(path)
            try await producer.line(containing: "\"disconnected\"")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        private static func firstName(_ line: [String: Any]) -> String? {
            if let name = line["name"] as? String { return name }
            return (line["devices"] as? [[String: Any]])?.first?["name"] as? String
        }

        @Test func nobodyAnswersIsStatusFive() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let end = try await stage.studio(["receive", "Camera"], json: false).end()
            #expect(end.status == 5, "\(end.errorText)")
            #expect(end.errorText.contains("gantry-producer run"))
            let name = try await stage.studio(["receive", "no-such-host.invalid:7787"], json: false).end()
            #expect(name.status == 5)
            #expect(name.errorText.contains("no-such-host.invalid"))
            let device = try await stage.studio(["receive", "Nobody"], json: false).end()
            expectFailure(device, status: 6, saying: ["Nobody"])
        }

        @Test func aServerThatIsNoGantryIsToldSo() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let key = try await Self.makeKey(stage)
            // Another version of ours, as its TLS would look: another name in ALPN.
            let server = try ToolRun(
                ["openssl", "s_server", "-accept", stage.port, "-alpn", "gantry/2", "-tls1_3", "-rev"] + key)
            try await server.line(containing: "ACCEPT")
            let version = try await stage.studio(["receive", "Camera"], json: false).end()
            #expect(version.status == 8, "\(version.errorText)")
            #expect(version.errorText.contains("Bring both to the same version"))
            server.signal(SIGKILL)
            _ = try await server.end()
            let old = try ToolRun(["openssl", "s_server", "-accept", stage.port, "-tls1_2", "-rev"] + key)
            try await old.line(containing: "ACCEPT")
            let foreign = try await stage.studio(["receive", "Camera"], json: false).end()
            #expect(foreign.status == 8, "\(foreign.errorText)")
            #expect(foreign.errorText.contains("not a Gantry peer"))
            old.signal(SIGKILL)
            _ = try await old.end()
        }

        private static func makeKey(_ stage: ToolStage) async throws -> [String] {
            let (key, certificate) = (stage.file("key.pem"), stage.file("cert.pem"))
            _ = try await Oracle.check([
                "openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", key, "-out", certificate, "-subj",
                "/CN=test", "-days", "2",
            ])
            return ["-cert", certificate, "-key", key]
        }

        @Test func theProducerSpeaksTLS13Only() async throws {
            let stage = try ToolStage()
            let producer = try await stage.startPattern()
            let key = try await Self.makeKey(stage)
            func connect(_ arguments: [String]) async throws -> String {
                let result = try await Oracle.run(
                    ["openssl", "s_client", "-ign_eof", "-connect", "127.0.0.1:\(stage.port)"] + arguments)
                return result.text + result.errors
            }
            for version in ["-tls1_1", "-tls1_2"] {
                let text = try await connect([version, "-alpn", "gantry/1", "-cipher", "ALL:@SECLEVEL=0"] + key)
                #expect(text.contains("alert protocol version"), "\(version): \(text.suffix(400))")
            }
            let stranger = try await connect(["-tls1_3", "-alpn", "gantry/1"] + key)
            #expect(stranger.contains("New, TLSv1.3, Cipher is TLS_"), "\(stranger)")
            #expect(stranger.contains("ALPN protocol: gantry/1"))
            #expect(stranger.contains("alert unknown ca"))
            let nameless = try await connect(["-tls1_3", "-alpn", "gantry/1"])
            #expect(nameless.contains("alert certificate required"), "\(nameless)")
            let version = try await connect(["-tls1_3", "-alpn", "gantry/2"] + key)
            #expect(version.contains("alert no application protocol"), "\(version)")
            // And it tells why it refused them.
            try await producer.line(containing: "not paired")
            try await producer.line(containing: "another version of Gantry")
            producer.signal(SIGINT)
            let end = try await producer.end()
            #expect(end.status == 0)
            #expect(end.lines.allSatisfy { jsonLine($0) != nil })
        }

        @Test func idleAndSlowSocketsDoNotLockOutAGenuineStudio() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern()
            let port = try #require(UInt16(stage.port))
            let isOver = Watched(false)
            // 50 that say nothing, and more that say one byte at a time, again and again.
            let idle = try await onThread { try (0..<50).map { _ in try LoopbackSocket(port: port) } }
            async let dripping: Void = onThread {
                let record: [UInt8] = [22, 3, 1, 64, 0, 1, 0, 63, 252]
                while !isOver.waitBlocking(.milliseconds(300), until: { $0 }) {
                    guard let socket = try? LoopbackSocket(port: port) else { continue }
                    for byte in record {
                        guard socket.write([byte]), !isOver.waitBlocking(.milliseconds(20), until: { $0 }) else {
                            break
                        }
                    }
                }
            }
            // Too many in a second are refused, and a genuine studio may meet that moment: it tries again.
            var end: ToolRun.State?
            for _ in 0..<40 {
                let state = try await stage.studio(["receive", "Camera", "-d", "500ms"]).end()
                end = state
                if state.status == 0 { break }
                #expect(state.status == 5, "\(state.errorText)")
                _ = try await isOver.wait(.milliseconds(250)) { $0 }
            }
            isOver.change { $0 = true }
            try await dripping
            #expect(end?.status == 0, "\(end?.errorText ?? "")")
            #expect(end?.event("summary")?["framesReceived"] as? Int ?? 0 > 5)
            #expect(idle.count == 50)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }
    }
}
