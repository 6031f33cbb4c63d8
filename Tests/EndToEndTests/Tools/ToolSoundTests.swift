import Foundation
import GantryTestSupport
import Testing

/// `receive --play` where there is no sound device, or none of that name. With devices: `SoundTests` in Tests/DeviceTests.
@Suite struct ToolSoundTests {
    @Test func aMissingDeviceIsSaidBeforeAnythingIsConnected() async throws {
        let stage = try ToolStage()
        try await stage.pair()
        // No producer runs: a connection would fail with another status.
        let run = try await stage.studio(["receive", "--play", "hw:31,0"], json: false).end()
        expectFailure(run, status: 4, saying: ["no sound device hw:31,0"])
        let named = try await stage.studio(["receive", "--play=No Such Thing", "Camera"], json: false).end()
        expectFailure(named, status: 4, saying: ["No Such Thing"])
    }

    @Test(arguments: [
        (["--play", "--no-audio"], "--no-audio"), (["--play-delay", "80ms"], "--play"),
        (["--play", "--play-delay", "2s"], "20ms"), (["--play", "--play-delay", "soon"], "20ms"),
    ]) func wrongOptionsAreSaid(_ options: [String], _ word: String) async throws {
        let stage = try ToolStage()
        try await stage.pair()
        let run = try await stage.studio(["receive"] + options, json: false).end()
        expectFailure(run, status: 2, saying: [word])
    }
}
