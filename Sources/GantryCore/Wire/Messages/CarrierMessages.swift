/// CARRIER_OFFER (12): another way on which the sender can be reached for this session.
package struct CarrierOffer: Hashable, Sendable {
    /// Field 1, 16 random bytes that CARRIER_BIND repeats.
    package var token: [UInt8]
    /// Field 2, u16: TCP port, at the address of this connection.
    package var port: UInt16
    /// Field 3, u16: bit n is channel n.
    package var mask: UInt16

    package init(token: [UInt8], port: UInt16, mask: UInt16) {
        self.token = token
        self.port = port
        self.mask = mask
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        token = try reader.exactly(1, count: WireLimits.carrierTokenSize)
        port = try reader.required(2)
        mask = try reader.required(3)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.bytes(1, token)
        writer.number(2, port)
        writer.number(3, mask)
        return writer.payload
    }
}

/// CARRIER_BIND (13): the first message on a further carrier.
package struct CarrierBind: Hashable, Sendable {
    /// Field 1, u64.
    package var sessionID: UInt64
    /// Field 2, 16 bytes.
    package var token: [UInt8]
    /// Field 3, u16: bit n is channel n.
    package var mask: UInt16

    package init(sessionID: UInt64, token: [UInt8], mask: UInt16) {
        self.sessionID = sessionID
        self.token = token
        self.mask = mask
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        sessionID = try reader.required(1)
        token = try reader.exactly(2, count: WireLimits.carrierTokenSize)
        mask = try reader.required(3)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, sessionID)
        writer.bytes(2, token)
        writer.number(3, mask)
        return writer.payload
    }
}
