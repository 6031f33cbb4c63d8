import CommandLineKit
import GantryCore
import Testing

@Suite struct ParsedArgumentsTests {
    private func arguments(_ words: String...) throws -> ParsedArguments {
        let outcome = try ExampleTool.parser.parse(["run", "x"] + words)
        guard case .run(let arguments) = outcome else { throw GantryError(.general, "help") }
        return arguments
    }

    @Test func nothingGivenIsNil() throws {
        let none = try arguments()
        #expect(none.string("size") == nil)
        #expect(try none.int("offset", in: 0...1) == nil)
        #expect(try none.size("size") == nil)
        #expect(try none.rate("fps") == nil)
        #expect(try none.bitrate("bitrate", in: 1...2) == nil)
        #expect(try none.duration("duration") == nil)
        #expect(try none.port("port") == nil)
    }

    @Test(arguments: ["0": 0, "-7": -7, "007": 7, "100": 100])
    func integers(text: String, value: Int) throws {
        #expect(try arguments("--offset=\(text)").int("offset", in: -100...100) == value)
    }

    @Test(arguments: ["", "-", "+1", "1.0", "1e3", "101", "-101", "٣", "0x10", " 1", "99999999999999999999"])
    func integersRefused(text: String) throws {
        let error = try #require(throws: GantryError.self) {
            try arguments("--offset=\(text)").int("offset", in: -100...100)
        }
        #expect(error.code == .invalidArgument)
        #expect(error.message.contains("--offset"))
        #expect(error.message.contains("from -100 to 100"))
    }

    @Test func sizes() throws {
        #expect(try arguments("--size=1280x720").size("size") == PixelSize(width: 1280, height: 720))
        #expect(try arguments("--size=641X361").size("size")?.description == "641x361")
    }

    @Test(arguments: [
        "", "x", "1280", "1280x", "x720", "1280x720x1", "-1280x720", "15x16", "8193x720", "a x b", "1 x 2",
    ])
    func sizesRefused(text: String) throws {
        let error = try #require(throws: GantryError.self) { try arguments("--size=\(text)").size("size") }
        #expect(error.message.contains("as in 1280x720"))
    }

    @Test(
        arguments: [
            ("30", 30, 1), ("29.97", 30000, 1001), ("23.976", 24000, 1001), ("23.98", 24000, 1001),
            ("59.94", 60000, 1001),
            ("30000/1001", 30000, 1001), ("25.0", 25, 1), ("12.5", 25, 2), ("14.985", 2997, 200), ("0.5", 1, 2),
            ("1000", 1000, 1),
        ] as [(String, UInt32, UInt32)])
    func rates(text: String, numerator: UInt32, denominator: UInt32) throws {
        let rate = try arguments("--fps=\(text)").rate("fps")
        #expect(rate?.numerator == numerator)
        #expect(rate?.denominator == denominator)
    }

    @Test(arguments: [
        "", "0", "-30", "30/0", "0/1", "1001", "30/1/1", "30fps", ".5", "5.", "1.2345", "/", "4294967296/1",
    ])
    func ratesRefused(text: String) throws {
        let error = try #require(throws: GantryError.self) { try arguments("--fps=\(text)").rate("fps") }
        #expect(error.message.contains("--fps"))
        #expect(error.message.contains("30000/1001"))
    }

    @Test(arguments: ["6M": 6_000_000, "2.5m": 2_500_000, "800k": 800_000, "500000": 500_000, "0.3M": 300_000])
    func bitrates(text: String, value: Int) throws {
        #expect(try arguments("--bitrate=\(text)").bitrate("bitrate", in: 100_000...50_000_000) == value)
    }

    @Test(arguments: [
        "", "M", "k", "6 M", "6Mbit", "-6M", "60M", "99k", "1.5", "6.0000001M", "9999999999999999999M", "∞",
    ])
    func bitratesRefused(text: String) throws {
        let error = try #require(throws: GantryError.self) {
            try arguments("--bitrate=\(text)").bitrate("bitrate", in: 100_000...50_000_000)
        }
        #expect(error.message.contains("100k to 50M"))
    }

    @Test(
        arguments: [
            ("10", 10_000_000), ("10s", 10_000_000), ("1.5s", 1_500_000), ("1m30s", 90_000_000), ("500ms", 500_000),
            ("2h", 7_200_000_000), ("1h1m1s1ms", 3_661_001_000), ("90min", 5_400_000_000), ("0.25", 250_000),
            ("1000h", 3_600_000_000_000),
        ] as [(String, Int64)])
    func durations(text: String, microseconds: Int64) throws {
        #expect(try arguments("--duration=\(text)").duration("duration") == .microseconds(microseconds))
    }

    @Test(arguments: [
        "", "0", "0s", "-1", "s", "1m30", "30s1m", "1s1s", "5d", "1e3", "10 s", "1001h", "9999999999999999999", "1..5s",
        "3600000h", ".", "ms",
    ])
    func durationsRefused(text: String) throws {
        let error = try #require(throws: GantryError.self) { try arguments("--duration=\(text)").duration("duration") }
        #expect(error.message.contains("1m30s"))
    }

    @Test func ports() throws {
        #expect(try arguments("--port=5600").port("port") == 5600)
        #expect(try arguments("--port=65535").port("port") == 65535)
        #expect(try arguments("--port=0").port("port", allowsAny: true) == 0)
        for text in ["0", "65536", "-1", "http", ""] {
            let error = try #require(throws: GantryError.self) { try arguments("--port=\(text)").port("port") }
            #expect(error.message.contains("from 1 to 65535"))
        }
    }

    @Test func errorsShowNoControlCharacters() throws {
        let error = try #require(throws: GantryError.self) { try arguments("--size=\u{1B}[2J\n").size("size") }
        #expect(!error.message.unicodeScalars.contains { $0.value < 0x20 })
    }

    @Test(arguments: [6_000_000: "6M", 2_500_000: "2.5M", 800_000: "800k", 999: "999", 1_049_000: "1M", 0: "0"])
    func bitratesAsText(value: Int, text: String) {
        #expect(Bitrate.text(value) == text)
    }

    @Test(arguments: [6_000_000: "6 Mbit/s", 135_400: "135.4 kbit/s", 999: "999 bit/s", 0: "0 bit/s"])
    func bitratesForPeople(value: Int, text: String) {
        #expect(Bitrate.rate(value) == text)
    }
}
