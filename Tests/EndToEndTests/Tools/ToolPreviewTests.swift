import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

extension EndToEnd {
    /// `receive --preview` on a virtual X server with a window manager: keys are pressed, and the screen is photographed.
    @Suite struct ToolPreviewTests {
        private static let isPossible = VirtualScreen.isPossible("openbox", "xdotool", "import", "convert")
        private static let reason: Comment = "needs xvfb, openbox, xdotool and imagemagick: scripts/setup --test"

        /// 75 % bars (`ColorBars`).
        private static let bars = [
            [191, 191, 191], [191, 191, 0], [0, 191, 191], [0, 191, 0], [191, 0, 191], [191, 0, 0], [0, 0, 191],
            [0, 0, 0],
        ]

        @Test(.enabled(if: isPossible, reason)) func thePictureIsThatOfTheProducer() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--fps", "15"], size: "640x360")
            // 20 lines more above and below than the picture needs.
            let screen = try await PreviewScreen(stage, "640x400x24")
            let studio = try await screen.start(["--no-audio"])
            try await studio.line(containing: "\"firstFrame\"")
            try await screen.press("f")
            let layout = try #require(TestPatternLayout(width: 640, height: 360))
            let shot = try await screen.photograph("the whole screen") { shot in
                (0..<8).allSatisfy { number in
                    let bar = layout.bar(number)
                    return shot.isNear(Self.bars[number], x: bar.x + bar.width / 2, y: 20 + bar.y + bar.height / 2)
                }
                    && (0..<640).allSatisfy {
                        shot.isNear([0, 0, 0], x: $0, y: 10) && shot.isNear([0, 0, 0], x: $0, y: 390)
                    }
            }
            // The very picture, pixel by pixel, and of this moment.
            let luma = try #require(shot.luma(x: 0, y: 20, width: 640, height: 360))
            let code = try #require(TimeCode.read(from: luma))
            #expect((shot.time - code.capture) < .seconds(20))

