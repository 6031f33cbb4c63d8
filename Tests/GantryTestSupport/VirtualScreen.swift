import Foundation
import GantryPlatform
import Glibc

/// An X server without a screen of its own (Xvfb), or a window of one as a server (Xephyr). Ended with this object.
package final class VirtualScreen: Sendable {
    /// `:5`.
    package let display: String
    private let server: ToolRun

    /// Starts it and waits until it is ready.
    ///
    /// - Parameter parent: the display that holds a resizable window, which is the screen; nil for a plain Xvfb.
    package init(_ geometry: String = "640x480x24", inside parent: VirtualScreen? = nil) async throws {
        // It chooses a free number and writes that when it is ready.
        let command =
            if let parent {
                ["env", "DISPLAY=\(parent.display)", "Xephyr", "-resizeable", "-screen", geometry]
            } else {
                ["Xvfb", "-screen", "0", geometry]
            }
        server = try ToolRun(command + ["-displayfd", "1", "-nolisten", "tcp", "-noreset"])
        _ = try await server.state.wait { $0.output.contains(UInt8(ascii: "\n")) || $0.outputEnded }
        guard let number = server.state.value.lines.first else {
            throw Oracle.Failure(text: "no X server: \(server.state.value.errorText)")
        }
        display = ":" + number
    }

    deinit { server.signal(SIGTERM) }

    package static func isPossible(_ programs: String...) -> Bool {
        (programs + ["Xvfb"]).allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/" + $0) }
    }

    /// Fills the screen with a picture. ImageMagick's `display` ends with 1 when it has done so.
    package func show(_ path: String) async throws {
        let result = try await Oracle.run(["display", "-display", display, "-window", "root", path])
        guard result.errors.isEmpty else { throw Oracle.Failure(text: "display: \(result.errors)") }
    }

    /// Ends it and waits for that.
    package func end() async throws {
        server.signal(SIGTERM)
        try await server.end()
    }
}
