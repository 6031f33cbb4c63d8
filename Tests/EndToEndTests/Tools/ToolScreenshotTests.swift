import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// The code in a real terminal: xterm on a virtual X server, photographed and read by zbarimg.
    @Suite struct ToolScreenshotTests {
        private static let programs = ["Xvfb", "xterm", "import", "convert", "zbarimg"]
        private static var isPossible: Bool {
            let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
            return programs.allSatisfy { program in
                folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
            }
        }

        @Test(.enabled(if: isPossible, "needs xvfb, xterm, imagemagick and zbar-tools: scripts/setup --test"))
        func darkAndLightTerminalsShowTheSameCode() async throws {
            let stage = try ToolStage()
            let screen = try await VirtualScreen("1000x700x24")
            for colors in [["-bg", "black", "-fg", "white"], ["-bg", "white", "-fg", "black"]] {
                let terminal = try ToolRun(
                    [
                        "env", "DISPLAY=\(screen.display)", "xterm", "-u8", "-fa", "DejaVu Sans Mono", "-fs", "9",
                        "-geometry",
                    ]
                        + ["90x40+0+0"] + colors
                        + ["-e", ToolRun.folder + "/gantry-studio", "--state-dir", stage.file("studio"), "pair"]
                        + ["--address", "127.0.0.1"])
                let code = try #require(
                    try await Self.photograph(screen.display, stage.file("shot.png"), while: terminal))
                #expect(code.hasPrefix("GANTRY:1/"))
                terminal.signal(SIGTERM)
                try await terminal.end()
            }
            try await screen.end()
        }

        /// The code that is read from the screen, as soon as it can be; nil when that did not come.
        private static func photograph(
            _ display: String, _ path: String, while terminal: ToolRun
        ) async throws -> String? {
            let deadline = MonotonicClock.now() + patience
            while MonotonicClock.now() < deadline, terminal.state.value.status == nil {
                let shot = try await Oracle.run(["import", "-display", display, "-window", "root", path])
                guard shot.status == 0 else { continue }
                if let text = try await QRReading.text(in: path) { return text }
            }
            return nil
        }
    }
}
