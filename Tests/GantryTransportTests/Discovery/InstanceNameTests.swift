import Testing

@testable import GantryTransport

@Suite struct InstanceNameTests {
    @Test func aNameThatFitsStays() {
        for name in ["Camera", "Küche \"1\" 🎥", " blanks ", String(repeating: "n", count: 63)] {
            #expect(InstanceName.fitting(name) == name)
        }
    }

    @Test func aLongNameIsCutBetweenCharacters() {
        #expect(InstanceName.fitting(String(repeating: "n", count: 64)) == String(repeating: "n", count: 63))
        #expect(InstanceName.fitting(String(repeating: "é", count: 40)) == String(repeating: "é", count: 31))
        // 25 bytes each: a family is not torn apart.
        let family = "👨‍👩‍👧‍👦"
        #expect(InstanceName.fitting(family + family + family) == family + family)
        // One character that is longer than a label is cut, all the same.
        let endless = "e" + String(repeating: "\u{301}", count: 100)
        #expect(InstanceName.fitting(endless).utf8.count == 63)
    }

    @Test func whatCannotBeAName() {
        #expect(InstanceName.fitting("") == "Gantry")
        #expect(InstanceName.fitting("\0\0") == "Gantry")
        #expect(InstanceName.fitting("a\0b") == "ab")
    }

    @Test(arguments: [
        ("Camera", "Camera #2"), ("Camera #2", "Camera #3"), ("Camera #9", "Camera #10"), ("Camera #99", "Camera #100"),
        ("Camera #1", "Camera #1 #2"), ("Camera #", "Camera # #2"), ("Camera #x", "Camera #x #2"), ("#2", "#2 #2"),
        ("Camera#2", "Camera#2 #2"), ("Camera #٣", "Camera #٣ #2"), ("Camera #-2", "Camera #-2 #2"),
        ("C #99999999999999999999", "C #99999999999999999999 #2"), ("C #999999", "C #1000000"), ("", " #2"),
    ])
    func theNextName(name: String, next: String) { #expect(InstanceName.alternative(to: name) == next) }

    @Test func aNumberAlwaysFits() {
        var name = String(repeating: "🎬", count: 15)
        var seen: Set<String> = [name]
        for _ in 0..<120 {
            name = InstanceName.alternative(to: name)
            #expect(name.utf8.count <= 63)
            #expect(seen.insert(name).inserted)
        }
        #expect(name.hasSuffix("🎬 #121"))
    }
}
