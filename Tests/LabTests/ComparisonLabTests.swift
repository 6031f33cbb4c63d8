import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// `scripts/bench compare`: that pictures of a live source come through, and are measured; not how fast anything is.
    @Suite struct ComparisonLabTests {
        private static let script = CoreVectors.repository.appending(path: "Benchmarks/compare/run.py").path

        @Test func oursAndAPeersPicturesAreMeasured() async throws {
            let folder = try TestFolder()
            let clip = folder.file("moving.mp4")
            _ = try await Oracle.check([
                "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=832x468:rate=25", "-t", "1", "-pix_fmt",
                "yuv420p", clip,
            ])
            let result = try await Oracle.run([
                "python3", Self.script, "--tools", ToolRun.folder, "--clip", clip, "--clips", folder.path, "--size",
                "832x468",
                "--fps", "15", "--seconds", "8", "--peers", "gantry,ffmpeg-tcp", "--links", "clean", "--out",
                folder.path,
            ])
            #expect(result.status == 0, "\(result.text)\(result.errors)")
            #expect(
                result.text.contains("× the floor") && result.text.contains("best H.264 peer (ffmpeg-tcp)"),
                "\(result.text)")
            let lines = try String(contentsOfFile: folder.file("results.jsonl"), encoding: .utf8).split(separator: "\n")
            let results = try lines.map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(results.map { $0["peer"] as? String } == ["floor", "gantry", "ffmpeg-tcp"])
            for one in results.dropFirst() {
                // Of 60 that are judged; a debug build on a busy machine may lose some.
                #expect(try #require(one["received"] as? Int) > 20, "\(one)")
                #expect(try #require(one["p50"] as? Double) > 0)
                // Compared with another picture of the clip it would be below 20.
                #expect(try #require(one["psnr"] as? Double) > 25, "\(one)")
                #expect(try #require(one["cpu-sender"] as? Double) > 0)
                #expect(try #require(one["mbit"] as? Double) > 0.1)
            }
            let parsed =
                "import sys, xml.etree.ElementTree as xml; print(len(xml.parse(sys.argv[1]).findall('.//{*}rect')))"
            let plot = try await Oracle.check(["python3", "-c", parsed, folder.file("latency.svg")])
            #expect(try #require(Int(plot.text.trimmingCharacters(in: .whitespacesAndNewlines))) == 4)
            withExtendedLifetime(folder) {}
        }

        @Test(arguments: [
            (["--peers", "skype"], "there is no peer"), (["--size", "640x360"], "--size must be"),
            (["--seconds", "2"], "--seconds must be"),
        ])
        func whatCannotBeMeasuredIsRefused(_ arguments: [String], _ words: String) async throws {
            let result = try await Oracle.run(["python3", Self.script] + arguments)
            #expect(result.status == 2)
            #expect(result.errors.contains(words), "\(result.errors)")
        }
    }
}
