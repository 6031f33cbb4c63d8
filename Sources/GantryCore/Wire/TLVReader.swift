/// Reads the payload of a control message: fields of `u16 tag | u16 length | value`, big-endian, at most 64.
///
/// The tag's highest bit marks a field as critical; it is not part of the number. Ask for every known field, then call
/// `finish`: it refuses critical fields that nobody asked for. A field that is asked for by `number`, `bytes` or `text` may
/// come once.
package struct TLVReader: Sendable {
    private struct Field: Sendable {
        let tag: UInt16
        let isCritical: Bool
        let value: ArraySlice<UInt8>
        var isRead = false
    }

    private let type: MessageType
    private var fields: [Field] = []

    /// - Throws: `.protocolError` for a field that is cut, or too many.
    package init(_ payload: [UInt8], type: MessageType) throws(GantryError) {
        self.type = type
        var rest = payload[...]
        while !rest.isEmpty {
            guard rest.count >= 4 else { throw broken("a cut field") }
            guard fields.count < WireLimits.maximumFields else { throw broken("too many fields") }
            let tag = UInt16(Self.bigEndian(rest.prefix(2)))
            let count = Int(Self.bigEndian(rest.dropFirst(2).prefix(2)))
            rest = rest.dropFirst(4)
            guard rest.count >= count else { throw broken("a cut field") }
            let isCritical = tag & TLVWriter.critical != 0
            fields.append(Field(tag: tag & ~TLVWriter.critical, isCritical: isCritical, value: rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
    }

    /// The value of a field, or nil when it is not there.
    package mutating func value(_ tag: UInt16) throws(GantryError) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        for index in fields.indices where fields[index].tag == tag {
            guard found == nil else { throw broken("field \(tag) twice") }
            fields[index].isRead = true
            found = fields[index].value
        }
        return found
    }

    /// The values of a field that may come several times.
    package mutating func values(_ tag: UInt16) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        for index in fields.indices where fields[index].tag == tag {
            fields[index].isRead = true
            found.append(fields[index].value)
        }
        return found
    }

    /// A number of exactly the width of `T`.
    package mutating func number<T: FixedWidthInteger>(_ tag: UInt16, _: T.Type = T.self) throws(GantryError) -> T? {
        guard let value = try value(tag) else { return nil }
        guard value.count == T.bitWidth / 8 else { throw broken("field \(tag) of a wrong size") }
        return T(truncatingIfNeeded: Self.bigEndian(value))
    }

    /// Like `number`, for a field that must be there.
    package mutating func required<T: FixedWidthInteger>(_ tag: UInt16, _: T.Type = T.self) throws(GantryError) -> T {
        guard let value = try number(tag, T.self) else { throw broken("no field \(tag)") }
        return value
    }

    /// Numbers of the width of `T`; empty when the field is not there.
    package mutating func numbers<T: FixedWidthInteger>(
        _ tag: UInt16, _: T.Type = T.self, limit: Int
    ) throws(GantryError) -> [T] {
        guard let value = try value(tag) else { return [] }
        let width = T.bitWidth / 8
        guard value.count % width == 0, value.count / width <= limit else {
            throw broken("field \(tag) of a wrong size")
        }
        var result: [T] = []
        var rest = value
        while !rest.isEmpty {
            result.append(T(truncatingIfNeeded: Self.bigEndian(rest.prefix(width))))
            rest = rest.dropFirst(width)
        }
        return result
    }

    package mutating func bytes(_ tag: UInt16, limit: Int) throws(GantryError) -> [UInt8]? {
        guard let value = try value(tag) else { return nil }
        guard value.count <= limit else { throw broken("field \(tag) over its limit of \(limit) bytes") }
        return Array(value)
    }

    /// Text that is safe to show (see `DisplayName`); empty when the field is not there.
    package mutating func text(_ tag: UInt16, limit: Int) throws(GantryError) -> String {
        guard let value = try bytes(tag, limit: limit) else { return "" }
        return DisplayName.sanitized(String(decoding: value, as: UTF8.self), graphemes: limit, bytes: limit)
    }

    /// - Throws: `.versionMismatch` for a critical field that was not asked for.
    package func finish() throws(GantryError) {
        for field in fields where field.isCritical && !field.isRead {
            throw GantryError(
                .versionMismatch,
                "The other end needs something that this version does not know (field \(field.tag) of message \(type)). "
                    + "Update Gantry on this machine.")
        }
    }

    package func broken(_ what: String) -> GantryError {
        GantryError(
            .protocolError,
            "The other end broke the protocol: \(what) in message \(type). Update both ends and connect again.")
    }

    /// At most eight bytes as one number.
    static func bigEndian(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        for byte in bytes { value = value << 8 | UInt64(byte) }
        return value
    }
}
