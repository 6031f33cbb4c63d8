import CommandLineKit
import Foundation
import GantryCore
import GantryTestSupport
import Testing

@Suite struct JSONReaderTests {
    private static func read(_ text: String) throws(GantryError) -> JSONValue {
        try JSONValue(reading: text.utf8)
    }

    @Test func everyKindOfValue() throws {
        let value = try Self.read(
            " {\"id\":1,\"method\" :\t\"status\",\"list\":[1,-2,3.5,1e3,-0.25E-2,[],{}],\"yes\":true,\r\n"
                + "\"no\":false,\"none\":null} ")
        #expect(
            value == [
                "id": 1, "method": "status",
                "list": [1, -2, 3.5, .number(1000), .number(-0.0025), [], [:]], "yes": true, "no": false,
                "none": nil,
            ])
        #expect(value["id"]?.integer == 1)
        #expect(value["method"]?.string == "status")
        #expect(value["yes"]?.bool == true)
        #expect(value["list"]?.array?.count == 7)
        #expect(value["other"] == nil)
        #expect(try Self.read("7")["id"] == nil)
    }

    @Test func numbersAtTheirLimits() throws {
        #expect(try Self.read("9223372036854775807") == .integer(.max))
        #expect(try Self.read("-9223372036854775808") == .integer(.min))
        // Beyond 64 bits a whole number becomes an approximate one.
        #expect(try Self.read("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try Self.read("1e308") == .number(1e308))
        #expect(try Self.read("1e-400") == .number(0))
        #expect(try Self.read("1.0") == .number(1))
    }

    @Test func escapesAndSurrogates() throws {
        #expect(
            try Self.read(#""a\"\\\/\b\f\n\r\t\u00e9\u20AC\ud83c\udfa5é🎥""#)
                == .string("a\"\\/\u{08}\u{0C}\n\r\té€🎥é🎥"))
        #expect(try Self.read(#""\u0000""#) == .string("\u{0}"))
        #expect(try Self.read(#""\r\n""#).string?.utf8.count == 2)
    }

    /// Texts that RFC 8259 does not allow, or that readers understand differently.
    @Test(arguments: [
        "", " ", "{", "[", "\"", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "[1,]", "[1 2]", "[,1]",
        "{1:2}", "{a:1}", "{'a':1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a\":1}x", "1 2", "{}{}", "tru", "True",
        "nul", "nulll", "NaN", "Infinity", "-", "+1", "01", "-01", "1.", ".5", "1.e3", "1e", "1e+", "0x10", "1e999",
        "-1e999", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\n\"",
        "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\", "\"\n\"", "\"\t\"", "\"\u{0}\"", "// c\n1", "[1]/**/",
        "\u{FEFF}1", "{\"a\":1,\"a\":2}", "{\"a\":1,\"\\u0061\":2}", "]", "}", ",", ":", "\u{A0}1", "１",
    ])
    func whatIsNoJSONIsRefused(_ text: String) {
        let error = #expect(throws: GantryError.self) { try Self.read(text) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("at byte") == true)
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0xFF, 0xFE],
        ] as [[UInt8]])
    func invalidUTF8IsRefused(_ bytes: [UInt8]) {
        #expect(throws: GantryError.self) { try JSONValue(reading: bytes) }
    }

    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        _ = try Self.read(nested(16))
        for depth in [17, 1000, 1_000_000] {
            #expect(throws: GantryError.self) { try Self.read(nested(depth)) }
            #expect(throws: GantryError.self) { try Self.read(String(repeating: "{\"a\":", count: depth)) }
        }
    }

    /// Errors go to logs and terminals; the text may be a secret.
    @Test func errorsDoNotRepeatTheText() {
        for text in [
            "{\"code\":\"GANTRY:1/SECRET\"", "\"GANTRY:1/SECRET\\q\"", "GANTRY:1/SECRET", "{\"SECRET\":1,\"SECRET\":2}",
        ] {
            let error = #expect(throws: GantryError.self) { try Self.read(text) }
            #expect(error?.description.contains("SECRET") == false)
        }
    }

    /// What was cut off or changed anywhere is read or refused, never a trap; what is read equals what Foundation reads.
    @Test func damagedTexts() throws {
        let text = Array(#"{"id":12,"a":[true,null,-1.5e3,"\u00e9\ud83c\udfa5x"],"b":{"c":"","d":[[]]}}"#.utf8)
        _ = try JSONValue(reading: text)
        for end in text.indices {
            #expect(throws: GantryError.self) { try JSONValue(reading: text[..<end]) }
        }
        var random = SeededRandom(seed: 7)
        for _ in 0..<5000 {
            var damaged = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let value = try? JSONValue(reading: damaged) else { continue }
            #expect((try? JSONSerialization.jsonObject(with: Data(damaged), options: .fragmentsAllowed)) != nil)
            #expect(try JSONValue(reading: value.text.utf8) == value)
        }
    }
}
