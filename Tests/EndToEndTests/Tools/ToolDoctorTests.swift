import Foundation
import GantryTestSupport
import Testing

extension EndToEnd {
    /// `doctor` of both tools, on whatever machine this is.
    @Suite struct ToolDoctorTests {
        @Test(arguments: ["gantry-producer", "gantry-studio"]) func doctor(_ tool: String) async throws {
            let folder = try TestFolder()
            let state = folder.file("state")
            let end = try await ToolRun.run([tool, "--state-dir", state, "--json", "doctor"])
            let events = try end.lines.map { try #require(jsonLine($0)) }
            let findings = events.filter { $0["event"] as? String == "finding" }
            let names = Set(findings.compactMap { $0["check"] as? String })
            #expect(
                names.isSuperset(of: [
                    "network", "discovery", "firewall", "usb", "paired", "priority", "runtime", "versions",
                ]))
            if tool == "gantry-producer" {
                let encoder = findings.first { $0["check"] as? String == "encoder" }
                #expect((encoder?["text"] as? String)?.hasPrefix("x264 takes ") == true)
            }
            let problems = findings.count { $0["level"] as? String == "problem" }
            #expect(events.last?["problems"] as? Int == problems)
            #expect(end.status == (problems > 0 ? 11 : 0), "\(end.errorText)")
            // Nothing was made.
            #expect(!FileManager.default.fileExists(atPath: state))
            let text = try await ToolRun.run([tool, "--state-dir", state, "doctor"])
            #expect(text.status == end.status)
            // No colour but on a terminal.
            #expect(!text.outputText.contains("\u{1B}"))
        }

        /// A doctor of an installation that is used opens its keys.
        @Test(arguments: ["gantry-producer", "gantry-studio"]) func keysThatAreThere(_ tool: String) async throws {
            let folder = try TestFolder()
            let state = folder.file("state")
            #expect(try await ToolRun.run([tool, "--state-dir", state, "devices", "list"]).status == 0)
            let end = try await ToolRun.run([tool, "--state-dir", state, "--json", "doctor"])
            let findings = end.lines.compactMap(jsonLine).filter { $0["check"] as? String == "paired" }
            #expect(findings.map { $0["level"] as? String } == ["ok"], "\(end.errorText)")
            #expect(end.status == 0 || end.status == 11, "\(end.errorText)")
        }

        @Test func anOpenKeyFolderIsAProblem() async throws {
            let folder = try TestFolder()
            let state = folder.file("state")
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            let end = try await ToolRun.run(["gantry-studio", "--state-dir", state, "doctor"])
            #expect(end.status == 11)
            #expect(end.outputText.contains("chmod 700 \(state)"))
        }
    }
}
