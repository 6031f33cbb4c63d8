import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import ProducerKit
import Testing

@testable import StudioKit

extension EndToEnd {
    /// Names that would steer a terminal, deceive the eye or break a line, through every way that a name comes in.
    @Suite struct HostileNameTests {
        /// Bytes of a name; with "Cam" in it, which must be left.
        private static let names: [[UInt8]] = [
            Array("\u{1b}[2J\u{1b}[31mCam\u{7}".utf8),
            Array("\u{1b}]0;title\u{7}Cam\u{9b}31m".utf8),
            Array("\u{202e}Cam\u{2066}\u{200f}\u{200b}\u{feff}".utf8),
            Array("Cam\nNext line\r\u{2028}\u{2029}\u{85}".utf8),
            [0] + Array("Cam".utf8) + [0],
            [0xff, 0xfe] + Array("Cam".utf8) + [0xc3, 0x28, 0xed, 0xa0, 0x80],
            Array("Cam\u{e000}\u{fff9}\u{e0041}".utf8),
            Array("Cam".utf8) + Array(repeating: UInt8(ascii: "x"), count: 61),
        ]

        /// What must not reach a terminal: everything but printable characters, and line ends where lines are.
        private static func complaint(_ text: String, lines: Bool = false) -> String? {
            for scalar in text.unicodeScalars {
                if lines, scalar == "\n" { continue }
                switch scalar.properties.generalCategory {
                case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator:
                    return "U+\(String(scalar.value, radix: 16)) in \(text.debugDescription)"
                default: if scalar == "\u{fffd}" { return "a replacement in \(text.debugDescription)" }
                }
            }
            return nil
        }

        /// All that JSON's own escapes stand for counts as well.
        private static func complaint(json text: String) -> String? {
            for line in text.split(separator: "\n") {
                guard let value = jsonLine(String(line)) else { return "no JSON: \(line)" }
                for case let string as String in value.values {
                    if let complaint = complaint(string) { return complaint }
                }
            }
            return nil
        }

        // MARK: From the network

        @Test(arguments: names.indices) func asANameInPAIRHELLO(_ index: Int) async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            let parsed = try PairingCode.parse(code)
            let port = try #require(parsed.endpoints.first).port
            let identity = try Identity()
            let name = Self.names[index]
            try await onThread {
                let hello = try HandPairing.hello(name: name)
                // Its proof is over the bytes as they were sent.
                #expect(hello.signedPayload.count > name.count)
                let peer = try HostilePeer(
                    .server, over: try HostilePeer.dial(port), identity: identity, alpn: WireLimits.pairingProtocolName)
                try HandPairing.pairAsProducer(peer, identity, code: parsed, hello: hello)
            }
            let end = try await studio.end()
            #expect(end.status == 0)
            let shown = try #require(end.event("paired")?["name"] as? String)
            #expect(shown.contains("Cam"))
            for text in [end.outputText, try await stage.studio(["devices", "list"]).end().outputText] {
                #expect(Self.complaint(json: text) == nil)
            }
            let table = try await stage.studio(["devices", "list"], json: false).end()
            #expect(table.outputText.contains("Cam"))
            for text in [end.errorText, table.outputText] { #expect(Self.complaint(text, lines: true) == nil) }
        }

        /// As an instance name of mDNS, and in its TXT record.
        @Test func asAServiceOnTheNetwork() throws {
            let key = try #require(KeyID(bytes: Array(repeating: 5, count: 32)))
            let device = PairedDevice(
                keyID: key, publicKeyInfo: [], kind: .producer, name: "Genuine", pairedAt: 0)
            for bytes in Self.names {
                let name = String(decoding: bytes, as: UTF8.self)
                var service = DiscoveredService(
                    type: .producer, name: name, endpoints: [Endpoint(host: "10.0.0.1", port: 1)],
                    text: ProducerRecord(keyID: key, state: .free).text)
                for (field, value) in [("s", name), ("x", name)] { service.text[field] = value }
                let found = try #require(DiscoveredProducer(service, devices: [device]))
                // The claim is shown by our own name for it; who it is, TLS says.
                #expect(found.displayedName == "Genuine")
                #expect(found.state == .free)
                #expect(Self.complaint(found.name) == nil)
                #expect(found.name.contains("Cam"))
                service.text["id"] = name
                #expect(DiscoveredProducer(service, devices: [device]) == nil)
                service.text["id"] = String(repeating: "\u{1b}", count: 16)
                let stranger = try #require(DiscoveredProducer(service, devices: [device]))
                #expect(stranger.device == nil)
                #expect(Self.complaint(stranger.displayedName) == nil)
            }
        }

