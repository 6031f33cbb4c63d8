import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Both ends with a link in between that becomes slow.
    @Suite struct AdaptationTests {
        /// How old each picture was when its last byte had come, on the one clock that both ends share here.
        private final class Ages: VideoOutput {
            struct Entry: Sendable {
                let arrival: MediaTimestamp
                let age: MediaDuration
                let lines: Int
            }

            let entries = Watched<[Entry]>([])

            var returnsAtOnce: Bool { true }
            func receive(_ frame: VideoFrame) {
                let entry = Entry(
                    arrival: frame.arrivalTime, age: frame.arrivalTime - frame.captureTime, lines: frame.height)
                entries.change { $0.append(entry) }
            }

            func videoEnded() {}

            func median(from: MediaTimestamp) -> MediaDuration {
                let ages = entries.value.filter { $0.arrival >= from }.map(\.age).sorted()
                return ages.isEmpty ? .seconds(3600) : ages[ages.count / 2]
            }
        }

        /// The scenarios of scripts/lab judge that none is lost. Here a machine that stands still may lose a queue of it.
        private func expectSound(_ run: SessionRun) {
            let statistics = run.session.statistics
            let lost = statistics.audioPacketsLost
            #expect(lost * 20 < statistics.audioPacketsReceived, "\(lost)")
        }

        @Test(.timeLimit(.minutes(2))) func theRateFollowsTheLink() async throws {
            let stage = try Stage(video: .init(bitrate: 2_000_000))
            try await stage.pair()
            let relay = try ThrottledRelay(to: stage.endpoint.port, rate: 50_000_000)
            let ages = Ages()
            var configuration = StudioSessionConfiguration()
            configuration.videoOutputs = [ages]
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(
                        endpoint: Endpoint(host: "127.0.0.1", port: relay.port), keyID: stage.producer.keyID),
                    configuration: configuration))
            #expect(try await stage.waitForReceivers(1))
            let source = try TestPatternSource(
                configuration: TestPatternConfiguration(width: 640, height: 360, duration: .seconds(60), hasGrain: true)
            )
            let play = SourceRun(stage.producer)
            async let end = play.play(source)
            #expect(try await ages.entries.wait { $0.count > 60 })
            // Room for a third of it, sound included.
            relay.setRate(800_000)
            #expect(try await run.state.wait { $0.rates.contains { $0.bitrate < 700_000 } })
            let low = ages.entries.value.count
            #expect(try await ages.entries.wait { $0.count > low + 90 })
            // The encoder has followed: pictures are not ever later.
            let late = MonotonicClock.now()
            #expect(try await ages.entries.wait { $0.count > low + 150 })
            #expect(ages.median(from: late) < .milliseconds(500))
            expectSound(run)
            // And back.
            let before = run.state.value.rates.count
            let lowest = run.state.value.rates.map(\.bitrate).min() ?? 0
            relay.setRate(50_000_000)
            #expect(
                try await run.state.wait { $0.rates.dropFirst(before).contains { $0.bitrate > lowest * 3 / 2 } })
            expectSound(run)
            #expect(run.state.value.rates.allSatisfy { $0.bitrate <= 2_000_000 && $0.bitrate >= 100_000 })
            source.stop()
            _ = try await end
            try await run.close()
            relay.stop()
        }

        /// With hardly any room the picture goes, the studio is told, and sound stays.
        @Test("O4, O5: sound goes on when the picture cannot, and the picture comes back", .timeLimit(.minutes(2)))
        func soundGoesOnWhenThePictureCannot() async throws {
            let stage = try Stage(video: .init(bitrate: 2_000_000))
            try await stage.pair()
            let relay = try ThrottledRelay(to: stage.endpoint.port, rate: 50_000_000)
            let run = try SessionRun(
                stage.studio.makeSession(
                    ProducerTarget(
                        endpoint: Endpoint(host: "127.0.0.1", port: relay.port), keyID: stage.producer.keyID),
                    configuration: StudioSessionConfiguration()))
            #expect(try await stage.waitForReceivers(1))
            let source = try TestPatternSource(
                configuration: TestPatternConfiguration(width: 640, height: 360, duration: .seconds(90), hasGrain: true)
            )
            let play = SourceRun(stage.producer)
            async let end = play.play(source)
            #expect(try await run.state.wait { $0.hasFrame })
            relay.setRate(220_000)
            #expect(
                try await run.state.wait {
                    $0.isEnded || $0.pictureStates.contains { $0.state == .disabled && $0.reason == .quality }
                })
            #expect(!run.state.value.isEnded, "\(stage.events.value.suffix(3))")
            let packets = run.session.statistics.audioPacketsReceived
            relay.setRate(50_000_000)
            #expect(try await run.state.wait { $0.pictureStates.contains { $0.state == .enabled } })
            #expect(run.state.value.pictureStates.first?.state == .warning)
            #expect(run.session.statistics.audioPacketsReceived > packets)
            expectSound(run)
            source.stop()
            _ = try await end
            try await run.close()
            relay.stop()
        }
    }
}
