import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// The two ends of a pairing by hand: they keep to the protocol, and say what a test wants. Every call may block for a
/// moment.
enum HandPairing {
    struct Unexpected: Error {
        let message: ControlMessage
    }

    /// PAIR_HELLO of a producer with any bytes as its name, as a hostile one would send it.
    static func hello(name: [UInt8], streamPort: UInt16 = 1) throws -> PairHello {
        var writer = TLVWriter()
        writer.number(1, WireLimits.minorVersion)
        writer.bytes(2, name)
        writer.number(4, streamPort)
        guard case .pairHello(let hello)? = try ControlMessage.decode(type: .pairHello, payload: writer.payload) else {
            throw GantryError(.general, "PAIR_HELLO cannot be read.")
        }
        return hello
    }

    /// As a producer that has dialled the address in the code. Returns when the studio has said that it is paired.
    static func pairAsProducer(_ peer: HostilePeer, _ identity: Identity, code: PairingCode, hello: PairHello) throws {
        try peer.handshake()
        let transcript = PairingTranscript(
            studio: code.studio, producer: identity.keyID, studioHello: try studioHello(peer), producerHello: hello,
            exporter: try peer.pairingExporter())
        let proof = try transcript.proof(of: .producer, secret: code.secret, crypto: PairingCryptography.self)
        try peer.send(.pairHello(hello.with(proof: proof)))
        let answer = try peer.nextMessage()
        guard case .pairAccept(let accept) = answer else { throw Unexpected(message: answer) }
        guard
            try transcript.verifies(
                accept.proof, of: .studio, secret: code.secret, crypto: PairingCryptography.self)
        else { throw GantryError(.pairingProof, "The studio's proof is wrong.") }
        try peer.send(.pairDone)
        let last = try peer.nextMessage()
        guard case .pairDone = last else { throw Unexpected(message: last) }
    }

    /// As the studio of the code that has dialled a producer which it has found.
    static func pairAsStudio(
        _ peer: HostilePeer, producer: KeyID, code: PairingCode, name: DisplayName
    ) throws {
        try peer.handshake()
        let hello = PairHello(name: name, model: "hand")
        try peer.send(.pairHello(hello))
        let answer = try peer.nextMessage()
        guard case .pairHello(let producerHello) = answer else { throw Unexpected(message: answer) }
        let transcript = PairingTranscript(
            studio: code.studio, producer: producer, studioHello: hello, producerHello: producerHello,
            exporter: try peer.pairingExporter())
        guard let proof = producerHello.proof,
            try transcript.verifies(proof, of: .producer, secret: code.secret, crypto: PairingCryptography.self)
        else { throw GantryError(.pairingProof, "The producer's proof is wrong.") }
        try peer.send(
            .pairAccept(
                PairAccept(
                    proof: try transcript.proof(of: .studio, secret: code.secret, crypto: PairingCryptography.self))))
        let done = try peer.nextMessage()
        guard case .pairDone = done else { throw Unexpected(message: done) }
        try peer.send(.pairDone)
    }

    /// The first message of a studio.
    static func studioHello(_ peer: HostilePeer) throws -> PairHello {
        let first = try peer.nextMessage()
        guard case .pairHello(let hello) = first else { throw Unexpected(message: first) }
        return hello
    }
}
