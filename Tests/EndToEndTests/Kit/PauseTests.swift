import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    @Suite struct PauseTests {
        /// A producer that plays the pattern until `source.stop()`, and a studio that receives it.
        private struct Setting {
            let stage: Stage
            let source: TestPatternSource
            let play: SourceRun
            let collector = HeaderCollector()
            let run: SessionRun

            init() async throws {
                stage = try Stage()
                try await stage.pair()
                source = try TestPatternSource.small()
                play = SourceRun(stage.producer)
                let (play, source) = (play, source)
                Task.detached { _ = try await play.play(source) }
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [collector]
                run = try await stage.connect(configuration)
            }

            /// The source goes on for so many pictures.
            func waitForPictures(_ count: Int) async throws {
                let now = play.state.value.frames
                #expect(try await play.state.wait { $0.frames >= now + count })
            }

            func finish() async throws {
                source.stop()
                #expect(try await play.state.wait { $0.end != nil })
                try await run.close()
                try await stage.stop()
            }
        }

        /// Longer than the silence that ends a session; nothing that was captured in or before the pause comes after it.
        @Test func nothingIsSentInAPause() async throws {
            let setting = try await Setting()
            let producer = setting.stage.producer
            let entries = setting.collector.entries
            #expect(try await entries.wait { $0.count { $0.isVideo } > 5 && $0.count { !$0.isVideo } > 5 })
            #expect(!producer.isPaused)
            producer.pause()
            let paused = MonotonicClock.now()
            #expect(producer.isPaused)
            guard case .paused(let peers) = producer.state else {
                Issue.record("the producer is \(producer.state)")
                return
            }
            #expect(peers.map(\.name) == ["Studio"])
            let sent = producer.statistics
            #expect(try await setting.run.state.wait { $0.pauses == [true] })
            try await setting.waitForPictures(80)
            #expect(producer.statistics.framesSent == sent.framesSent)
            #expect(producer.statistics.audioPacketsSent == sent.audioPacketsSent)
            #expect(!setting.run.state.value.isEnded)
            let resumed = MonotonicClock.now()
            producer.resume()
            #expect(!producer.isPaused)
            #expect(try await setting.run.state.wait { $0.pauses == [true, false] })
            let before = entries.value.count
            #expect(try await entries.wait { $0.count >= before + 60 })
            try await setting.finish()
            let all = entries.value
            let isBefore = { (entry: HeaderCollector.Entry) in entry.header.captureTime < paused }
            let isAfter = { (entry: HeaderCollector.Entry) in entry.header.captureTime >= resumed }
            #expect(all.allSatisfy { isBefore($0) || isAfter($0) })
            #expect(all.filter(\.isVideo).first(where: isAfter)?.header.isKey == true)
            #expect(all.contains { $0.isVideo && isAfter($0) } && all.contains { !$0.isVideo && isAfter($0) })
            // In order: first all from before, then all from after.
            for isVideo in [true, false] {
                let order = all.filter { $0.isVideo == isVideo }.map(isAfter)
                #expect(order == order.filter { !$0 } + order.filter { $0 })
            }
        }

        @Test func aStudioThatComesInAPauseIsTold() async throws {
            let setting = try await Setting()
            let stage = setting.stage
            #expect(try await setting.collector.entries.wait { !$0.isEmpty })
            stage.producer.pause()
            let second = try await stage.connect()
            #expect(try await second.state.wait { $0.pauses == [true] })
            try await setting.waitForPictures(20)
            #expect(!second.state.value.hasFrame)
            #expect(second.session.statistics.framesReceived == 0)
            #expect(second.session.statistics.audioPacketsReceived == 0)
            stage.producer.resume()
            #expect(try await second.state.wait { $0.hasFrame })
            #expect(second.state.value.pauses == [true, false])
            try await second.close()
            try await setting.finish()
        }

        @Test func pausingAgainIsToldOnce() async throws {
            let setting = try await Setting()
            let stage = setting.stage
            #expect(try await setting.collector.entries.wait { !$0.isEmpty })
            stage.producer.resume()
            for _ in 0..<3 { stage.producer.pause() }
            for _ in 0..<3 { stage.producer.resume() }
            stage.producer.pause()
            #expect(try await setting.run.state.wait { $0.pauses == [true, false, true] })
            #expect(
                try await stage.events.wait {
                    $0.compactMap {
                        switch $0 {
                        case .paused: true
                        case .resumed: false
                        default: nil
                        }
                    } == [true, false, true]
                })
            // A pause ends with the run.
            try await setting.finish()
            #expect(stage.producer.state == .notRunning)
            #expect(!stage.producer.isPaused)
            stage.producer.pause()
            try stage.producer.start()
            #expect(!stage.producer.isPaused)
            #expect(stage.producer.state == .notConnected)
            stage.producer.pause()
            #expect(stage.producer.state == .paused([]))
            try await stage.stop()
        }

        /// The public way in says so.
        @Test func picturesAreRefusedInAPause() async throws {
            let stage = try Stage(audio: nil)
            let pixels = [UInt8](repeating: 0, count: 64 * 48 * 4)
            func enqueue(_ time: MediaTimestamp? = nil) throws -> Bool {
                try pixels.withUnsafeBytes {
                    try stage.producer.enqueueVideo(
                        bgra: $0, width: 64, height: 48, stride: 64 * 4, captureTime: time)
                }
            }
            #expect(try enqueue())
            let before = MonotonicClock.now()
            stage.producer.pause()
            #expect(try !enqueue())
            stage.producer.resume()
            #expect(try !enqueue(before))
            #expect(try enqueue())
            try await stage.stop()
        }
    }
}
