import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Media over UDP, from the producer's picture to the studio's file.
    @Suite struct DatagramTests {
        private struct Take {
            let studio: StudioStatistics
            let producer: ProducerStatistics
            let facts: Judge.Facts
            let numbers: [UInt32?]
            let complaints: String
            let error: GantryError?
        }

        private static func take(
            producer: MediaTransport = .auto, studio: MediaTransport = .auto
        ) async throws -> Take {
            let stage = try Stage(transport: producer)
            try await stage.pair()
            let path = stage.file("take.mkv")
            let recording = try MuxOutput.recording(path: path, overwrite: false) { Issue.record("\($0)") }
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [recording]
            configuration.transport = studio
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            try await SourceRun(stage.producer).play(try TestPatternSource.small(seconds: 3))
            let sent = stage.producer.statistics
            try await stage.stop()
            let error = try await run.end()
            let pictures = try await Judge.pictures(path, width: 320, height: 180)
            return Take(
                studio: run.session.statistics, producer: sent, facts: try await Judge.probe(path),
                numbers: Judge.frameNumbers(pictures), complaints: try await Judge.complaints(path), error: error)
        }

        private static func judge(_ take: Take) {
            #expect(take.error == nil)
            #expect(take.studio.framesLost == 0)
            #expect(take.studio.audioPacketsLost == 0)
            #expect(take.studio.framesReceived == take.producer.framesSent)
            #expect(take.complaints.isEmpty, "\(take.complaints)")
            #expect(take.facts.frames == take.studio.framesReceived)
            let numbers = take.numbers.compactMap(\.self)
            #expect(numbers.count == take.numbers.count)
            #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
        }

        @Test func mediaChangesToUDPAndNothingIsLost() async throws {
            let take = try await Self.take(studio: .udp)
            Self.judge(take)
            // All but what came before the path was known.
            #expect(take.studio.udp.units > (take.studio.framesReceived + take.studio.audioPacketsReceived) / 2)
            #expect(take.studio.udp.refused == 0)
        }

        @Test(arguments: [true, false]) func eitherEndMayKeepToTCP(producer: Bool) async throws {
            let take = try await producer ? Self.take(producer: .tcp) : Self.take(studio: .tcp)
            Self.judge(take)
            #expect(take.studio.udp.units == 0)
        }

        @Test func aStudioThatInsistsOnUDPIsTold() async throws {
            let stage = try Stage(transport: .tcp)
            try await stage.pair()
            var configuration = StudioSessionConfiguration()
            configuration.transport = .udp
            let run = try await stage.connect(configuration)
            let error = try await run.end()
            #expect(error?.code == .udpBlocked)
            #expect(error?.message.contains("\"auto\"") == true)
            try await stage.stop()
        }
    }
}
