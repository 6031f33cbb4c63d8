import GantryCore
import GantryTestSupport
import GantryTransport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Row S15: venue, owner and app.
    @Suite struct FieldOfUseTests {
        private static var dataOnly: StudioSessionConfiguration {
            var configuration = StudioSessionConfiguration()
            configuration.wantsVideo = false
            configuration.wantsAudio = false
            return configuration
        }

        @Test("S15: what a studio leaves out matches all, and the rest must be the same")
        func matching() {
            let arena = FieldOfUse(venue: "Arena", owner: "Team", app: "Scores")
            #expect(FieldOfUse().matches(arena) && FieldOfUse().matches(FieldOfUse()))
            #expect(arena.matches(arena))
            #expect(FieldOfUse(venue: "Arena").matches(arena))
            #expect(!FieldOfUse(venue: "arena").matches(arena))
            #expect(!arena.matches(FieldOfUse(venue: "Arena", owner: "Team")))
            #expect(!arena.matches(FieldOfUse()))
            // What cannot be shown is nothing, and what is too long is cut.
            #expect(FieldOfUse(venue: "\u{202E}\u{0}", owner: " ", app: "").isEmpty)
            #expect(FieldOfUse(venue: String(repeating: "é", count: 40)).venue?.utf8.count == 48)
        }

        @Test("S15: the announcement holds it, and stays within its limit")
        func announcement() throws {
            let longest = String(repeating: "x", count: FieldOfUse.maximumBytes)
            let field = FieldOfUse(venue: longest, owner: longest, app: longest)
            let key = try #require(KeyID(bytes: [UInt8](repeating: 7, count: 32)))
            let record = ProducerRecord(keyID: key, state: .active, fieldOfUse: field)
            #expect(ProducerRecord(text: record.text)?.fieldOfUse == field)
            #expect(record.text.map { 2 + $0.key.utf8.count + $0.value.utf8.count }.reduce(0, +) <= 200)
            let hostile = record.text.merging(["fv": "\u{1B}[2J", "fo": longest + longest]) { $1 }
            #expect(ProducerRecord(text: hostile)?.fieldOfUse == FieldOfUse(venue: "[2J", owner: longest, app: longest))
        }

        @Test("S15: it holds without discovery: a producer for another use is left")
        func session() async throws {
            let stage = try Stage(fieldOfUse: FieldOfUse(venue: "Arena", app: "Scores"))
            try await stage.pair()
            try stage.studio.configure(["venue": "Arena"])
            let same = try await stage.connect(Self.dataOnly)
            #expect(same.state.value.isConnected)
            #expect(try await same.close() == nil)
            try stage.studio.configure(["app": "Tickets"])
            let other = try await stage.connect(Self.dataOnly)
            #expect(!other.state.value.isConnected)
            let error = try #require(other.state.value.error)
            #expect(error.code == .otherFieldOfUse)
            #expect(error.message.contains("app Scores") && error.message.contains("app Tickets"), "\(error)")
            // The producer changes its mind while it runs.
            #expect(try stage.producer.configure(["app": "Tickets"]).isEmpty)
            let changed = try await stage.connect(Self.dataOnly)
            #expect(changed.state.value.isConnected)
            #expect(try await changed.close() == nil)
            // A producer that is for nothing in particular is not for this either, but for whoever names nothing.
            try stage.studio.configure(["venue": nil, "app": nil])
            let any = try await stage.connect(Self.dataOnly)
            #expect(any.state.value.isConnected)
            #expect(try await any.close() == nil)
            try await stage.stop()
        }

        @Test("S15: a producer for another use can be removed, and learns it")
        func removal() async throws {
            let stage = try Stage(fieldOfUse: FieldOfUse(venue: "Arena"))
            try await stage.pair()
            // So that it is known where it is.
            #expect(try await stage.connect(Self.dataOnly).close() == nil)
            try stage.studio.configure(["venue": "Elsewhere"])
            let (studio, key) = (stage.studio, stage.producer.keyID)
            try await onThread { try studio.removePairedDevice(key) }
            let producer = stage.producer
            #expect(try await onThread { waitUntil { (try? producer.pairedDevices)?.isEmpty == true } })
            try await stage.stop()
        }
    }
}
