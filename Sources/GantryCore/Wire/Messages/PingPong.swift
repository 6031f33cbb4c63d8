/// PING (0D): each side, every second.
package struct Ping: Hashable, Sendable {
    /// Field 1, i64: when it was sent, on the sender's clock.
    package var sent: MediaTimestamp

    package init(sent: MediaTimestamp) { self.sent = sent }

    init(_ reader: inout TLVReader) throws(GantryError) { sent = MediaTimestamp(microseconds: try reader.required(1)) }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, sent.microseconds)
        return writer.payload
    }
}

/// PONG (0E): the answer to PING, at once.
package struct Pong: Hashable, Sendable {
    /// Field 1, i64: `sent` of the PING.
    package var pingSent: MediaTimestamp
    /// Field 2, i64: when the PING arrived, on the answerer's clock.
    package var received: MediaTimestamp
    /// Field 3, i64: when this left, on the answerer's clock.
    package var sent: MediaTimestamp

    package init(pingSent: MediaTimestamp, received: MediaTimestamp, sent: MediaTimestamp) {
        self.pingSent = pingSent
        self.received = received
        self.sent = sent
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        pingSent = MediaTimestamp(microseconds: try reader.required(1))
        received = MediaTimestamp(microseconds: try reader.required(2))
        sent = MediaTimestamp(microseconds: try reader.required(3))
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, pingSent.microseconds)
        writer.number(2, received.microseconds)
        writer.number(3, sent.microseconds)
        return writer.payload
    }
}
