import GantryCore
import GantryPlatform
import Glibc

/// A tool's page for man(1), section 1, with all its commands.
struct ManualPage {
    private let root: Command
    /// As in 2026-11-30.
    private let date: String
    private var lines: [String] = []

    init(_ root: Command, date: String) {
        self.root = root
        self.date = date
    }

    /// Of $SOURCE_DATE_EPOCH, which those who build packages set, or today; UTC.
    static func today() -> String {
        let moment = Environment["SOURCE_DATE_EPOCH"].flatMap { Int64($0) }
        var seconds = time_t(moment ?? WallClock.now())
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "1970-01-01" }
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }

    var text: String {
        var page = self
        page.write()
        return page.lines.joined(separator: "\n") + "\n"
    }

    private mutating func write() {
        let title = root.name.uppercased()
        lines.append(".\\\" Written by: \(root.name) manual")
        lines.append(".TH \(RoffText.literal(title)) 1 \(date) \"Gantry \(GantryVersion.text)\" \"User Commands\"")
        lines += [".SH NAME", "\(RoffText.literal(root.name)) \\- \(RoffText.literal(root.summary))", ".SH SYNOPSIS"]
        lines.append("\(RoffText.bold(root.name)) \(RoffText.italic("COMMAND")) [options]")
        lines += [".SH DESCRIPTION"]
        paragraphs(root.notes.filter { $0 != CommonOptions.exitStatuses })
        lines += RoffText.prose(
            "Every command shows its own part of this page with --help. Options may stand before and behind arguments; "
                + "behind -- all words are arguments. What is always the same can stand in a configuration file.")
        lines.append(".SH COMMANDS")
        for command in root.visibleSubcommands { write(command, below: [root]) }
        lines.append(".SH OPTIONS OF EVERY COMMAND")
        write(root.options + [.help, .version])
        lines.append(".SH EXIT STATUS")
        entries(ExitStatus.meanings.map { (RoffText.bold("\($0.status.rawValue)"), $0.meaning) })
        lines.append(".SH ENVIRONMENT")
        entries(CommonOptions.environment.map { (RoffText.bold($0.name), $0.meaning) })
        lines.append(".SH FILES")
        entries(CommonOptions.files(tool: root.name).map { (RoffText.italic($0.name), $0.meaning) })
        if !root.examples.isEmpty { lines.append(".SH EXAMPLES") }
        write(root.examples)
        lines.append(".SH SEE ALSO")
        let pages = ["gantry-producer", "gantry-studio"].filter { $0 != root.name }.map { ($0, "1") }
        lines.append(
            (pages + [("avahi-daemon", "8")]).map { "\(RoffText.bold($0.0))(\($0.1))" }.joined(separator: ",\n"))
    }

    /// A command, and those below it.
    private mutating func write(_ command: Command, below path: [Command]) {
        let path = path + [command]
        let name = path.dropFirst().map(\.name).joined(separator: " ")
        lines.append(".SS \(RoffText.literal(name))")
        for form in command.usageForms {
            lines += ["\(RoffText.bold("\(root.name) \(name)")) \(RoffText.literal(form))", ".br"]
        }
        lines.removeLast()
        lines.append(".PP")
        paragraphs([command.summary + "."] + command.notes)
        entries(command.positionals.map { (RoffText.italic($0.name), $0.help) })
        for (title, options) in Option.groups(of: [command]) where title != "General" && !options.isEmpty {
            if title != "Options" { lines += [".PP", "\(RoffText.literal(title)):"] }
            write(options)
        }
        if !command.examples.isEmpty {
            lines += [".PP", "Examples:"]
            write(command.examples)
        }
        for next in command.visibleSubcommands { write(next, below: path) }
    }

    private mutating func write(_ options: [Option]) {
        entries(
            options.map { option in
                let names = option.names.map(RoffText.bold).joined(separator: ", ")
                let value = option.value.map(RoffText.italic) ?? ""
                let shown = option.optionalValue == nil ? " \(value)" : "[=\(value)]"
                return (names + (option.takesValue ? shown : ""), option.text)
            })
    }

    private mutating func write(_ examples: [Command.Example]) {
        entries(examples.map { (RoffText.bold($0.line), $0.meaning) })
    }

    /// Each under a label of its own.
    private mutating func entries(_ entries: [(label: String, text: String)]) {
        for entry in entries {
            lines += [".TP", RoffText.safe(entry.label)]
            lines += entry.text.isEmpty ? ["\\&"] : RoffText.prose(entry.text)
        }
    }

    /// With a `.PP` between two, and none in front.
    private mutating func paragraphs(_ texts: [String]) {
        for (index, text) in texts.enumerated() {
            if index > 0 { lines.append(".PP") }
            lines += RoffText.prose(text)
        }
    }
}