        /// In HELLO of a producer that is paired and dials nobody's name: the studio's own record is shown.
        @Test func asTextOfErrorsAndStreams() async throws {
            for bytes in Self.names {
                let text = String(decoding: bytes, as: UTF8.self)
                for message in [
                    ControlMessage.error(ErrorMessage(code: 1, text: text)),
                    .hello(Hello(name: DisplayName(text), model: text, version: text)),
                ] {
                    guard let read = try ControlMessage.decode(type: message.type, payload: message.encode()) else {
                        Issue.record("not read")
                        continue
                    }
                    if case .hello(let hello) = read { #expect(Self.complaint(hello.name.text) == nil) }
                    // Free text is cleaned where it is shown: DisplayName is the one way.
                    if case .error(let error) = read { #expect(Self.complaint(DisplayName(error.text).text) == nil) }
                }
            }
        }

        // MARK: From this machine

        @Test func throughTheControlSocket() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--name", "Cam\u{1b}[2J\u{202e}"])
            let list = try await stage.producer(["devices", "list"]).end()
            let device = try #require(list.lines.first.flatMap(jsonLine)?["key"] as? String)
            let key = try #require(producer.state.value.event("started")?["key"] as? String)
            let script = """
                import json, os, socket, sys
                client = socket.socket(socket.AF_UNIX)
                client.connect(os.environ["XDG_RUNTIME_DIR"] + "/gantry/" + sys.argv[1])
                lines = client.makefile("rw")
                def ask(method, **params):
                    print(json.dumps({"id": 1, "method": method, "params": params}), file=lines, flush=True)
                    print(lines.readline(), end="")
                for name in json.loads(sys.argv[3]):
                    ask("devices.rename", device=sys.argv[2], name=name)
                    ask("devices.list")
                    # In front: what is typed is cut as names are.
                    ask("devices.remove", device="nobody " + name)
                    ask(name)
                ask("status")
                """
            let names = Self.names.map { String(decoding: $0, as: UTF8.self) }
            let argument = String(decoding: try JSONSerialization.data(withJSONObject: names), as: UTF8.self)
            let answers = try await Oracle.check([
                "env", "XDG_RUNTIME_DIR=\(ToolRun.runtimeFolder)", "python3", "-c", script,
                "producer-\(key.prefix(16).lowercased()).sock", device, argument,
            ])
            #expect(answers.lines.count == names.count * 4 + 1)
            for line in answers.lines {
                let answer = try #require(jsonLine(line))
                for string in Self.strings(in: answer) { #expect(Self.complaint(string) == nil) }
            }
            let table = try await stage.producer(["devices", "list"], json: false).end()
            #expect(table.outputText.contains("Cam"))
            #expect(Self.complaint(table.outputText, lines: true) == nil)
            let status = try await stage.producer(["status"], json: false).end()
            #expect(status.outputText.contains("Cam"))
            #expect(Self.complaint(status.outputText, lines: true) == nil)
            producer.signal(SIGINT)
            let end = try await producer.end()
            #expect(Self.complaint(json: end.outputText) == nil)
            #expect(Self.complaint(end.errorText, lines: true) == nil)
        }

        private static func strings(in value: Any) -> [String] {
            switch value {
            case let text as String: [text]
            case let list as [Any]: list.flatMap(strings)
            case let object as [String: Any]: object.values.flatMap(strings)
            default: []
            }
        }

        /// A record that another program has written, or a damaged one: cleaned when it is read.
        @Test func asTheAliasInTheStore() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let script = """
                import sqlite3, sys
                store = sqlite3.connect(sys.argv[1])
                store.execute("UPDATE device SET name = ?1, alias = ?1, last_address = ?1", (sys.argv[2],))
                store.commit()
                """
            // An argument cannot hold NUL.
            for bytes in Self.names where !bytes.contains(0) {
                let name = String(decoding: bytes, as: UTF8.self)
                _ = try await Oracle.check(["python3", "-c", script, stage.file("studio/paired.sqlite"), name])
                let table = try await stage.studio(["devices", "list"], json: false).end()
                #expect(table.outputText.contains("Cam"))
                #expect(Self.complaint(table.outputText, lines: true) == nil)
                let json = try await stage.studio(["devices", "list"]).end()
                #expect(Self.complaint(json: json.outputText) == nil)
                let renamed = try await stage.studio(["devices", "rename", "Cam\u{1b}[2J", name], json: false).end()
                #expect(Self.complaint(renamed.outputText, lines: true) == nil)
                #expect(Self.complaint(renamed.errorText, lines: true) == nil)
                let receive = try await stage.studio(["receive", name], json: false).end()
                #expect(receive.status != 0)
                #expect(Self.complaint(receive.outputText, lines: true) == nil)
                #expect(Self.complaint(receive.errorText, lines: true) == nil)
            }
        }
    }
}
