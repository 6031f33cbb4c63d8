/// ERROR (1E): something failed at the sender; the session goes on.
package struct ErrorMessage: Hashable, Sendable {
    /// Field 1, u16: a number of `GantryError.Code`.
    package var code: UInt16
    /// Field 2, text ≤ 128.
    package var text: String

    package init(code: UInt16, text: String = "") {
        self.code = code
        self.text = text
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        code = try reader.required(1)
        text = try reader.text(2, limit: WireLimits.maximumReasonText)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, code)
        writer.text(2, text, limit: WireLimits.maximumReasonText)
        return writer.payload
    }
}

/// BYE (1F): the last message; the sender closes afterwards.
package struct Bye: Hashable, Sendable {
    /// Unknown numbers are kept.
    package struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let normal = Self(rawValue: 1)
        /// The sender has removed this device; only here is that honoured.
        package static let unpaired = Self(rawValue: 2)
        /// A newer connection of the same peer took over.
        package static let replaced = Self(rawValue: 3)
        package static let duplicate = Self(rawValue: 4)
        package static let protocolError = Self(rawValue: 5)
        package static let overload = Self(rawValue: 6)
        package static let shutdown = Self(rawValue: 7)
        package static let timeout = Self(rawValue: 8)
        package static let cancelled = Self(rawValue: 9)
    }

    /// Field 1, u8.
    package var reason: Reason
    /// Field 2, text ≤ 128.
    package var text: String

    package init(reason: Reason, text: String = "") {
        self.reason = reason
        self.text = text
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        reason = Reason(rawValue: try reader.required(1))
        text = try reader.text(2, limit: WireLimits.maximumReasonText)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, reason.rawValue)
        writer.text(2, text, limit: WireLimits.maximumReasonText)
        return writer.payload
    }
}
