import GantryCore
import GantryTransport
import Testing

@testable import StudioKit

/// Which devices on USB are tried for a producer.
@Suite struct USBCandidatesTests {
    private static let key = KeyID(bytes: [UInt8](repeating: 7, count: 32))

    private func device(_ serial: String, _ port: String) -> USBDevice {
        USBDevice(bus: 1, address: 2, port: port, interface: 0, serial: serial)
    }

    @Test func theClaimantComesAlone() throws {
        let key = try #require(Self.key)
        let mine = device(key.short.lowercased(), "1-1")
        #expect(USBCandidates.guesses([device("board-1", "1-2"), mine], key) == [mine])
    }

    @Test func whoSaysThatItIsAnotherIsNotTried() throws {
        let key = try #require(Self.key)
        let other = try #require(KeyID(bytes: [UInt8](repeating: 9, count: 32)))
        let script = device("0123456789abcdef", "1-2")
        #expect(USBCandidates.guesses([device(other.short, "1-1"), script], key) == [script])
    }

    @Test func manyAreNotAllTried() throws {
        let key = try #require(Self.key)
        #expect(USBCandidates.guesses((0..<9).map { device("", "1-\($0)") }, key).count == 4)
        #expect(USBCandidates.guesses([device("", "1-1")], nil).isEmpty)
    }

    @Test func anAddressIsNeverOnACable() throws {
        let endpoint = try #require(Endpoint(text: "127.0.0.1:7787"))
        #expect(try USBCandidates.of(ProducerTarget(endpoint: endpoint)).isEmpty)
    }
}
