import Foundation
import GantryCore
import GantryTestSupport
import Testing

extension LabTests {
    /// What a studio is told of its producers, and how the two part.
    @Suite struct ToolSessionLabTests {
        @Test("S10: watching tells what comes, changes and goes") func watchingTellsWhatComesChangesAndGoes()
            async throws
        {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let watch = try desk.start(["list", "--watch"])
                let running = try await camera.send()
                try await pair(camera, desk)
                let receiving = try await desk.receive(["Camera"])
                try await Self.expect(watch, "active")
                try await camera.check(["pause"])
                try await Self.expect(watch, "paused")
                try await receiving.stop()
                try await camera.check(["resume"])
                try await Self.expect(watch, "free")
                running.signal(SIGTERM)
                #expect(try await running.end().status == 0)
                try await watch.event("gone")
                watch.signal(SIGTERM)
                let end = try await watch.end()
                #expect(end.status == 0)
                let events = end.events.map { "\($0["event"] ?? "") \($0["state"] ?? "")" }
                #expect(events.first == "found free")
                #expect(events.last?.hasPrefix("gone") == true)
                #expect(end.events.allSatisfy { $0["name"] as? String == "Camera" })
                #expect(end.events.dropFirst().dropLast().allSatisfy { $0["event"] as? String == "changed" })
                // Paired meanwhile.
                #expect(end.event("changed")?["paired"] as? Bool == true)
                #expect(end.errorText.isEmpty, "\(end.errorText)")
            }
        }

        /// Waits until the newest line names this state.
        private static func expect(_ watch: ToolRun, _ state: String) async throws {
            let came = try await watch.state.wait(.seconds(20)) {
                $0.outputEnded || $0.events.last?["state"] as? String == state
            }
            let now = watch.state.value
            guard came, now.events.last?["state"] as? String == state else {
                throw Oracle.Failure(text: "\(state) did not come: \(now.outputText)\(now.errorText)")
            }
        }

        @Test(arguments: [true, false])
        func whoIsRemovedWhileItIsConnectedIsSentAway(byStudio: Bool) async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                let running = try await camera.send()
                try await pair(camera, desk)
                let receiving = try await desk.receive(["Camera"])
                let at = ContinuousClock.now
                try await (byStudio ? desk : camera).check(["devices", "remove", byStudio ? "Camera" : "Desk"])
                let end = try await receiving.end()
                // A second, and what the processes of a loaded machine take to start and end.
                #expect(ContinuousClock.now - at < .seconds(4))
                #expect(end.status == 6, "\(end.errorText)")
                let words = byStudio ? "has been removed from the paired devices here" : "The other end has removed"
                #expect(end.errorText.contains(words), "\(end.errorText)")
                try await running.event("disconnected")
                #expect(try await desk.devices().isEmpty)
                #expect(try await camera.devices().isEmpty)
                let last = try await desk.run(["receive", "Camera"], json: false)
                #expect(last.status == 6, "\(last.errorText)")
                try await running.stop()
            }
        }

        @Test func whoWasAwayLearnsOfItLater() async throws {
            try await Lab.with(hosts: 2, mdns: [1, 2]) { lab in
                let (camera, desk) = (LabTool.producer(lab, 1), LabTool.studio(lab, 2))
                try await pair(camera, desk)
                // The studio is away: it hears it when it dials.
                try await camera.check(["devices", "remove", "Desk"])
                let running = try await camera.send()
                let told = try await desk.run(["receive", "Camera"], json: false)
                #expect(told.status == 6, "\(told.errorText)")
                #expect(told.errorText.contains("has removed this one"), "\(told.errorText)")
                #expect(try await desk.devices() == ["Camera unpaired there"])
                let after = try await desk.run(["receive"], json: false)
                #expect(after.status == 6, "\(after.errorText)")
                #expect(after.errorText.contains("gantry-studio pair"), "\(after.errorText)")
                #expect(running.state.value.count("refused") == 1)

                // Now the producer is away.
                try await pair(camera, desk)
                try await running.stop()
                try await desk.check(["devices", "remove", "Camera"])
                #expect(try await desk.devices().isEmpty)
                #expect(try await camera.devices() == ["Desk paired"])
                let again = try await camera.send()
                try await desk.expectList(["Camera free stranger"])
                let stranger = try await desk.run(["receive", "10.77.0.1:7787"], json: false)
                #expect(stranger.status == 6, "\(stranger.errorText)")
                // Pairing once more mends it on both sides.
                try await pair(camera, desk)
                try await desk.receive(["Camera"]).stop()
                #expect(try await camera.devices() == ["Desk paired"])
                try await again.stop()
            }
        }
    }
}
