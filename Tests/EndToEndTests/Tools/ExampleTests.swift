import Foundation
import GantryCore
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// The programs in `Examples`, against each other and against the tools.
    @Suite struct ExampleTests {
        private static func example(
            _ name: String, _ stage: ToolStage, _ side: String, _ arguments: [String] = [], input: ToolRun.Input = .none
        ) throws -> ToolRun {
            // Lines are wanted when they are written, not at the end.
            try ToolRun(
                [
                    "stdbuf", "-oL", "env", "GANTRY_STATE_DIR=\(stage.file(side))",
                    "\(ToolRun.folder)/gantry-example-\(name)",
                ] + arguments, input: input)
        }

        @Test func aPictureThatIsDrawnArrivesAsPNG() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let sender = try Self.example("send", stage, "producer", [stage.port])
            try await sender.line(containing: "Port \(stage.port). Paired with: [\"")
            let path = stage.file("picture.png")
            let receiver = try await Self.example("receive", stage, "studio", [path]).end()
            #expect(receiver.status == 0, "\(receiver.errorText)")
            #expect(receiver.lines == ["\(path): 640x360"])
            try await sender.line(containing: " receives.")
            try await sender.line(containing: " is gone.")
            let facts = try await Judge.probe(path)
            #expect(facts.video["codec_name"] == "png" && facts.width == 640)
            // Blue grows to the right, green downwards; the band is white.
            let raw = try await Oracle.check(
                ["ffmpeg", "-v", "error", "-i", path, "-pix_fmt", "bgra", "-f", "rawvideo", "-"]
            ).output
            let pixels = try #require(raw.count == 640 * 360 * 4 ? raw : nil)
            let row = (0..<640).map { x in (0..<3).map { pixels[(180 * 640 + x) * 4 + $0] } }
            let plain = row.enumerated().filter { $0.element[2] < 130 }
            #expect(plain.count > 500)
            #expect(plain.allSatisfy { abs(Int($0.element[0]) - $0.offset * 255 / 640) < 40 })
            #expect(plain.allSatisfy { abs(Int($0.element[1]) - 128) < 40 })
            #expect(row.count { $0.allSatisfy { $0 > 200 } } > 50)

            // The tools understand them.
            let studio = try stage.studio(["receive", "--duration", "1s"])
            #expect(try await studio.end().status == 0)
            sender.signal(SIGINT)
            _ = try await sender.end()
        }

        @Test func aMissingProducerIsTold() async throws {
            let stage = try ToolStage()
            let receiver = try await Self.example("receive", stage, "studio", [stage.file("a.png")]).end()
            #expect(receiver.status != 0)
            #expect(receiver.errorText.contains("pair"), "\(receiver.errorText)")
        }

        @Test func linesGoBothWaysInAChat() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let (here, there) = (Pipe(), Pipe())
            let host = try Self.example(
                "chat", stage, "producer", ["producer", stage.port], input: .pipe(here.fileHandleForReading))
            let guest = try Self.example("chat", stage, "studio", ["studio"], input: .pipe(there.fileHandleForReading))
            try await guest.line(containing: " is there.")
            try there.fileHandleForWriting.write(contentsOf: Data("hello\n".utf8))
            try await host.line(containing: ": hello")
            try here.fileHandleForWriting.write(contentsOf: Data("good \u{1B}[31mday\n".utf8))
            let line = try await guest.line(containing: "good ")
            #expect(line.hasPrefix("-: good ") && !line.contains("\u{1B}"))
            try there.fileHandleForWriting.close()
            #expect(try await guest.end().status == 0)
            try here.fileHandleForWriting.close()
            #expect(try await host.end().status == 0)
        }
    }
}
