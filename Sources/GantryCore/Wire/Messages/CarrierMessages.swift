/// CARRIER_OFFER (12): another way on which the sender can be reached for this session.
package struct CarrierOffer: Hashable, Sendable {
    /// Field 1, 16 random bytes that CARRIER_BIND repeats.
    package var token: [UInt8]
    /// Field 2, u16, at the address of this connection: UDP port when `payload` is there, else TCP port.
    package var port: UInt16
    /// Field 3, u16: bit n is channel n.
    package var mask: UInt16
    /// Field 4, u16: the largest UDP payload that the sender will try (`pairing/datagram.md`).
    package var payload: UInt16?

    package init(token: [UInt8], port: UInt16, mask: UInt16, payload: UInt16? = nil) {
        self.token = token
        self.port = port
        self.mask = mask
        self.payload = payload
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        token = try reader.exactly(1, count: WireLimits.carrierTokenSize)
        port = try reader.required(2)
        mask = try reader.required(3)
        payload = try reader.number(4)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.bytes(1, token)
        writer.number(2, port)
        writer.number(3, mask)
        writer.number(4, payload)
        return writer.payload
    }
}

/// CARRIER_BIND (13): the first message on a further carrier, or the answer to an offer of datagrams.
package struct CarrierBind: Hashable, Sendable {
    /// Field 1, u64.
    package var sessionID: UInt64
    /// Field 2, 16 bytes.
    package var token: [UInt8]
    /// Field 3, u16: bit n is channel n.
    package var mask: UInt16
    /// Field 4, u16: the sender's UDP port, at the address of this connection.
    package var port: UInt16?
    /// Field 5, u16: the largest UDP payload that the sender takes.
    package var payload: UInt16?
    /// Field 6, u8, 1: media shall go this way as soon as it is open, not only when packets are lost.
    package var isWantedAtOnce = false

    package init(
        sessionID: UInt64, token: [UInt8], mask: UInt16, port: UInt16? = nil, payload: UInt16? = nil,
        isWantedAtOnce: Bool = false
    ) {
        self.sessionID = sessionID
        self.token = token
        self.mask = mask
        self.port = port
        self.payload = payload
        self.isWantedAtOnce = isWantedAtOnce
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        sessionID = try reader.required(1)
        token = try reader.exactly(2, count: WireLimits.carrierTokenSize)
        mask = try reader.required(3)
        port = try reader.number(4)
        payload = try reader.number(5)
        isWantedAtOnce = try reader.number(6, UInt8.self) == 1
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, sessionID)
        writer.bytes(2, token)
        writer.number(3, mask)
        writer.number(4, port)
        writer.number(5, payload)
        if isWantedAtOnce { writer.number(6, UInt8(1)) }
        return writer.payload
    }
}
