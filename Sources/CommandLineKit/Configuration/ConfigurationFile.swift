package import GantryCore
import GantryPlatform

/// A configuration file of a tool: a JSON object whose keys are long options.
///
/// A key at the top counts for every command that has such an option. An object under a command's name counts for that
/// command alone, and before the others. A value of its own; every error names file and line.
package struct ConfigurationFile: Sendable {
    /// One option, as the file sets it.
    package struct Entry: Sendable, Hashable {
        package let option: Option
        /// The command under whose name it stands; nil: at the top.
        package let command: String?
        /// As a command line would have them: one text for each time. Empty: not set (`false`, `null`).
        package let values: [String]
        package let line: Int
    }

    package let path: String
    package let entries: [Entry]

    /// - Parameter root: the tool's table, which says what there can be.
    /// - Throws: `invalidArgument` for anything that the table does not have.
    package init(_ bytes: [UInt8], path: String, root: Command) throws(GantryError) {
        self.path = path
        let reader: ConfigurationReader
        do throws(GantryError) {
            reader = ConfigurationReader(text: try JSONText(bytes), path: path, root: root)
        } catch {
            throw GantryError(error.code, "\(TextCells.printable(path)): \(error.message)")
        }
        entries = try reader.entries()
    }

    /// The file at `path`; nil when there is none.
    ///
    /// - Throws: `invalidArgument` when it cannot be read, or when others than its owner, who is this user or root, can
    ///   write it: it says where media go.
    package init?(at path: String, root: Command) throws(GantryError) {
        guard let bytes = try ConfigurationPlace.read(path) else { return nil }
        try self.init(bytes, path: path, root: root)
    }

    /// The file that the command line chooses; nil when there is none, or none is wanted.
    ///
    /// - Throws: `invalidArgument` when it names one that is not there.
    package static func chosen(by typed: ParsedArguments, _ root: Command) throws(GantryError) -> ConfigurationFile? {
        guard !typed.has("no-config") else {
            guard !typed.has("config") else {
                throw GantryError(.invalidArgument, "--config and --no-config exclude each other. Leave one out.")
            }
            return nil
        }
        if let path = typed.string("config") { return try named(path, root: root) }
        guard let path = ConfigurationPlace.usual(tool: root.name) else { return nil }
        return try ConfigurationFile(at: path, root: root)
    }

    /// - Throws: `invalidArgument` when it is not there.
    static func named(_ path: String, root: Command) throws(GantryError) -> ConfigurationFile {
        guard !path.isEmpty, !path.utf8.contains(0), let file = try ConfigurationFile(at: path, root: root) else {
            throw GantryError(
                .invalidArgument,
                "There is no configuration file \"\(TextCells.printable(path))\". Name one that is there.")
        }
        return file
    }

    /// What the file sets for a command.
    ///
    /// - Parameter commands: from the tool down to it.
    package func entries(for commands: [Command]) -> [Entry] {
        let names = Set(commands.dropFirst().map(\.name))
        let options = commands.flatMap(\.options)
        var result: [Entry] = []
        for entry in entries where options.contains(where: { $0.name == entry.option.name }) {
            if let command = entry.command, !names.contains(command) { continue }
            if let index = result.firstIndex(where: { $0.option.name == entry.option.name }) {
                // The special one counts before the general one.
                if entry.command != nil { result[index] = entry }
            } else {
                result.append(entry)
            }
        }
        return result
    }
}
