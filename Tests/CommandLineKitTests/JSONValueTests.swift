import CommandLineKit
import Foundation
import GantryCore
import Testing

@Suite struct JSONValueTests {
    @Test func plainValues() {
        let value: JSONValue = [
            "event": "frame", "count": 3, "rate": 29.97, "ok": true, "none": nil, "list": [1, "two", []], "empty": [:],
        ]
        #expect(
            value.text
                == #"{"event":"frame","count":3,"rate":29.97,"ok":true,"none":null,"list":[1,"two",[]],"empty":{}}"#)
    }

    @Test func numbersWithoutAPlaceInJSON() {
        #expect(JSONValue.array([.number(.nan), .number(.infinity), .number(-.infinity)]).text == "[null,null,null]")
        #expect(JSONValue.array([.integer(.min), .integer(.max)]).text == "[-9223372036854775808,9223372036854775807]")
    }

    @Test func escapes() {
        #expect(
            JSONValue.string("a\"b\\c\n\r\t\u{0}\u{1B}\u{7F}\u{9B}\u{2028}é🎥").text
                == #""a\"b\\c\n\r\t\u0000\u001b\u007f\u009b\u2028é🎥""#)
        #expect(JSONValue.object([.init("k\"\n", 1)]).text == #"{"k\"\n":1}"#)
    }

    /// Every character below U+0800, some beyond, and numbers of all sizes, read back by Foundation.
    @Test func readBackByFoundation() throws {
        let text = String(String.UnicodeScalarView((0..<0x800).compactMap { Unicode.Scalar(UInt32($0)) })) + "\u{FFFF}🎬"
        let numbers = [0, -0.5, 1e-7, 1e21, .pi, .greatestFiniteMagnitude, .leastNonzeroMagnitude]
        let value = JSONValue.object([
            .init("text", .string(text)), .init("numbers", .array(numbers.map(JSONValue.number))),
        ])
        let read = try JSONSerialization.jsonObject(with: Data(value.text.utf8)) as? [String: Any]
        #expect(read?["text"] as? String == text)
        #expect((read?["numbers"] as? [Double]) == numbers)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/jq")))
    func acceptedByJQ() throws {
        let text = String(String.UnicodeScalarView((1..<0x300).compactMap { Unicode.Scalar(UInt32($0)) }))
        let value: JSONValue = ["text": .string(text), "small": 1e-7, "large": 1e21]
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/jq")
        process.arguments = ["-r", "(.text | explode | length), .small < 0.001, .large > 1"]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // Both are far below a pipe's 64 KiB, so neither end waits for the other.
        try input.fileHandleForWriting.write(contentsOf: Data(value.text.utf8))
        try input.fileHandleForWriting.close()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(String(decoding: answer, as: UTF8.self) == "767\ntrue\ntrue\n")
    }
}
