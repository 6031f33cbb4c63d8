package import GantryCore

/// Collects the first line of a YUV4MPEG2 stream byte by byte. Pure; fails at the first byte that cannot be right, so
/// that a wrong stream is refused without waiting for a line feed.
package struct Y4MHeaderParser {
    private var line: [UInt8] = []
    private static let magic = Array(Y4MHeader.magic.utf8)

    package init() {}

    /// The header, when `byte` was its line feed.
    ///
    /// - Throws: As `Y4MHeader.init`.
    package mutating func feed(_ byte: UInt8) throws(GantryError) -> Y4MHeader? {
        if byte == UInt8(ascii: "\n") { return try Y4MHeader(line: line) }
        guard line.count < Y4MHeader.maximumLength else { throw Y4MHeader.malformed("the first line is too long") }
        if line.count < Self.magic.count, byte != Self.magic[line.count] { throw Y4MHeader.malformed(nil) }
        line.append(byte)
        return nil
    }
}
