import GantryCore
import GantryTransport
import Testing

@testable import StudioKit

/// Row S11: what becomes of announcements.
@Suite struct AnnouncementLogTests {
    private static func service(
        _ name: String, _ state: ProducerRecord.State = .free, port: UInt16 = 7787
    ) throws -> DiscoveredService {
        let key = try #require(KeyID(bytes: [UInt8](repeating: 1, count: 32)))
        return DiscoveredService(
            type: .producer, name: name, endpoints: [Endpoint(host: "10.0.0.1", port: port)],
            text: ProducerRecord(keyID: key, state: state).text)
    }

    private static func time(_ seconds: Int64) -> MediaTimestamp { MediaTimestamp(microseconds: seconds * 1_000_000) }

    @Test("S11: appearing, changing and being lost are counted for each producer")
    func counts() throws {
        var log = AnnouncementLog()
        log.note([try Self.service("A"), try Self.service("B")], now: Self.time(1))
        log.note([try Self.service("A", .active), try Self.service("B")], now: Self.time(2))
        log.note([try Self.service("B")], now: Self.time(3))
        log.note([try Self.service("A"), try Self.service("B", port: 1)], now: Self.time(4))
        let (a, b) = (try #require(log.statistics.first), try #require(log.statistics.last))
        #expect(a.name == "A" && a.appeared == 2 && a.changed == 1 && a.lost == 1 && a.isHere)
        #expect(b.name == "B" && b.appeared == 1 && b.changed == 1 && b.lost == 0)
        #expect(a.lastSeen == Self.time(4))
        log.note([], now: Self.time(5))
        #expect(log.statistics.allSatisfy { !$0.isHere && $0.lastSeen == Self.time(4) })
    }

    @Test("S11: a network full of names takes no more memory than is meant")
    func flood() throws {
        var log = AnnouncementLog()
        for number in 0..<1000 {
            log.note([try Self.service("n\(number)"), try Self.service("stays")], now: Self.time(Int64(number)))
        }
        #expect(log.statistics.count <= AnnouncementLog.maximumNames)
        let stays = try #require(log.statistics.first { $0.name == "stays" })
        #expect(stays.isHere && stays.appeared == 1)
        // What is no producer is not counted.
        log.note([DiscoveredService(type: .producer, name: "x", endpoints: [], text: [:])], now: Self.time(2000))
        #expect(!log.statistics.contains { $0.name == "x" })
    }
}
