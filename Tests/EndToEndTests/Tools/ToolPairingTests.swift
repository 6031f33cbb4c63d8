import Foundation
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    @Suite struct ToolPairingTests {
        private static func pair(
            _ stage: ToolStage, _ arguments: [String] = ["pair", "-"], code: String = ""
        ) async throws -> ToolRun.State {
            try await stage.producer(arguments, json: false, input: .text(code)).end()
        }

        @Test func pairingByThePicture() async throws {
            let stage = try ToolStage()
            let (png, svg) = (stage.file("code.png"), stage.file("code.svg"))
            let studio = try stage.studio([
                "pair", "--address", "127.0.0.1", "--png", png, "--svg", svg,
            ])
            let line = try await studio.line(containing: "\"code\"")
            // The secret is in the picture only, where it was not asked for as text.
            #expect(!line.contains("GANTRY:"))
            let read = try await Oracle.check(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", png])
            #expect(read.text.hasPrefix("GANTRY:1/"))
            let drawn = try String(contentsOfFile: svg, encoding: .utf8)
            #expect(drawn.contains("<svg"))
            let producer = try await Self.pair(stage, ["pair", "--image", png, "--port", stage.port])
            #expect(producer.status == 0, "\(producer.errorText)")
            #expect(producer.outputText.contains("gantry-producer run"))
            #expect(!producer.outputText.contains("GANTRY:"))
            let end = try await studio.end()
            #expect(end.status == 0)
            #expect(end.event("paired")?["address"] as? String == "127.0.0.1:\(stage.port)")
        }

        @Test func badCodesAreToldAndNeverRepeated() async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            let cases: [(String, [String])] = [
                ("", ["gantry-producer pair"]),
                ("https://example.org/menu\n", ["not a Gantry pairing code", "gantry-studio pair"]),
                (String(code.prefix(75)), ["cut short", "copy all of its text"]),
                (String(code.dropLast()), ["cut short", "copy all of its text"]),
                (code.replacing("GANTRY:1/", with: "GANTRY:7/"), ["newer version", "Update Gantry on this machine"]),
                (code + "/X9", ["newer version", "Update"]),
                (code.replacing(try Regex("/T[0-9]+"), with: "/T0"), ["expired", "gantry-studio pair"]),
            ]
            for (text, words) in cases {
                let state = try await Self.pair(stage, code: text)
                #expect(state.status == (text.isEmpty ? state.status : 7), "\(state.errorText)")
                #expect(state.status != 0)
                #expect(state.output.isEmpty)
                for word in words where !text.isEmpty {
                    #expect(state.errorText.contains(word), "\(word) in \(state.errorText)")
                }
                #expect(!state.errorText.contains(code.suffix(30)))
            }
            studio.signal(SIGINT)
            let end = try await studio.end()
            #expect(end.status == 7)
            #expect(end.errorText.contains("cancelled"))
        }

        @Test func aCodeAsAnArgumentIsRefusedWithTheReason() async throws {
            let stage = try ToolStage()
            let state = try await Self.pair(stage, ["pair", "GANTRY:1/AAAA/BBBB"])
            expectFailure(state, status: 2, saying: ["list of processes", "gantry-producer pair -"])
            #expect(!state.errorText.contains("BBBB"))
        }

        @Test func whatDoesNotGoTogetherIsToldForWhatItIs() async throws {
            let stage = try ToolStage()
            let both = try await Self.pair(stage, ["pair", "-", "--image", "code.png"])
            expectFailure(both, status: 2, saying: ["not from both"])
            let nameless = try await Self.pair(stage, ["pair", "-", "--name", " \u{200B}"])
            expectFailure(nameless, status: 2, saying: ["--name", "that can be seen"])
        }

        @Test func aWrongCommandLineIsToldInJSONToo() async throws {
            let stage = try ToolStage()
            let state = try await stage.studio(["pair", "--no-such-option"]).end()
            expectFailure(state, status: 2, saying: ["--no-such-option"], isJSON: true)
            #expect(state.event("error")?["status"] as? Int == 2, "\(state.outputText)")
        }

        @Test func onlyOneThingGoesToStandardOutput() async throws {
            let stage = try ToolStage()
            for options in [["--png", "-", "--text"], ["--svg", "-", "--png", "-"], ["--svg", "-", "--json"]] {
                let state = try await stage.studio(
                    ["pair", "--address", "127.0.0.1", "--duration", "1s"] + options, json: false
                ).end()
                expectFailure(state, status: 2, saying: ["standard output"], isJSON: options.contains("--json"))
            }
        }

        @Test func aPictureWithoutACodeIsToldSo() async throws {
            let stage = try ToolStage()
            let path = stage.file("grey.png")
            _ = try await Oracle.check(["convert", "-size", "200x200", "xc:gray", path])
            let state = try await Self.pair(stage, ["pair", "--image", path])
            #expect(state.status == 7, "\(state.errorText)")
            #expect(state.output.isEmpty)
            let missing = try await Self.pair(stage, ["pair", "--image", stage.file("none.png")])
            #expect(missing.status != 0)
            #expect(missing.errorText.contains("none.png"))
        }

        @Test func aCodeWithoutATerminalNeedsAnOption() async throws {
            let stage = try ToolStage()
            let state = try await stage.studio(["pair", "--address", "127.0.0.1"], json: false).end()
            expectFailure(state, status: 2, saying: ["--text", "--png"])
            let address = try await stage.studio(["pair", "--text", "--address", "nowhere"], json: false).end()
            expectFailure(address, status: 2, saying: ["nowhere", "192.168.1.5"])
            let long = try await stage.studio(["pair", "--text", "--duration", "6m"], json: false).end()
            expectFailure(long, status: 2, saying: ["5 minutes", "--duration"])
            let over = try await stage.studio(
                ["pair", "--text", "--address", "127.0.0.1", "--duration", "1s"], json: false
            ).end()
            #expect(over.status == 7)
            #expect(over.errorText.contains("gantry-studio pair"))
            // The code, and nothing else.
            #expect(over.lines.count == 1)
            #expect(over.lines.first?.hasPrefix("GANTRY:1/") == true)
        }

        @Test func devicesAreListedRenamedAndRemoved() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let list = try await stage.studio(["devices", "list"], json: false).end()
            #expect(list.status == 0)
            #expect(list.outputText.contains("Camera"))
            #expect(
                try await stage.studio(["devices", "rename", "Camera", "Stage left"], json: false).end().status == 0)
            let json = try await stage.studio(["devices", "list"]).end()
            #expect(json.outputText.contains("Stage left"))
            _ = try await Oracle.check(["jq", "-e", "."], input: json.output)
            // What is told is what was kept.
            let long = try await stage.studio(
                ["devices", "rename", "Stage left", String(repeating: "x", count: 70)], json: false
            ).end()
            #expect(long.outputText.hasSuffix(" to \(String(repeating: "x", count: 32))\n"), "\(long.outputText)")
            _ = try await stage.studio(["devices", "rename", String(repeating: "x", count: 70), "Stage left"]).end()
            #expect(try await stage.studio(["devices", "remove", "Stage left"], json: false).end().status == 0)
            #expect(try await !stage.studio(["devices", "list"]).end().outputText.contains("Stage left"))
            let unknown = try await stage.studio(["devices", "remove", "Nobody"], json: false).end()
            expectFailure(unknown, status: 6, saying: ["Nobody", "devices list"])
        }
    }
}
