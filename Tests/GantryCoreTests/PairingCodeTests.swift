import GantryCore
import GantryTestSupport
import Testing

@Suite struct PairingCodeTests {
    struct Vectors: Decodable {
        struct Valid: Decodable {
            let name: String
            let text: String
            let endpoints: [String]
            let hint: String?
            let life: Int?
            let keyID: String
            let secret: String
        }
        struct Invalid: Decodable {
            let name: String
            let text: String
            let error: String
        }
        let valid: [Valid]
        let invalid: [Invalid]
    }

    private func bytes(of secret: PairingSecret) throws -> [UInt8] {
        try secret.withBytes { (bytes) throws(GantryError) in bytes }
    }

    @Test func validCodes() throws {
        let vectors: Vectors = try CoreVectors.load("qr-codes.json")
        #expect(vectors.valid.count >= 5)
        for vector in vectors.valid {
            let code = try PairingCode.parse(vector.text)
            #expect(code.studio.bytes == CoreVectors.bytes(vector.keyID), "\(vector.name)")
            #expect(try bytes(of: code.secret) == CoreVectors.bytes(vector.secret), "\(vector.name)")
            #expect(code.endpoints.map(\.description) == vector.endpoints, "\(vector.name)")
            #expect(code.name?.text == vector.hint, "\(vector.name)")
            #expect(code.life == vector.life, "\(vector.name)")
            let again = try PairingCode.parse(code.text())
            #expect(again.endpoints == code.endpoints && again.name == code.name && again.life == code.life)
            #expect(!"\(code) \(code.secret)".contains(Base32.encode(try bytes(of: code.secret))))
        }
        let everything = try #require(vectors.valid.first { $0.name == "everything" })
        #expect(try PairingCode.parse(everything.text).text() == everything.text)
    }

    @Test func invalidCodes() throws {
        let vectors: Vectors = try CoreVectors.load("qr-codes.json")
        #expect(vectors.invalid.count >= 30)
        let codes: [String: GantryError.Code] = [
            "invalid": .pairingCodeInvalid, "version": .pairingCodeVersion, "expired": .pairingCodeExpired,
        ]
        for vector in vectors.invalid {
            let error = #expect(throws: GantryError.self, "\(vector.name)") { try PairingCode.parse(vector.text) }
            #expect(error?.code == codes[vector.error], "\(vector.name)")
        }
    }

    @Test func everyTruncationIsRefusedOrShorter() throws {
        let vectors: Vectors = try CoreVectors.load("qr-codes.json")
        let text = try #require(vectors.valid.first).text
        for count in 0..<text.count {
            #expect(throws: GantryError.self) { try PairingCode.parse(String(text.prefix(count))) }
        }
    }

    /// As a studio writes it: cut anywhere or mistyped anywhere, it is not dialled. What is left when all options are gone is
    /// the least code there is.
    @Test func aCodeThatLostSomethingIsRefused() throws {
        let vectors: Vectors = try CoreVectors.load("qr-codes.json")
        let text = try #require(vectors.valid.first { $0.name == "everything" }).text
        let head = text.index(text.startIndex, offsetBy: "GANTRY:1/".count + 52 + 1 + 26)
        #expect(text[head...].hasPrefix("/C"))
        for end in text.indices where end != head {
            #expect(throws: GantryError.self, "\(text[..<end])") { try PairingCode.parse(String(text[..<end])) }
        }
        for index in text.indices {
            for other in "A2/:" where other != text[index] {
                let wrong = text[..<index] + String(other) + text[text.index(after: index)...]
                #expect(throws: GantryError.self, "\(wrong)") { try PairingCode.parse(String(wrong)) }
            }
        }
    }

    @Test func whateverSpaceIsAroundIsNoPartOfIt() throws {
        let vectors: Vectors = try CoreVectors.load("qr-codes.json")
        let text = try #require(vectors.valid.first { $0.name == "everything" }).text
        for space in ["\n", "\r\n", " \t", "\u{A0}", "\u{2003}", "\u{85}\u{0B}"] {
            #expect(try PairingCode.parse(space + text + space).text() == text)
        }
    }

    @Test func messagesSayWhatToDo() throws {
        func message(_ text: String) -> String {
            do throws(GantryError) {
                _ = try PairingCode.parse(text)
                return ""
            } catch {
                return error.message
            }
        }
        #expect(message("GANTRY:2/A/B").contains("Update Gantry on this machine"))
        #expect(message("GANTRY:0/A/B").contains("studio's machine"))
        #expect(message("GANTRY:1/ABC").contains("cut short"))
        #expect(message("hello").contains("not a Gantry pairing code"))
        let vectors: Vectors = try CoreVectors.load("qr-codes.json")
        let cut = try #require(vectors.invalid.first { $0.name == "a port cut short" }).text
        #expect(message(cut).contains("cut short") && message(cut).contains("copy all of its text"))
    }

    @Test func randomTextNeverCrashes() {
        var random = SeededGenerator(seed: 5)
        let alphabet = Array("GANTRY:1/abcQX2T7.-B\u{0}é 😀%")
        for _ in 0..<3000 {
            let text = String(
                (0..<Int.random(in: 0...60, using: &random)).compactMap { _ in alphabet.randomElement(using: &random) })
            for candidate in [text, "GANTRY:1/" + text] {
                #expect(throws: GantryError.self) { try PairingCode.parse(candidate) }
            }
        }
    }

    @Test func whatDoesNotFitIsLeftOut() throws {
        let key = try #require(KeyID(bytes: [UInt8](repeating: 7, count: 32)))
        let secret = try #require(PairingSecret(bytes: [UInt8](repeating: 9, count: 16)))
        let endpoints = (1...20).map { PairingEndpoint.ipv4(address: [10, 0, 0, $0], port: 4010) }
        let code = PairingCode(studio: key, secret: secret, endpoints: endpoints, name: DisplayName("ÄÖÜ"), life: 9999)
        #expect(code.text().utf8.count <= 220)
        let again = try PairingCode.parse(code.text())
        #expect(again.life == 600 && again.name?.text == "ÄÖÜ")
        #expect(again.endpoints == Array(endpoints.prefix(again.endpoints.count)) && again.endpoints.count >= 4)
    }

    @Test func secretsAreOfOneSize() {
        #expect(PairingSecret(bytes: [UInt8](repeating: 0, count: 15)) == nil)
        #expect(PairingSecret(bytes: [UInt8](repeating: 0, count: 17)) == nil)
    }
}
