import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// `scripts/lab run`: that it plays, measures and draws; not how fast anything is.
    @Suite struct ScenarioLabTests {
        private func play(_ arguments: [String]) async throws -> Oracle.Result {
            let script = CoreVectors.repository.appending(path: "scripts/lab").path
            return try await Oracle.run([script, "run", "--tools", ToolRun.folder] + arguments)
        }

        @Test func cleanMakesTableFiguresAndPlot() async throws {
            let folder = try TestFolder()
            let result = try await play(["clean", "--seconds", "3", "--out", folder.path])
            // A debug build on a busy machine may miss a bar: that is told, and no failure of the lab.
            #expect([0, 1].contains(result.status), "\(result.text)\(result.errors)")
            #expect(result.lines.first == "clean: Nothing in the way")
            for word in ["PHASE", "p95", "start", "run", "run: latency-p95", "run: lost 0 (at most 0)"] {
                #expect(result.text.contains(word), "\(result.text)")
            }
            #expect((result.status == 1) == result.text.contains("MISS"))
            let data = try Data(contentsOf: URL(fileURLWithPath: folder.path + "/clean/figures.json"))
            let figures = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let phases = try #require(figures["phases"] as? [String: [String: Any]])
            let run = try #require(phases["run"])
            #expect(try #require(run["pictures"] as? Int) > 45)
            #expect(try #require(run["latency-p50"] as? Double) > 0)
            #expect(try #require(run["bitrate"] as? Double) > 1)
            #expect(figures["traceLinesMissing"] as? Int == 0)
            // Both ends have one clock.
            #expect(try #require(figures["clockErrorMicroseconds"] as? Int) < 20_000)
            let count =
                "import sys, xml.etree.ElementTree as xml; print(len(xml.parse(sys.argv[1]).findall('.//{*}circle')))"
            let plot = try await Oracle.check(["python3", "-c", count, folder.path + "/clean/plot.svg"])
            #expect(try #require(Int(plot.text.trimmingCharacters(in: .whitespacesAndNewlines))) > 45)
            withExtendedLifetime(folder) {}
        }

        /// The pictures of the clip are bright and dark in turn: one that is compared with another's is nowhere near it.
        @Test func aClipIsComparedPictureByPicture() async throws {
            let folder = try TestFolder()
            let clip = folder.file("clip.y4m")
            let drawing = "testsrc2=size=320x180:rate=30,eq=brightness='0.3*mod(n,2)':eval=frame"
            _ = try await Oracle.check([
                "ffmpeg", "-v", "error", "-f", "lavfi", "-i", drawing, "-t", "1", "-pix_fmt", "yuv420p", clip,
            ])
            let result = try await play(["--json", "clean", "--seconds", "2", "--clip", clip, "--out", folder.path])
            #expect([0, 1].contains(result.status), "\(result.errors)")
            let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
            let run = try #require((object["phases"] as? [String: [String: Any]])?["run"])
            #expect(try #require(run["psnr"] as? Double) > 25, "\(run)")
            let wrong = try await play(["clean", "--clip", folder.file("none.y4m")])
            #expect(wrong.status == 2)
            withExtendedLifetime(folder) {}
        }

        /// With the tools of a release build, as people call it.
        @Test(arguments: [
            (["nonsense"], "There are: "), (["clean", "nonsense"], "There are: "),
            (["clean", "--seconds", "nan"], "above 0"),
            (["clean", "--seconds", "inf"], "above 0"), (["clean", "--seconds", "-1"], "above 0"),
            (["clean", "--clip", "/no/such.y4m"], "such.y4m"),
        ])
        func wrongArgumentsAreToldBeforeAnythingIsBuilt(arguments: [String], words: String) async throws {
            let script = CoreVectors.repository.appending(path: "scripts/lab").path
            let result = try await Oracle.run([script, "run"] + arguments)
            #expect(result.status == 2)
            #expect(result.errors.contains(words) && !result.errors.contains("Build"), "\(result.errors)")
        }

        @Test func aBarThatIsMissedIsToldAndIsTheStatus() async throws {
            let folder = try TestFolder()
            try """
            title Slow from the second phase on
            link both delay 1
            producer --size 320x180
            phase start 1
            phase before 2
            phase slow 3 : link both delay 150
            bar slow latency-p50 <= 100 ms
            bar slow latency-p50 >= 140 ms
            bar slow back <= 1 s
            bar all lost <= 0
            """.write(toFile: folder.file("slow.scenario"), atomically: true, encoding: .utf8)
            let result = try await play(["--json", folder.file("slow.scenario"), "--out", folder.path])
            #expect(result.status == 1, "\(result.errors)")
            let object = try #require(try JSONSerialization.jsonObject(with: result.output) as? [String: Any])
            let bars = try #require(object["bars"] as? [[String: Any]])
            #expect(bars.map { $0["ok"] as? Bool } == [false, true, false, true], "\(result.text)")
            #expect(bars[2]["value"] is NSNull)
            withExtendedLifetime(folder) {}
        }

        @Test(arguments: [
            "phase", "phase a 0", "phase a 5 : jump", "bar a latency-p95 <= 5 ms", "bar all speed <= 5",
            "bar all lost <= 5 ms",
            "phase a 1\nphase a 1", "nothing", "phase a 1\nbar a back <= 1 s",
        ])
        func aFaultInAFileIsToldBeforeAnythingRuns(text: String) async throws {
            let folder = try TestFolder()
            try text.write(toFile: folder.file("wrong.scenario"), atomically: true, encoding: .utf8)
            let result = try await play([folder.file("wrong.scenario"), "--out", folder.file("out")])
            #expect(result.status == 2)
            #expect(result.errors.contains("wrong"), "\(result.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
            withExtendedLifetime(folder) {}
        }

        @Test func anUnknownScenarioNamesThoseThereAre() async throws {
            let result = try await play(["dips"])
            #expect(result.status == 2)
            #expect(result.errors.contains("clean, dip"), "\(result.errors)")
        }
    }
}
