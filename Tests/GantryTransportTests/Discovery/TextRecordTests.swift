import GantryTestSupport
import Testing

@testable import GantryTransport

@Suite struct TextRecordTests {
    private func pairs(_ strings: [String]) -> [String: String] { TextRecord.pairs(of: strings.map { Array($0.utf8) }) }

    @Test func whatIsPublished() {
        let text = ["b": "2", "a": "x=y", "": "no key", "k=": "bad", "ü": "not ASCII", "empty": "", "\u{7}": "control"]
        #expect(TextRecord.strings(of: text).map { String(decoding: $0, as: UTF8.self) } == ["a=x=y", "b=2", "empty="])
        #expect(TextRecord.strings(of: ["k": String(repeating: "v", count: 253)]).first?.count == 255)
        #expect(TextRecord.strings(of: ["k": String(repeating: "v", count: 254)]).isEmpty)
    }

    @Test func whatIsTaken() {
        #expect(pairs(["Key=Value", "k2=a=b", "alone", "e="]) == ["key": "Value", "k2": "a=b", "alone": "", "e": ""])
        #expect(pairs(["=x", "", "ü=1", "\u{1B}=1"]).isEmpty)
        #expect(pairs(["a=first", "A=second"]) == ["a": "first"])
        #expect(pairs(["a=x\0y", "b=1"]) == ["b": "1"])
        #expect(TextRecord.pairs(of: [[0x61, 0x3D, 0xFF], [0xFF, 0x3D, 0x61], [0x62, 0x3D]]) == ["b": ""])
        #expect(pairs(["a=" + String(repeating: "x", count: 254)]).isEmpty)
        #expect(pairs((0..<100).map { "k\($0)=" }).count == 16)
    }

    @Test func aRecordSurvivesAvahisList() {
        let text = ["a": "1", "b": "Ünï \u{1F3A5}", "c": ""]
        #expect(TextRecord.withList(text) { TextRecord.pairs(of: TextRecord.strings(in: $0)) } == text)
        #expect(TextRecord.withList([:]) { $0 == nil })
        // Sorted, as `strings(of:)` has it.
        #expect(TextRecord.withList(text) { TextRecord.strings(in: $0) } == TextRecord.strings(of: text))
    }

    @Test func anyBytesAreBounded() {
        var random = SeededRandom(seed: 7)
        for _ in 0..<200 {
            let strings = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                (0..<Int.random(in: 0..<300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            }
            let result = TextRecord.pairs(of: strings)
            #expect(result.count <= 16)
            for (key, value) in result {
                #expect(!key.isEmpty && key == key.lowercased() && !key.contains("="))
                #expect(!value.utf8.contains(0) && key.utf8.count + value.utf8.count <= 255)
            }
        }
    }
}
