package import Foundation

/// The vectors in `pairing/vectors`, and small things that tests of bytes need.
package enum CoreVectors {
    package static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    package static let folder = repository.appending(path: "pairing/vectors")

    package static func load<T: Decodable>(_ name: String, as _: T.Type = T.self) throws -> T {
        try JSONDecoder().decode(T.self, from: Data(contentsOf: folder.appending(path: name)))
    }

    /// From hexadecimal digits; empty for anything else.
    package static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex)
        guard digits.count.isMultiple(of: 2) else { return [] }
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}

/// Random numbers that come again for the same seed (SplitMix64).
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64
    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
