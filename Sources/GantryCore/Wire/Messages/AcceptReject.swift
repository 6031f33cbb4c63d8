/// ACCEPT (02): the producer lets the studio in and lists its streams.
package struct Accept: Hashable, Sendable {
    /// Field 1, u64.
    package var sessionID: UInt64
    /// Field 2, a record each (`StreamDescription`).
    package var streams: [StreamDescription]

    package init(sessionID: UInt64, streams: [StreamDescription]) {
        self.sessionID = sessionID
        self.streams = streams
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        sessionID = try reader.required(1)
        streams = try StreamDescription.list(2, &reader)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, sessionID)
        for stream in streams.prefix(WireLimits.maximumChannels) { writer.bytes(2, stream.record) }
        return writer.payload
    }
}

/// REJECT (03): the producer does not let the studio in; it closes afterwards.
package struct Reject: Hashable, Sendable {
    /// Unknown numbers are kept.
    package struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let notReady = Self(rawValue: 1)
        package static let declined = Self(rawValue: 2)
        package static let busy = Self(rawValue: 3)
        package static let versionMismatch = Self(rawValue: 4)
        package static let unsupported = Self(rawValue: 5)
    }

    /// Field 1, u8.
    package var reason: Reason
    /// Field 2, u32, milliseconds: try again after that. Nil: do not try by yourself.
    package var retryAfter: UInt32?
    /// Field 3, text ≤ 128.
    package var text: String
    /// Field 4, u8, with `versionMismatch`: which side is to be updated (1 producer, 2 studio).
    package var updateSide: SessionRole?

    package init(reason: Reason, retryAfter: UInt32? = nil, text: String = "", updateSide: SessionRole? = nil) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.text = text
        self.updateSide = updateSide
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        reason = Reason(rawValue: try reader.required(1))
        retryAfter = try reader.number(2)
        text = try reader.text(3, limit: WireLimits.maximumReasonText)
        updateSide = SessionRole(rawValue: try reader.number(4) ?? 0)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, reason.rawValue)
        writer.number(2, retryAfter)
        writer.text(3, text, limit: WireLimits.maximumReasonText)
        writer.number(4, updateSide?.rawValue)
        return writer.payload
    }
}
