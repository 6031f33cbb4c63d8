/// Finds a preface in a stream that comes in pieces of any size, and counts what it throws away.
///
/// Knuth, Morris, Pratt: no byte is looked at twice, and none is kept. A value; one thread.
package struct PrefaceScanner: Sendable {
    package enum Result: Hashable, Sendable {
        /// It ended before this index of the piece: the session's bytes begin there.
        case found(Int)
        case needsMore
        /// More came before it than any controller holds.
        case tooMuch
    }

    /// What may lie in queues and FIFOs of both sides is far less than this.
    package static let defaultLimit = 1 << 20

    private let pattern: [UInt8]
    /// `fallback[n]`: the longest proper prefix that the first n + 1 bytes end with.
    private let fallback: [Int]
    private let limit: Int
    private var matched = 0
    private var seen = 0

    /// Bytes that were not part of the preface, so far.
    package var discarded: Int { seen - matched }

    package init(_ preface: LinkPreface, limit: Int = defaultLimit) {
        pattern = preface.bytes
        self.limit = limit
        var table = [Int](repeating: 0, count: pattern.count)
        var length = 0
        for index in pattern.indices.dropFirst() {
            while length > 0, pattern[index] != pattern[length] { length = table[length - 1] }
            if pattern[index] == pattern[length] { length += 1 }
            table[index] = length
        }
        fallback = table
    }

    /// Takes the next piece. After `found` and `tooMuch` it is not called again.
    package mutating func consume(_ piece: UnsafeRawBufferPointer) -> Result {
        for (index, byte) in piece.enumerated() {
            while matched > 0, byte != pattern[matched] { matched = fallback[matched - 1] }
            if byte == pattern[matched] { matched += 1 }
            seen += 1
            if matched == pattern.count { return .found(index + 1) }
            if discarded > limit { return .tooMuch }
        }
        return .needsMore
    }
}
