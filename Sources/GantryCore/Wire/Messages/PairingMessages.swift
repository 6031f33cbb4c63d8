/// PAIR_HELLO (30): studio to producer without proof, producer to studio with port and proof.
package struct PairHello: Hashable, Sendable {
    /// Field 1, u16.
    package let minor: UInt16
    /// Field 2, text ≤ 64.
    package let name: DisplayName
    /// Field 3, text ≤ 32.
    package let model: String
    /// Field 4, u16, producer: where it listens for sessions.
    package let streamPort: UInt16?
    /// Field 5, 32 bytes, producer. The last field of the message.
    package private(set) var proof: [UInt8]?
    /// The payload up to the proof, byte for byte as sent: what the transcript takes.
    package let signedPayload: [UInt8]

    /// Tag, length and value of the proof.
    static let proofFieldSize = 4 + PairingLimits.proofSize

    package init(
        minor: UInt16 = WireLimits.minorVersion, name: DisplayName, model: String = "", streamPort: UInt16? = nil
    ) {
        var writer = TLVWriter()
        writer.number(1, minor)
        writer.text(2, name.text, limit: WireLimits.maximumName)
        writer.text(3, model, limit: WireLimits.maximumModel)
        writer.number(4, streamPort)
        self.minor = minor
        self.name = name
        self.model = model.prefix(bytes: WireLimits.maximumModel)
        self.streamPort = streamPort
        signedPayload = writer.payload
    }

    package func with(proof: [UInt8]) -> PairHello {
        var hello = self
        hello.proof = proof
        return hello
    }

    init(_ payload: [UInt8], _ reader: inout TLVReader) throws(GantryError) {
        minor = try reader.required(1)
        name = DisplayName(try reader.text(2, limit: WireLimits.maximumName))
        model = try reader.text(3, limit: WireLimits.maximumModel)
        streamPort = try reader.number(4)
        guard try reader.value(5) != nil else {
            proof = nil
            signedPayload = payload
            return
        }
        proof = try reader.exactly(5, count: PairingLimits.proofSize)
        let field = Array(payload.suffix(Self.proofFieldSize).prefix(4))
        guard field == [0, 5, 0, UInt8(PairingLimits.proofSize)] else {
            throw reader.broken("a proof that is not last")
        }
        signedPayload = payload.dropLast(Self.proofFieldSize)
    }

    func encode() -> [UInt8] {
        guard let proof else { return signedPayload }
        var writer = TLVWriter()
        writer.bytes(5, proof)
        return signedPayload + writer.payload
    }
}

/// PAIR_ACCEPT (31): the studio's proof.
package struct PairAccept: Hashable, Sendable {
    /// Field 1, 32 bytes.
    package var proof: [UInt8]

    package init(proof: [UInt8]) { self.proof = proof }

    init(_ reader: inout TLVReader) throws(GantryError) {
        proof = try reader.exactly(1, count: PairingLimits.proofSize)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.bytes(1, proof)
        return writer.payload
    }
}

/// PAIR_FAIL (33): the sender gives up and closes.
package struct PairFail: Hashable, Sendable {
    /// Field 1, u8.
    package var reason: PairingFailure
    /// Field 2, text ≤ 128.
    package var text: String

    package init(reason: PairingFailure, text: String = "") {
        self.reason = reason
        self.text = text
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        reason = PairingFailure(rawValue: try reader.required(1))
        text = try reader.text(2, limit: WireLimits.maximumReasonText)
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, reason.rawValue)
        writer.text(2, text, limit: WireLimits.maximumReasonText)
        return writer.payload
    }
}
