import GantryCore
import GantryTestSupport
import Testing

@Suite struct PairingTranscriptTests {
    struct Primitives: Decodable {
        struct Digest: Decodable {
            let message: String
            let digest: String
        }
        struct Mac: Decodable {
            let key: String
            let message: String
            let mac: String
        }
        struct Derived: Decodable {
            let salt: String
            let ikm: String
            let info: String
            let count: Int
            let okm: String
        }
        let sha256: [Digest]
        let hmac: [Mac]
        let hkdf: [Derived]
    }

    struct Vector: Decodable {
        let name: String
        let secret: String
        let exporter: String
        let studioKeyID: String
        let producerKeyID: String
        let studioHello: String
        let producerHelloWithoutProof: String
        let proofProducer: String
        let proofStudio: String
        let comparisonNumber: String
        let rendezvous: String
    }

    @Test func referencePrimitives() throws {
        let vectors: Primitives = try CoreVectors.load("primitives.json")
        let hex = CoreVectors.bytes
        for v in vectors.sha256 { #expect(ReferenceCrypto.sha256(hex(v.message)) == hex(v.digest)) }
        for v in vectors.hmac {
            #expect(ReferenceCrypto.hmacSHA256(key: hex(v.key), message: hex(v.message)) == hex(v.mac))
        }
        for v in vectors.hkdf {
            let okm = ReferenceCrypto.hkdfSHA256(salt: hex(v.salt), ikm: hex(v.ikm), info: hex(v.info), count: v.count)
            #expect(okm == hex(v.okm))
        }
        #expect(vectors.sha256.count + vectors.hmac.count + vectors.hkdf.count >= 11)
    }

    private func hello(_ hex: String) throws -> PairHello {
        let message = try ControlMessage.decode(type: .pairHello, payload: CoreVectors.bytes(hex))
        guard case .pairHello(let hello) = message else { throw GantryError(.general, "not a hello") }
        return hello
    }

    @Test func proofsAndNumber() throws {
        let vectors: [Vector] = try CoreVectors.load("pairing.json")
        #expect(vectors.count == 3)
        for vector in vectors {
            let secret = try #require(PairingSecret(bytes: CoreVectors.bytes(vector.secret)))
            let transcript = PairingTranscript(
                studio: try #require(KeyID(bytes: CoreVectors.bytes(vector.studioKeyID))),
                producer: try #require(KeyID(bytes: CoreVectors.bytes(vector.producerKeyID))),
                studioHello: try hello(vector.studioHello),
                producerHello: try hello(vector.producerHelloWithoutProof).with(proof: Array(repeating: 1, count: 32)),
                exporter: CoreVectors.bytes(vector.exporter))
            let crypto = ReferenceCrypto.self
            let proof = CoreVectors.bytes(vector.proofProducer)
            #expect(try transcript.proof(of: .producer, secret: secret, crypto: crypto) == proof)
            #expect(
                try transcript.proof(of: .studio, secret: secret, crypto: crypto)
                    == CoreVectors.bytes(vector.proofStudio))
            #expect(try transcript.comparisonNumber(secret: secret, crypto: crypto) == vector.comparisonNumber)
            #expect(try PairingTranscript.rendezvous(secret: secret, crypto: crypto) == vector.rendezvous)
            #expect(try transcript.verifies(proof, of: .producer, secret: secret, crypto: crypto))
            #expect(try !transcript.verifies(proof, of: .studio, secret: secret, crypto: crypto))
            for bit in stride(from: 0, to: 256, by: 17) {
                var wrong = proof
                wrong[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(try !transcript.verifies(wrong, of: .producer, secret: secret, crypto: crypto))
            }
            #expect(try !transcript.verifies(Array(proof.dropLast()), of: .producer, secret: secret, crypto: crypto))
        }
    }

    /// A proof survives the wire byte for byte, unknown fields of a newer peer included.
    @Test func unknownFieldsAreSigned() throws {
        let vectors: [Vector] = try CoreVectors.load("pairing.json")
        let vector = try #require(vectors.first { $0.name == "other secret" })
        #expect(try hello(vector.studioHello).signedPayload == CoreVectors.bytes(vector.studioHello))
    }
}
