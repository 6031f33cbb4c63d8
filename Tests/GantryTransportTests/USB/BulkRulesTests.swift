import GantryTestSupport
import GantryTransport
import Testing

struct BulkRulesTests {
    @Test(arguments: [8, 16, 32, 64, 512, 1024]) func everyWriteEndsARead(packetSize: Int) throws {
        let rules = try #require(BulkRules(packetSize: packetSize))
        for count in 1...40_000 {
            let taken = rules.writable(count)
            #expect(taken > 0 && taken <= min(count, 16384))
            #expect(taken == 16384 || taken % packetSize != 0)
            // One byte at most is kept back.
            #expect(taken >= min(count, 16384) - 1)
            #expect(rules.allows(taken))
        }
        #expect(rules.writable(0) == 0)
        #expect(rules.writable(16384) == 16384)
        #expect(rules.writable(3 * packetSize) == 3 * packetSize - 1)
        #expect(!rules.allows(0) && !rules.allows(packetSize) && !rules.allows(16385))
    }

    @Test(arguments: [-1, 0, 1, 4, 63, 65, 500, 1025, 2048, 65535, Int.max]) func sizesOfNoEndpointAreRefused(size: Int)
    {
        #expect(BulkRules(packetSize: size) == nil)
    }
}

struct PrefaceScannerTests {
    private static let nonce: [UInt8] = (0..<16).map { 0xA0 + $0 }
    private let preface = LinkPreface(nonce: nonce, from: .device)!

    /// Feeds pieces of `size` bytes; the bytes behind the preface, or nil.
    private func rest(_ bytes: [UInt8], size: Int, limit: Int = 1 << 20) -> [UInt8]? {
        var scanner = PrefaceScanner(preface, limit: limit)
        var position = 0
        while position < bytes.count {
            let piece = Array(bytes[position..<min(position + size, bytes.count)])
            switch piece.withUnsafeBytes({ scanner.consume($0) }) {
            case .found(let end): return Array(bytes[(position + end)...])
            case .tooMuch: return nil
            case .needsMore: position += piece.count
            }
        }
        return nil
    }

    @Test func itsBytesAreAsWritten() {
        // "gantry/1", the nonce, "D".
        #expect(preface.bytes == [0x67, 0x61, 0x6E, 0x74, 0x72, 0x79, 0x2F, 0x31] + Self.nonce + [0x44])
        #expect(preface.bytes.count == LinkPreface.size)
        #expect(LinkPreface(nonce: [1, 2], from: .host) == nil)
    }

    @Test(arguments: [1, 2, 3, 7, 24, 25, 26, 64, 1000]) func itIsFoundInAnyPieces(size: Int) {
        let stale: [[UInt8]] = [
            [], [0x67], Array("gantry/gantry/1".utf8), Array(preface.bytes.dropLast()),
            LinkPreface(nonce: [UInt8](repeating: 1, count: 16), from: .device)!.bytes,
            LinkPreface(nonce: Self.nonce, from: .host)!.bytes, [UInt8](repeating: 0x67, count: 4000),
        ]
        for before in stale {
            #expect(rest(before + preface.bytes + [1, 2, 3], size: size) == [1, 2, 3])
            #expect(rest(before, size: size) == nil)
        }
    }

    @Test func randomBytesBeforeItAreThrownAway() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<200 {
            let count = Int.random(in: 0...500, using: &random)
            // Of few values, so that parts of the preface occur.
            let before = (0..<count).map { _ in preface.bytes.randomElement(using: &random)! }
            let size = Int.random(in: 1...70, using: &random)
            #expect(rest(before + preface.bytes + [9], size: size) == [9])
        }
    }

    @Test func tooMuchBeforeItEndsTheSearch() {
        let bytes = [UInt8](repeating: 0x67, count: 1001)
        #expect(rest(bytes + preface.bytes, size: 100, limit: 1000) == nil)
        #expect(rest(bytes + preface.bytes, size: 100, limit: 1001) == [])
    }
}

struct FunctionFSFormatTests {
    /// Made with the structures of linux/usb/functionfs.h and linux/usb/ch9.h in C.
    private static let descriptors =
        "030000006900000007000000" + "030000000300000005000000"
        + "0904000002ff43010107058102400000" + "07050202400000"
        + "0904000002ff43010107058102000200" + "07050202000200"
        + "0904000002ff43010107058102000400" + "063004000000" + "07050202000400" + "063004000000"
    private static let strings = "020000001b0000000100000001000000" + "0904" + "67616e7472792f3100"

    @Test func descriptorsAreWhatCStructuresHold() {
        #expect(hex(GadgetDescriptors.descriptors) == Self.descriptors)
        #expect(hex(GadgetDescriptors.strings) == Self.strings)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { (byte: UInt8) -> String in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    @Test func eventsAreRead() {
        func event(_ type: UInt8, _ setup: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]) -> FunctionFSEvent? {
            (setup + [type, 0, 0, 0]).withUnsafeBytes { FunctionFSEvent($0) }
        }
        let plain: [FunctionFSEvent?] = [0, 1, 2, 3, 5, 6, 99].map { event($0) }
        #expect(plain == [.bound, .unbound, .enabled, .disabled, .suspended, .resumed, .unknown(99)])
        // RESET: 41 01 value 0 index 2 length 16.
        let reset = event(4, [0x41, 1, 0, 0, 2, 0, 16, 0])
        #expect(reset == .setup(.init(type: 0x41, request: 1, value: 0, index: 2, length: 16)))
        let wide = event(4, [0xC1, 0xFF, 0x34, 0x12, 0xFF, 0xFF, 0xFF, 0x7F])
        #expect(wide == .setup(.init(type: 0xC1, request: 0xFF, value: 0x1234, index: 0xFFFF, length: 0x7FFF)))
        for count in 0..<12 {
            let bytes = [UInt8](repeating: 4, count: count)
            #expect(bytes.withUnsafeBytes { FunctionFSEvent($0) } == nil)
        }
    }
}
