import Foundation
import GantryTestSupport
import Testing

extension EndToEnd {
    /// What is said about USB on a machine that has neither gadget nor cable. The rest is in `DeviceTests`.
    @Suite(
        .enabled(
            if: !FileManager.default.fileExists(atPath: "/sys/class/udc/dummy_udc.0"), "here are device controllers"))
    struct ToolUSBTests {
        private static let wrong: [([String], Int32, [String])] = [
            (["--usb"], 10, ["run --usb-setup", "docs/usb.md"]),
            (["--usb=/nowhere"], 10, ["/nowhere/ep0", "--usb-setup"]),
            (["--usb-controller", "x"], 2, ["--usb-setup"]), (["--usb-id", "1209:0001"], 2, ["--usb-setup"]),
            (["--usb-trust", "tofu"], 2, ["--usb"]), (["--usb", "--usb-trust", "everybody"], 2, ["paired-only"]),
        ]

        @Test(arguments: wrong)
        func wrongOptionsAreSaid(_ options: [String], _ status: Int32, _ words: [String]) async throws {
            let stage = try ToolStage()
            let run = try await stage.producer(["run", "test", "--port", "0"] + options, json: false).end()
            expectFailure(run, status: status, saying: words)
        }

        /// The word behind --usb is the source.
        @Test func theFolderIsBehindAnEqualsSign() async throws {
            let stage = try ToolStage()
            let run = try await stage.producer(["run", "--usb", "/nowhere.mp4"], json: false).end()
            expectFailure(run, status: 3, saying: ["/nowhere.mp4"])
        }

        @Test(arguments: ["usb", "usb:NOBODY"]) func nothingIsOnTheCable(_ target: String) async throws {
            let stage = try ToolStage()
            let run = try await stage.studio(["receive", target], json: false).end()
            #expect(run.status == 10 && run.errorText.contains("run --usb"), "\(run.errorText)")
        }

        @Test func nobodyAsks() async throws {
            let stage = try ToolStage()
            expectFailure(
                try await stage.producer(["admit", "once"], json: false).end(), status: 1,
                saying: ["gantry-producer run"])
            expectFailure(
                try await stage.producer(["admit", "perhaps"], json: false).end(), status: 2,
                saying: ["no, once or always"])
        }
    }
}
