import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// Where the secret of a code is not: arguments, environment, logs, answers, files, the usual screen, memory after
    /// the end, core files.
    @Suite struct ToolSecretTests {
        /// What is looked for.
        private struct Secret: Sendable {
            let text: String
            let bytes: [UInt8]

            init(_ code: String) throws {
                text = String(code.split(separator: "/")[2])
                bytes = try #require(Base32.decode(text))
                #expect(bytes.count == 16)
            }

            var needles: [[UInt8]] { [bytes, Array(text.utf8)] }

            func isIn(_ data: Data) -> Bool {
                needles.contains { data.range(of: Data($0)) != nil }
                    || data.range(of: Data(text.lowercased().utf8)) != nil
            }

            /// Files that hold it, in all of `folder`.
            func files(in folder: String) -> [String] {
                var found: [String] = []
                guard let names = FileManager.default.enumerator(atPath: folder) else { return ["?"] }
                for case let name as String in names {
                    let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
                    guard attributes?[.type] as? FileAttributeType == .typeRegular else { continue }
                    guard let data = try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)")) else { continue }
                    if isIn(data) { found.append(name) }
                }
                return found
            }

            /// Copies in the memory of a process: 0 of the bytes, 1 of the text.
            func copies(in process: Int32) async throws -> [ProcessView.Copy] {
                let needles = needles
                return try #require(try await onThread { ProcessView(process).copies(of: needles) })
            }

            /// Waits until there is none, and gives those that are left when the time is over.
            func copiesLeft(in process: Int32) async throws -> [ProcessView.Copy] {
                let needles = needles
                return try await onThread {
                    var last: [ProcessView.Copy]?
                    _ = waitUntil(.seconds(100)) {
                        last = ProcessView(process).copies(of: needles)
                        return last?.isEmpty != false
                    }
                    return try #require(last)
                }
            }
        }

        private static func expectClean(
            _ secret: Secret, _ process: ToolRun, sourceLocation: SourceLocation = #_sourceLocation
        ) {
            let view = ProcessView(process.processID)
            #expect(!view.commandLine.isEmpty, sourceLocation: sourceLocation)
            #expect(!secret.isIn(view.commandLine), sourceLocation: sourceLocation)
            #expect(!secret.isIn(view.environment), sourceLocation: sourceLocation)
        }

        /// Two that run on after the pairing: a studio that receives, and a producer that was told the code through its
        /// control socket. The studio guards the code for 35 seconds.
        @Test(.enabled(if: geteuid() == 0, "memory of others is read: needs root")) func afterThePairingNothingIsLeft()
            async throws
        {
            let stage = try ToolStage()
            let producer = try await stage.startPattern(["--log", "debug"])
            // Drawn as well, which makes more copies.
            let studio = try stage.studio([
                "--log", "debug", "receive", "--pair", "--text", "--address", "127.0.0.1", "--png",
                stage.file("code.png"),
            ])
            let line = try await studio.line(containing: "\"code\"")
            let code = try #require(jsonLine(line)?["code"] as? String)
            let secret = try Secret(code)
            // It is there, so that looking for it means something.
            #expect(try await secret.copies(in: studio.processID).contains { $0.needle == 0 })
            #expect(secret.isIn(studio.state.value.output))
            for process in [studio, producer] { Self.expectClean(secret, process) }
            let pair = try stage.producer(["--log", "debug", "pair", "-"], input: .text(code))
            try await pair.line(containing: "searching")
            let told = try await pair.end()
            #expect(told.status == 0, "\(told.errorText)")
            try await studio.line(containing: "\"firstFrame\"")
            for process in [producer, studio] {
                let left = try await secret.copiesLeft(in: process.processID)
                #expect(left.isEmpty, "of the \(process === studio ? "studio" : "producer"): \(left)")
            }
            #expect(studio.state.value.status == nil && producer.state.value.status == nil)
            for process in [studio, producer] { Self.expectClean(secret, process) }
            studio.signal(SIGINT)
            producer.signal(SIGINT)
            let (atStudio, atProducer) = (try await studio.end(), try await producer.end())
            for data in [told.output, told.errors, atStudio.errors, atProducer.output, atProducer.errors] {
                #expect(!secret.isIn(data))
            }
            // In its output once, where it was asked for.
            #expect(atStudio.lines.count { $0.contains(secret.text) } == 1)
            #expect(secret.files(in: stage.folder.path) == [])
        }

        /// A code that is wrong, and one whose studio does not answer: the running producer forgets them as well.
        @Test(.enabled(if: geteuid() == 0, "memory of others is read: needs root")) func aFailedPairingLeavesNothing()
            async throws
        {
            let stage = try ToolStage()
            let producer = try await stage.startPattern(["--log", "debug"])
            let (code, studio) = try await stage.showCode()
            let secret = try Secret(code)
            let wrong = [code + "/X1", String(code.prefix(82)), code + "/A1.2.3.4:99999"]
            for text in wrong {
                let state = try await stage.producer(["pair", "-"], input: .text(text)).end()
                #expect(state.status == 7, "\(state.errorText)")
                #expect(!secret.isIn(state.output) && !secret.isIn(state.errors))
            }
            studio.signal(SIGINT)
            _ = try await studio.end()
            let pair = try stage.producer(["pair", "-"], input: .text(code))
            try await pair.line(containing: "searching")
            #expect(try await secret.copies(in: producer.processID).contains { $0.needle == 0 })
            pair.signal(SIGINT)
            #expect(try await pair.end().status == 7)
            let left = try await secret.copiesLeft(in: producer.processID)
            #expect(left.isEmpty, "\(left)")
            producer.signal(SIGINT)
            let end = try await producer.end()
            #expect(!secret.isIn(end.output) && !secret.isIn(end.errors))
            #expect(secret.files(in: stage.folder.path) == [])
        }

        /// By picture, as a file: removed at the end, and nothing else holds the code.
        @Test func throughAPictureNothingIsLeft() async throws {
            let stage = try ToolStage()
            let (png, svg) = (stage.file("code.png"), stage.file("code.svg"))
            let studio = try stage.studio(
                ["--log", "debug", "pair", "--address", "127.0.0.1", "--png", png, "--svg", svg])
            try await studio.line(containing: "\"code\"")
            let read = try await Oracle.check(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", png])
            let secret = try Secret(read.text.trimmingCharacters(in: .whitespacesAndNewlines))
            Self.expectClean(secret, studio)
            let pair = try stage.producer(
                ["--log", "debug", "pair", "--image", png, "--port", stage.port])
            try await pair.line(containing: "searching")
            let state = try await pair.end()
            #expect(state.status == 0, "\(state.errorText)")
            let end = try await studio.end()
            for data in [state.output, state.errors, end.output, end.errors] { #expect(!secret.isIn(data)) }
            #expect(!FileManager.default.fileExists(atPath: png) && !FileManager.default.fileExists(atPath: svg))
            #expect(secret.files(in: stage.folder.path) == [])
        }

        /// Drawn at one terminal and typed at another: nothing of it is on the usual screens or above them.
        @Test func onTerminalsNothingIsLeft() async throws {
            let stage = try ToolStage()
            let shown = try await ShellOnTerminal.ready(columns: 100, rows: 40)
            let typed = try await ShellOnTerminal.ready()
            let isolation = "DBUS_SYSTEM_BUS_ADDRESS=\(Isolation.noMessageBus)"
            shown.type(
                "\(isolation) gantry-studio --state-dir \(stage.file("studio")) --log debug pair --address 127.0.0.1\n")
            try await shown.wait(text: "New code in", alternate: true)
            let code = try await shown.code()
            let secret = try Secret(code)
            #expect(code.hasPrefix("GANTRY:1/"))
            typed.type(
                "\(isolation) XDG_RUNTIME_DIR=\(ToolRun.runtimeFolder) gantry-producer --state-dir "
                    + "\(stage.file("producer")) --log debug pair --port \(stage.port)\n")
            try await typed.wait(text: "Code of the studio (not shown)", alternate: false)
            typed.type(code + "\n")
            for shell in [shown, typed] { try await shell.wait(text: "Paired with", alternate: false) }
            for shell in [shown, typed] {
                let model = shell.screen.value
                #expect(!secret.isIn(Data(model.usualText.utf8)))
                #expect(!model.usualText.contains("GANTRY:"))
                // Half blocks: the drawing.
                #expect(!model.usualText.contains("\u{2580}"))
            }
            #expect(secret.files(in: stage.folder.path) == [])
        }
    }
}
