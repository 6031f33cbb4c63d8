/// KEYFRAME (06): the studio needs a picture that stands alone.
package struct Keyframe: Hashable, Sendable {
    /// Unknown numbers are kept.
    package struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let start = Self(rawValue: 1)
        package static let loss = Self(rawValue: 2)
        package static let corrupt = Self(rawValue: 3)
        package static let recording = Self(rawValue: 4)
    }

    /// Field 1, u16.
    package var channel: UInt16
    /// Field 2, u8.
    package var reason: Reason

    package init(channel: UInt16, reason: Reason) {
        self.channel = channel
        self.reason = reason
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        channel = try reader.channel(1)
        reason = Reason(rawValue: try reader.number(2) ?? 0)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, channel)
        writer.number(2, reason.rawValue)
        return writer.payload
    }
}

/// PAUSE (08) and RESUME (09): channels stop and go on.
package struct Pause: Hashable, Sendable {
    /// Unknown numbers are kept.
    package struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let user = Self(rawValue: 1)
        package static let hidden = Self(rawValue: 2)
        package static let source = Self(rawValue: 3)
    }

    /// Field 1, u16: bit n is channel n; bit 0 means nothing.
    package var mask: UInt16
    /// Field 2, u8.
    package var reason: Reason

    package init(mask: UInt16, reason: Reason) {
        self.mask = mask
        self.reason = reason
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        mask = try reader.required(1)
        reason = Reason(rawValue: try reader.number(2) ?? 0)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, mask)
        writer.number(2, reason.rawValue)
        return writer.payload
    }
}

/// VIDEO_STATE (0F): the producer's picture is in danger, gone, or back.
package struct VideoState: Hashable, Sendable {
    /// Unknown numbers are kept.
    package struct State: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let warning = Self(rawValue: 1)
        package static let warningLifted = Self(rawValue: 2)
        package static let disabled = Self(rawValue: 3)
        package static let enabled = Self(rawValue: 4)
    }

    /// Unknown numbers are kept.
    package struct Reason: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let publisher = Self(rawValue: 1)
        package static let quality = Self(rawValue: 2)
        package static let subscriber = Self(rawValue: 3)
        package static let codec = Self(rawValue: 4)
    }

    /// Field 1, u16.
    package var channel: UInt16
    /// Field 2, u8.
    package var state: State
    /// Field 3, u8.
    package var reason: Reason

    package init(channel: UInt16, state: State, reason: Reason) {
        self.channel = channel
        self.state = state
        self.reason = reason
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        channel = try reader.channel(1)
        state = State(rawValue: try reader.required(2))
        reason = Reason(rawValue: try reader.number(3) ?? 0)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, channel)
        writer.number(2, state.rawValue)
        writer.number(3, reason.rawValue)
        return writer.payload
    }
}

/// STREAMS (11): streams came or went while connected.
package struct Streams: Hashable, Sendable {
    /// Field 1, a record each.
    package var added: [StreamDescription]
    /// Field 2, u16 each.
    package var removed: [UInt16]

    package init(added: [StreamDescription] = [], removed: [UInt16] = []) {
        self.added = added
        self.removed = removed
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        added = try StreamDescription.list(1, &reader)
        removed = try reader.channels(2)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        for stream in added.prefix(WireLimits.maximumChannels) { writer.bytes(1, stream.record) }
        if !removed.isEmpty { writer.numbers(2, Array(removed.prefix(WireLimits.maximumChannels))) }
        return writer.payload
    }
}
