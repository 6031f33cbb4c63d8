/// A JSON text that a person wrote, with the line of each member: for errors that say where.
package struct JSONText: Sendable {
    /// What is read at most.
    package static let maximumBytes = 256 << 10

    package let value: JSONValue
    private let lines: [[String]: Int]

    /// - Throws: `invalidArgument` with line and column.
    package init(_ text: some Sequence<UInt8>) throws(GantryError) {
        let bytes = Array(text.prefix(Self.maximumBytes + 1))
        guard bytes.count <= Self.maximumBytes else {
            throw GantryError(.invalidArgument, "A configuration has \(Self.maximumBytes) bytes at most.")
        }
        var reader = JSONReader(bytes, isForPeople: true)
        value = try reader.document()
        lines = reader.lines
    }

    /// The line, from 1 on, of the member that these names lead to; 1 for one that is not there.
    package func line(of path: [String]) -> Int { lines[path] ?? 1 }
}
