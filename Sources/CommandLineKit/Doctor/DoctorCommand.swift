import GantryCore
import GantryPlatform
import Glibc

/// `doctor` of both tools: looks at one thing after the other, and tells each finding as it comes.
package struct DoctorCommand {
    package static func table(tool: String, about: String) -> Command {
        Command(
            "doctor", summary: "Look for what keeps it from working, and say what mends it",
            examples: [
                .init("\(tool) doctor", about),
                .init("sudo \(tool) doctor", "the firewall, and the processes of other users as well"),
                .init("\(tool) doctor --json", "a JSON line for each finding"),
            ],
            notes: ["Nothing is changed. Ends with 0 when there is no problem (warnings may be), else with 11."])
    }

    private let checks: [DoctorCheck]
    private let json: Bool
    private let style = TextStyle(for: STDOUT_FILENO)

    package init(_ arguments: ParsedArguments, _ checks: [DoctorCheck]) {
        self.checks = checks
        json = arguments.has("json")
    }

    package func run() -> ExitStatus {
        var counts: [Finding.Level: Int] = [:]
        for check in checks {
            for finding in check.look() {
                counts[finding.level, default: 0] += 1
                StandardStreams.writeOutput(json ? Self.json(check.name, finding) : text(check.name, finding))
            }
        }
        let (problems, warnings) = (counts[.problem] ?? 0, counts[.warning] ?? 0)
        StandardStreams.writeOutput(
            json
                ? JSONValue.object([
                    .init("event", "summary"), .init("problems", .integer(Int64(problems))),
                    .init("warnings", .integer(Int64(warnings))),
                ]).text + "\n"
                : "\n\(Figures.count(problems, "problem")), \(Figures.count(warnings, "warning")).\n")
        return problems > 0 ? .problemsFound : .success
    }

    private static func json(_ name: String, _ finding: Finding) -> String {
        JSONValue.object([
            .init("event", "finding"), .init("check", .string(name)), .init("level", .string(finding.level.rawValue)),
            .init("text", .string(finding.text)), .init("remedy", .optional(finding.remedy)),
        ]).text + "\n"
    }

    private func text(_ name: String, _ finding: Finding) -> String {
        let mark =
            switch finding.level {
            case .ok: "ok      "
            case .warning: style.warning("warning ")
            case .problem: style.error("PROBLEM ")
            }
        let title = TextCells.padded(name, to: 12, right: false)
        let remedy = finding.remedy.map { "\n" + String(repeating: " ", count: 20) + "-> " + TextCells.printable($0) }
        return mark + title + TextCells.printable(finding.text) + (remedy ?? "") + "\n"
    }
}
