package import GantryCore
import GantryPlatform
import Glibc

/// What every command line tool of ours does around its commands: parse, set up logging, run, say what went wrong, end
/// with the right status.
package enum Tool {
    /// Runs the command that the process was started for and returns the exit status.
    ///
    /// - Parameter listing: for completion in shells.
    package static func run(
        _ root: Command, listing: @escaping CompletionListing = { _, _ in [] },
        _ body: (ParsedArguments) throws(GantryError) -> ExitStatus
    ) -> ExitStatus {
        StandardStreams.fillClosed()
        SignalWatch.ignoreBrokenPipes()
        // A program that asked for JSON gets it for a wrong command line as well.
        var wantsJSON = CommandLine.arguments.dropFirst().prefix { $0 != "--" }.contains("--json")
        do throws(GantryError) {
            let commands = root.adding(ShellCommand.tables(tool: root.name))
            let parser = CommandLineParser(commands, version: GantryVersion.text)
            switch try parser.parseProcessArguments(width: TerminalSize.current.columns) {
            case .show(let text):
                StandardStreams.writeOutput(text)
                try checkOutput()
                return .success
            case .run(let typed):
                wantsJSON = typed.has("json")
                if let shell = ShellCommand(typed, root) {
                    StandardStreams.writeOutput(try shell.text(listing))
                    try checkOutput()
                    return .success
                }
                let isAboutFile = typed.commandNames.first == ConfigCommand.name
                let arguments = isAboutFile ? typed : try configured(typed, root)
                if let name = arguments.string("log"), let level = Log.Level.allCases.first(where: { $0.name == name })
                {
                    Log.level = level
                }
                let status: ExitStatus
                do throws(GantryError) {
                    status = isAboutFile ? try ConfigCommand(arguments, root).run() : try body(arguments)
                } catch {
                    throw arguments.locating(error)
                }
                try checkOutput()
                return status
            }
        } catch {
            return report(error, as: root.name, json: wantsJSON)
        }
    }

    /// With what the configuration file sets.
    static func configured(_ typed: ParsedArguments, _ root: Command) throws(GantryError) -> ParsedArguments {
        guard let file = try ConfigurationFile.chosen(by: typed, root) else { return typed }
        return typed.adding(file)
    }

    /// - Throws: `outputFailed` when some of the text that the command wrote was lost.
    private static func checkOutput() throws(GantryError) {
        guard let failure = StandardStreams.outputFailure else { return }
        throw GantryError(
            .outputFailed, "Standard output could not be written. Make room on its disk, or send it elsewhere.",
            cause: failure.description)
    }

    /// Writes the error where people and programs look, and returns its status.
    package static func report(_ error: GantryError, as tool: String, json: Bool) -> ExitStatus {
        let status = ExitStatus(error.code)
        if json {
            var fields: [JSONValue.Member] = [
                .init("event", "error"), .init("code", .integer(Int64(error.code.rawValue))),
                .init("message", .string(error.message)),
                .init("status", .integer(Int64(status.rawValue))),
            ]
            if let cause = error.cause { fields.append(.init("cause", .string(cause))) }
            StandardStreams.writeOutput(JSONValue.object(fields).text + "\n")
        }
        // Names of files may hold what moves the cursor.
        let lines = error.description.split(separator: "\n").map { TextCells.printable(String($0)) }
        StandardStreams.writeError("\(tool): \(lines.joined(separator: "\n"))\n")
        return status
    }
}
