import Foundation
import GantryTestSupport
import Testing

@testable import CommandLineKit

/// The page of the example, and what of text would be an instruction to roff.
@Suite struct ManualPageTests {
    @Test func saysAllThatTheTablesSay() {
        let page = ManualPage(ExampleTool.root, date: "2026-11-30").text
        #expect(page.contains(".TH GANTRY\\-EXAMPLE 1 2026-11-30 \"Gantry "))
        #expect(page.contains("\\fB\\-s\\fR, \\fB\\-\\-size\\fR \\fIWxH\\fR\nScale the picture to this size.\n"))
        #expect(page.contains("\\fB\\-\\-play\\fR[=\\fIDEVICE\\fR]"))
        #expect(page.contains(".SS devices remove\n\\fBgantry\\-example devices remove\\fR NAME\\[u2026] [options]\n"))
        #expect(page.contains("One of: error, warning, info, debug."))
        #expect(page.contains(".TP\n\\fB10\\fR\nUSB\n"))
    }

    @Test func textIsNoInstruction() {
        #expect(RoffText.prose(".so /etc/passwd") == ["\\&.so /etc/passwd"])
        #expect(RoffText.prose("'so x") == ["\\(aqso x"])
        #expect(RoffText.prose("a\\nb “c”") == ["a\\enb \\[u201C]c\\[u201D]"])
        #expect(RoffText.prose("see `ls -l`, --all or -x") == ["see \\fBls \\-l\\fR, \\fB\\-\\-all\\fR or \\-x"])
    }

    @Test(arguments: [
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"], ["mandoc", "-T", "lint", "-W", "warning"],
    ])
    func readersHaveNoComplaint(reader: [String]) async throws {
        try #require(await Oracle.run(["which", reader[0]]).status == 0, "scripts/setup --test installs \(reader[0])")
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        let file = folder.file("gantry-example.1")
        try Data(ManualPage(ExampleTool.root, date: "2026-11-30").text.utf8).write(to: URL(fileURLWithPath: file))
        let judged = try await Oracle.run(reader + [file])
        #expect(judged.status == 0 && judged.errors.isEmpty, "\(judged.text) \(judged.errors)")
    }
}
