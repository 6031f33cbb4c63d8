/// Builds the payload of a control message: fields of `u16 tag | u16 length | value`, big-endian.
package struct TLVWriter: Sendable {
    /// A receiver that does not know a field with this bit in its tag must refuse the message.
    package static let critical: UInt16 = 0x8000

    package private(set) var payload: [UInt8] = []

    package init() {}

    /// A value longer than 65535 bytes is cut; no message has one.
    package mutating func bytes(_ tag: UInt16, _ value: some Collection<UInt8>) {
        let value = value.prefix(Int(UInt16.max))
        append(tag)
        append(UInt16(value.count))
        payload.append(contentsOf: value)
    }

    package mutating func number(_ tag: UInt16, _ value: some FixedWidthInteger) {
        append(tag)
        append(UInt16(value.bitWidth / 8))
        append(value)
    }

    package mutating func number<T: FixedWidthInteger>(_ tag: UInt16, _ value: T?) {
        if let value { number(tag, value) }
    }

    /// Several numbers in one field, each at its own width.
    package mutating func numbers<T: FixedWidthInteger>(_ tag: UInt16, _ values: [T]) {
        append(tag)
        append(UInt16(truncatingIfNeeded: values.count * (T.bitWidth / 8)))
        for value in values { append(value) }
    }

    /// UTF-8, cut at a character's border to at most `limit` bytes. Nothing is written for an empty text.
    package mutating func text(_ tag: UInt16, _ value: String, limit: Int) {
        let cut = value.prefix(bytes: limit)
        if !cut.isEmpty { bytes(tag, Array(cut.utf8)) }
    }

    private mutating func append(_ value: some FixedWidthInteger) {
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            payload.append(UInt8(truncatingIfNeeded: value >> shift))
        }
    }
}

extension String {
    /// The longest start that takes at most `limit` bytes in UTF-8 and does not cut a grapheme.
    package func prefix(bytes limit: Int) -> String {
        if utf8.count <= limit { return self }
        var result = ""
        var count = 0
        for character in self {
            count += character.utf8.count
            if count > limit { break }
            result.append(character)
        }
        return result
    }
}