            // A quarter turn clockwise: what was at the left is above.
            try await screen.press("o")
            try await screen.photograph("a turned picture") { shot in
                shot.isNear(Self.bars[1], x: 320, y: 75) && shot.isNear(Self.bars[6], x: 320, y: 325)
                    && shot.isNear([0, 0, 0], x: 100, y: 200)
            }
            try await screen.press("o", "o", "o")
            // The panel lies over the left of the picture, and goes.
            let white = (x: 20, y: 90)
            try await screen.press("i")
            try await screen.photograph("figures") { !$0.isNear(Self.bars[0], x: white.x, y: white.y) }
            try await screen.press("i")
            try await screen.photograph("no figures") { $0.isNear(Self.bars[0], x: white.x, y: white.y) }
            // In the middle of the screen.
            try await screen.press("h")
            try await screen.photograph("the keys") { !$0.isNear(Self.bars[3], x: 316, y: 150) }
            // Leaves full screen, and nothing else.
            try await screen.press("Escape")
            // Above the last bar, which is black, there is the window's frame now.
            try await screen.photograph("a window") { shot in (0..<300).contains { shot.pixel(x: 600, y: $0)[2] > 100 }
            }
            #expect(studio.state.value.status == nil)
            try await screen.press("q")
            let end = try await studio.end()
            #expect(end.status == 0, "\(end.errorText)")
            let figures = try #require(end.event("summary")?["preview"] as? [String: Any])
            #expect((figures["shown"] as? Int ?? 0) > 10)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test(.enabled(if: isPossible, reason)) func keysDoWhatTheySay() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--fps", "15"])
            let screen = try await PreviewScreen(stage, "640x400x24")
            let studio = try await screen.start(["--replay"])
            try await studio.line(containing: "\"firstFrame\"")
            try await screen.press("s")
            let snapshot = try #require(
                jsonLine(try await studio.line(containing: "\"snapshotSaved\""))?["path"] as? String)
            let size = try await Oracle.check(["identify", "-format", "%wx%h", stage.file(snapshot)]).text
            #expect(size == "320x180")
            try await screen.press("r")
            let recording = try #require(
                jsonLine(try await studio.line(containing: "\"recordingBegan\""))?["path"] as? String)
            // The file appears with the first key frame, which is asked for at once.
            #expect(
                try await onThread {
                    waitUntil {
                        let size = try? FileManager.default.attributesOfItem(atPath: stage.file(recording))[.size]
                        return (size as? Int ?? 0) > 10_000
                    }
                })
            try await screen.press("Left")
            try await studio.line(containing: "\"event\":\"replay\",\"behind\":")
            try await screen.press("l")
            try await studio.line(containing: "\"behind\":null")
            try await screen.press("r")
            try await studio.line(containing: "\"recordingEnded\"")
            try await Judge.expectSound(stage.file(recording))
            #expect(try await Judge.probe(stage.file(recording)).width == 320)
            try await screen.press("space")
            try await studio.line(containing: "\"stoppedHere\",\"video\":true")
            try await screen.press("space")
            try await studio.line(containing: "\"stoppedHere\",\"video\":false")
            // What runs at the end is ended in order; the window is closed by the button of its frame.
            try await screen.press("r")
            #expect(try await studio.state.wait { $0.lines.count { $0.contains("\"recordingBegan\"") } == 2 })
            try await screen.closeWindow()
            let end = try await studio.end()
            #expect(end.status == 0, "\(end.errorText)")
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test(.enabled(if: isPossible, reason)) func theWindowStaysWhenTheProducerIsLost() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let lost = try await stage.startPattern(["--fps", "15"])
            let screen = try await PreviewScreen(stage, "640x400x24")
            let studio = try await screen.start(["--no-audio"])
            try await studio.line(containing: "\"firstFrame\"")
            try await screen.press("f")
            func showsBars(_ shot: PreviewScreen.Shot) -> Bool {
                shot.isNear(Self.bars[0], x: 40, y: 200) && shot.isNear(Self.bars[6], x: 520, y: 200)
            }
            try await screen.photograph("bars", showsBars)
            let window = try await screen.window()
            lost.signal(SIGKILL)
            // The dark ground of the card, and its letters.
            try await screen.photograph("no signal") { shot in
                let isDark = (0..<640).allSatisfy { $0 % 20 != 0 || shot.isNear([18, 17, 24], x: $0, y: 5, by: 14) }
                return isDark
                    && (150..<250).contains { shot.pixel(x: 320, y: $0)[0] > 180 || shot.pixel(x: 250, y: $0)[0] > 180 }
            }
            let producer = try await stage.startPattern(["--fps", "15"])
            try await screen.photograph("bars again", showsBars)
            #expect(try await screen.window() == window)
            studio.signal(SIGINT)
            #expect(try await studio.end().status == 0)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        /// Xlib would end the process where it stands: with half a recording, and a terminal without echo.
        @Test(.enabled(if: isPossible, reason)) func theEndOfTheDesktopEndsItInGoodOrder() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let producer = try await stage.startPattern(["--fps", "15"])
            let screen = try await PreviewScreen(stage, "640x400x24")
            let studio = try await screen.start(["--record", "talk.mp4"])
            try await studio.line(containing: "\"firstFrame\"")
            try await screen.end()
            let end = try await studio.end()
            expectFailure(end, status: 4, saying: ["desktop", "--preview"], isJSON: true)
            #expect(!end.errorText.contains("X connection"))
            #expect(end.event("summary") != nil)
            try await Judge.expectSound(stage.file("talk.mp4"))
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        @Test func withoutADisplayItSaysWhatToDo() async throws {
            let stage = try ToolStage()
            let end = try await ToolRun.run(
                [
                    "env", "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", "-u", "SDL_VIDEODRIVER",
                    ToolRun.folder + "/gantry-studio", "--state-dir", stage.file("studio"), "receive",
                    "file:///nonexistent.mp4", "--preview",
                ])
            expectFailure(end, status: 4, saying: ["no display", "DISPLAY=:0 gantry-studio receive --preview"])
            let noPicture = try await stage.studio(
                ["receive", "file:///nonexistent.mp4", "--preview", "--no-video"], json: false
            ).end()
            expectFailure(noPicture, status: 2, saying: ["--preview", "--no-video"])
        }
    }
}
