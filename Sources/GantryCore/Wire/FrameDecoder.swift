/// Cuts the received byte stream into pieces of messages, and checks all that can be checked without their content.
///
/// Push parser: bytes come in any cut; payload is handed on in place, never copied, and nothing is allocated. Owned by
/// the one thread that reads the connection. After an error the decoder stays broken and throws the same error again.
package struct FrameDecoder: Sendable {
    /// What may come.
    package enum Phase: Sendable {
        /// Producer before it has accepted: HELLO and BYE, at most 4 KiB each.
        case beforeAuthorisation
        /// Studio before it has been accepted: HELLO, ACCEPT, REJECT, ERROR, BYE. Becomes `session` by itself at the end
        /// of an ACCEPT, because the producer may send on without waiting.
        case beforeAcceptance
        /// Everything but pairing.
        case session
        /// The pairing messages and BYE, at most 4 KiB each.
        case pairing
    }

    private struct Channel {
        var isOpen = false
        var type: UInt8 = 0
        var flags: UInt8 = 0
        var size = 0
    }

    /// Switched by the owner, between calls of `consume`.
    package var phase: Phase

    private var channels = InlineArray<9, Channel>(repeating: Channel())
    private var word: UInt64 = 0
    private var headerCount = 0
    private var header = FrameHeader(type: .bye, length: 0)
    /// Payload of the current fragment that has not come yet.
    private var remaining = 0
    private var isInPayload = false
    private var startsMessage = false
    private var failure: GantryError?

    package init(phase: Phase) { self.phase = phase }

    /// True between two messages: the stream may end here.
    package var isAtBoundary: Bool {
        guard headerCount == 0, !isInPayload else { return false }
        for index in channels.indices where channels[index].isOpen { return false }
        return true
    }

    /// Takes the next bytes and calls `sink` for every piece of a known message.
    ///
    /// - Throws: `.protocolError` when the peer breaks a rule; whatever `sink` throws.
    package mutating func consume(
        _ bytes: UnsafeRawBufferPointer, _ sink: (FrameChunk) throws(GantryError) -> Void
    ) throws(GantryError) {
        if let failure { throw failure }
        do throws(GantryError) {
            var rest = bytes
            while !rest.isEmpty {
                if isInPayload {
                    try takePayload(&rest, sink)
                } else {
                    try takeHeader(&rest, sink)
                }
            }
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func takeHeader(
        _ rest: inout UnsafeRawBufferPointer, _ sink: (FrameChunk) throws(GantryError) -> Void
    ) throws(GantryError) {
        if headerCount == 0, let whole = FrameHeader(rest) {
            header = whole
            rest = UnsafeRawBufferPointer(rebasing: rest[FrameHeader.size...])
        } else {
            var used = 0
            while used < rest.count, headerCount < FrameHeader.size {
                word = word << 8 | UInt64(rest[used])
                used += 1
                headerCount += 1
            }
            rest = UnsafeRawBufferPointer(rebasing: rest[used...])
            guard headerCount == FrameHeader.size else { return }
            header = FrameHeader(word: word)
            headerCount = 0
        }
        try beginFragment()
        if remaining == 0 {
            try deliver(UnsafeRawBufferPointer(start: nil, count: 0), endsFragment: true, sink)
        } else {
            isInPayload = true
        }
    }

    private mutating func takePayload(
        _ rest: inout UnsafeRawBufferPointer, _ sink: (FrameChunk) throws(GantryError) -> Void
    ) throws(GantryError) {
        let count = min(remaining, rest.count)
        let piece = UnsafeRawBufferPointer(rebasing: rest[..<count])
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        remaining -= count
        if remaining == 0 { isInPayload = false }
        try deliver(piece, endsFragment: remaining == 0, sink)
    }

    /// Checks a header against the limits and the state of its channel.
    private mutating func beginFragment() throws(GantryError) {
        let type = header.type
        guard header.length <= UInt32(WireLimits.maximumFragment) else {
            throw Self.broken("a frame of \(header.length) bytes, over the limit of \(WireLimits.maximumFragment)")
        }
        guard type.mayUse(channel: header.channel) else {
            throw Self.broken("message type \(type) on channel \(header.channel)")
        }
        guard allows(type) else { throw Self.broken("message type \(type) before it is allowed") }
        if header.flags.contains(.more), header.length == 0 { throw Self.broken("an empty fragment") }
        let index = Int(header.channel)
        startsMessage = !channels[index].isOpen
        if startsMessage {
            let flags = header.flags.subtracting(.more).rawValue
            channels[index] = Channel(isOpen: true, type: type.rawValue, flags: flags, size: 0)
        } else if channels[index].type != type.rawValue {
            throw Self.broken("message type \(type) in the middle of another")
        }
        remaining = Int(header.length)
        channels[index].size += remaining
        guard channels[index].size <= limit(of: type) else {
            throw Self.broken("a message of type \(type) over its limit of \(limit(of: type)) bytes")
        }
    }

    private mutating func deliver(
        _ piece: UnsafeRawBufferPointer, endsFragment: Bool, _ sink: (FrameChunk) throws(GantryError) -> Void
    ) throws(GantryError) {
        let index = Int(header.channel)
        let ends = endsFragment && !header.flags.contains(.more)
        let starts = startsMessage
        startsMessage = false
        if ends {
            channels[index].isOpen = false
            if header.type == .accept, phase == .beforeAcceptance { phase = .session }
        }
        guard header.type.isKnown else { return }
        try sink(
            FrameChunk(
                type: header.type, flags: FrameFlags(rawValue: channels[index].flags), channel: header.channel,
                payload: piece, startsMessage: starts, endsMessage: ends))
    }

    private func allows(_ type: MessageType) -> Bool {
        switch phase {
        case .beforeAuthorisation: type == .hello || type == .bye
        case .beforeAcceptance:
            type == .hello || type == .accept || type == .reject || type == .error || type == .bye
        case .session: !type.isPairing
        case .pairing: type.isPairing || type == .bye
        }
    }

    private func limit(of type: MessageType) -> Int {
        switch phase {
        case .beforeAuthorisation, .pairing: min(type.maximumSize, WireLimits.maximumBeforeAuthorisation)
        case .beforeAcceptance, .session: type.maximumSize
        }
    }

    private static func broken(_ what: String) -> GantryError {
        GantryError(
            .protocolError,
            "The other end broke the protocol: it sent \(what). Update both ends to the same version and connect again."
        )
    }
}
