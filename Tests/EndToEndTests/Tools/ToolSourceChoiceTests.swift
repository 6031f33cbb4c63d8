import Foundation
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// What `gantry-producer` sends when it is told little, and what it says that there is. With devices: DeviceTests.
    @Suite struct ToolSourceChoiceTests {
        /// Without the screens of whoever runs the tests.
        private static func producer(_ arguments: [String], _ folder: TestFolder) -> [String] {
            ["env", "-u", "DISPLAY", "-u", "WAYLAND_DISPLAY", ToolRun.folder + "/gantry-producer", "--state-dir"]
                + [folder.file("state")] + arguments
        }

        private static func hasDevice(_ folder: String, _ prefix: String) -> Bool {
            ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).contains { $0.hasPrefix(prefix) }
        }

        private static let hasCamera = hasDevice("/dev", "video")
        private static let hasMicrophone = hasDevice("/dev/snd", "pcm")

        @Test(.enabled(if: !hasCamera, "this machine has a camera")) func withoutCameraRunSaysWhatToDo() async throws {
            let folder = try TestFolder()
            for words in [[], ["camera"], ["--audio", "off"]] {
                expectFailure(
                    try await ToolRun.run(Self.producer(["run", "--port", "0"] + words, folder)), status: 3,
                    saying: ["no camera", "gantry-producer run test", "gantry-producer sources"])
            }
            expectFailure(
                try await ToolRun.run(Self.producer(["pair", "--camera", "auto"], folder)), status: 3,
                saying: ["no camera", "gantry-studio pair --text"])
        }

        @Test(.enabled(if: !hasMicrophone, "this machine has a microphone"))
        func aMicrophoneThatWasAskedForMustBeThere() async throws {
            let folder = try TestFolder()
            for name in ["mic", "hw:7,0", "nosuch"] {
                let state = try await ToolRun.run(
                    Self.producer(["run", "test", "--port", "0", "--size", "320x180", "--audio", name], folder))
                #expect(state.status == 3, "\(name): \(state.errorText)")
                #expect(state.outputText.isEmpty)
            }
        }

        @Test func aCameraThatCodesDecidesTheBitrate() async throws {
            let folder = try TestFolder()
            for kind in ["mjpeg", "h264"] {
                expectFailure(
                    try await ToolRun.run(
                        Self.producer(
                            ["run", "camera", "--port", "0", "--pass-through", kind, "--bitrate", "2M"], folder)),
                    status: 2, saying: ["--bitrate does not go with --pass-through \(kind)"])
            }
        }

        @Test func aScreenNeedsADisplay() async throws {
            let folder = try TestFolder()
            expectFailure(
                try await ToolRun.run(Self.producer(["run", "screen", "--port", "0"], folder)), status: 3,
                saying: ["DISPLAY is not set", "gantry-producer run screen::0"])
            expectFailure(
                try await ToolRun.run(Self.producer(["run", "screen::4711", "--port", "0"], folder)), status: 3,
                saying: [":4711 cannot be opened", "xhost"])
            expectFailure(
                try await ToolRun.run(Self.producer(["run", "screen:what", "--port", "0"], folder)), status: 2,
                saying: ["screen,640x480+0+0"])
            expectFailure(
                try await ToolRun.run(Self.producer(["run", "screen::0", "--loop", "--port", "0"], folder)), status: 2,
                saying: ["--loop", "screen"])
        }

        @Test func sourcesAreListed() async throws {
            let folder = try TestFolder()
            let text = try await ToolRun.run(Self.producer(["sources"], folder))
            #expect(text.status == 0)
            for word in ["Cameras\n", "Microphones\n", "Screens\n", "`gantry-producer run`", "DISPLAY is not set"] {
                #expect(text.outputText.contains(word), "\(text.outputText)")
            }
            #expect(text.errorText.isEmpty)
            let json = try await ToolRun.run(Self.producer(["sources", "--json"], folder))
            #expect(json.status == 0)
            #expect(json.lines.count == 1)
            let event = try #require(json.event("sources"))
            #expect(event["cameras"] is [[String: Any]])
            #expect(event["microphones"] is [[String: Any]])
            #expect((event["screens"] as? [Any])?.isEmpty == true)
            let standard = try #require(event["default"] as? [String: Any])
            #expect((standard["reason"] as? String)?.isEmpty == false)
            if !Self.hasCamera {
                #expect(standard["source"] is NSNull && standard["audio"] is NSNull)
                #expect(text.outputText.contains("no camera"))
            }
            // It needs no keys, and makes none.
            #expect(!FileManager.default.fileExists(atPath: folder.file("state")))
        }

        /// The whole way: what stands on the screen is in the studio's picture.
        @Test(.enabled(if: VirtualScreen.isPossible("display", "convert"), "needs xvfb and imagemagick"))
        func theScreenIsReceived() async throws {
            let stage = try ToolStage()
            try await stage.pair()
            let screen = try await VirtualScreen("640x360x24")
            let drawing = stage.file("drawing.png")
            _ = try await Oracle.check([
                "convert", "-size", "320x360", "xc:red", "xc:blue", "+append", drawing,
            ])
            try await screen.show(drawing)
            let listed = try await ToolRun.run(
                ["env", "DISPLAY=\(screen.display)", ToolRun.folder + "/gantry-producer", "--json", "sources"])
            let screens = try #require(listed.event("sources")?["screens"] as? [[String: Any]])
            #expect(screens.first?["width"] as? Int == 640 && screens.first?["height"] as? Int == 360)
            let word = try #require(screens.first?["source"] as? String)
            let producer = try stage.producer(["run", word, "--port", stage.port, "--fps", "15"])
            let started = try await producer.line(containing: "\"started\"")
            #expect(started.contains("\"source\":\"screen \(screen.display)\""))
            let studio = try stage.studio(["receive", "--snapshot", stage.file("shot.png"), "--duration", "3s"])
            #expect(try await studio.end().status == 0)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
            let pixels = try await Oracle.check([
                "convert", stage.file("shot.png"), "-crop", "2x1@", "-resize", "1x1!", "-depth", "8", "rgb:-",
            ]).output
            #expect(pixels.count == 6)
            let wanted: [UInt8] = [255, 0, 0, 0, 0, 255]
            #expect(zip(pixels, wanted).allSatisfy { abs(Int($0) - Int($1)) < 16 }, "\(Array(pixels))")
        }

        /// A screen that goes away ends the session with the reason.
        @Test(.enabled(if: VirtualScreen.isPossible(), "needs xvfb")) func aScreenThatGoesIsAnError() async throws {
            let folder = try TestFolder()
            let screen = try await VirtualScreen("320x240x24")
            let producer = try ToolRun(
                Self.producer(["--json", "run", "screen:\(screen.display)", "--port", "0"], folder))
            try await producer.line(containing: "\"started\"")
            try await screen.end()
            let end = try await producer.end()
            expectFailure(end, status: 3, saying: ["has gone", "gantry-producer run screen"], isJSON: true)
        }
    }
}
