import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport

/// A desktop for `receive --preview`: a virtual X server with a window manager, a keyboard (xdotool) and a camera (ImageMagick).
final class PreviewScreen: Sendable {
    /// What was on the screen.
    struct Shot {
        let width: Int
        let height: Int
        /// Before it was taken.
        let time: MediaTimestamp
        /// Red, green, blue for each pixel.
        fileprivate let bytes: Data

        func pixel(x: Int, y: Int) -> [Int] {
            guard 0..<width ~= x, 0..<height ~= y else { return [-1, -1, -1] }
            let start = (y * width + x) * 3
            return (start..<start + 3).map { Int(bytes[$0]) }
        }

        /// libyuv, which makes the RGB, is off by 9 at most where a colour is pure.
        func isNear(_ color: [Int], x: Int, y: Int, by distance: Int = 12) -> Bool {
            zip(pixel(x: x, y: y), color).allSatisfy { abs($0 - $1) <= distance }
        }

        /// The green of a part, as luma: enough to read a time code.
        func luma(x: Int, y: Int, width: Int, height: Int) -> Picture? {
            guard let picture = Picture(format: .i420, width: width, height: height) else { return nil }
            for row in 0..<height {
                for column in 0..<width {
                    let green = UInt8(clamping: pixel(x: x + column, y: y + row)[1])
                    picture.plane(0)[row * picture.stride(0) + column] = green
                }
            }
            return picture
        }
    }

    private let stage: ToolStage
    private let screen: VirtualScreen
    private let manager: ToolRun
    private let size: (width: Int, height: Int)

    init(_ stage: ToolStage, _ geometry: String) async throws {
        self.stage = stage
        let sides = geometry.split(separator: "x").compactMap { Int($0) }
        size = (sides[0], sides[1])
        screen = try await VirtualScreen(geometry)
        manager = try ToolRun(["env", "DISPLAY=\(screen.display)", "openbox", "--startup", "echo managed"])
        // A window that asks to be shown while the manager starts never is.
        try await manager.line(containing: "managed")
    }

    deinit { manager.signal(SIGKILL) }

    /// Starts `gantry-studio receive --preview` there, in the stage's folder, and waits for its window.
    func start(_ arguments: [String]) async throws -> ToolRun {
        let studio = try ToolRun(
            [
                "env", "-C", stage.folder.path, "-u", "WAYLAND_DISPLAY", "DISPLAY=\(screen.display)",
                ToolRun.folder + "/gantry-studio", "--state-dir", stage.file("studio"), "--json", "receive",
                "--preview",
            ] + arguments)
        _ = try await xdotool("search", "--sync", "--onlyvisible", "--name", "Gantry", "windowactivate", "--sync")
        return studio
    }

    /// Presses keys, one after the other, in whichever window has the keyboard.
    func press(_ keys: String...) async throws { _ = try await xdotool(["key", "--delay", "60"] + keys) }

    /// By the window manager, as the button of its frame does.
    func closeWindow() async throws { try await press("alt+F4") }

    /// Ends the X server, which every window loses.
    func end() async throws { try await screen.end() }

    /// The number of the window.
    func window() async throws -> String { try await xdotool("search", "--onlyvisible", "--name", "Gantry") }

    private func xdotool(_ words: String...) async throws -> String { try await xdotool(words) }

    private func xdotool(_ words: [String]) async throws -> String {
        try await Oracle.check(["env", "DISPLAY=\(screen.display)", "timeout", "60", "xdotool"] + words).text
    }

    /// Photographs the screen until it shows what is meant.
    @discardableResult
    func photograph(_ what: String, _ isThere: (Shot) -> Bool) async throws -> Shot {
        let deadline = MonotonicClock.now() + patience
        while true {
            let time = MonotonicClock.now()
            let bytes = try await Oracle.check([
                "import", "-display", screen.display, "-window", "root", "-depth", "8", "rgb:-",
            ]).output
            guard bytes.count == size.width * size.height * 3 else {
                throw Oracle.Failure(text: "\(bytes.count) bytes are no picture of the screen.")
            }
            let shot = Shot(width: size.width, height: size.height, time: time, bytes: bytes)
            if isThere(shot) { return shot }
            guard MonotonicClock.now() < deadline else {
                throw Oracle.Failure(text: "The screen has not shown \(what).")
            }
        }
    }
}
