import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// Data beside the media, in both directions.
    @Suite struct DataTests {
        @Test("S6: each side hears the other, by label") func eachSideHearsTheOther() async throws {
            let stage = try Stage()
            try await stage.pair()
            let (heard, asked) = (Watched<[LabeledData]>([]), Watched<[LabeledData]>([]))
            let tally = Watched<[[UInt8]]>([])
            stage.producer.observeData { data, peer in
                #expect(peer.name == "Studio")
                heard.change { $0.append(data) }
            }
            let only = stage.producer.observeData("tally") { data, _ in tally.change { $0.append(data.bytes) } }
            #expect(stage.producer.sendData(try LabeledData(label: "chat", bytes: [1])) == 0)
            let run = try await stage.connect()
            #expect(run.state.value.streams.contains { $0.kind == .data })
            run.session.observeData { data in asked.change { $0.append(data) } }
            #expect(try await stage.waitForReceivers(1))
            let tallyOn = try LabeledData(label: "tally", bytes: [0, 255])
            let empty = try LabeledData(label: "chat", bytes: [])
            #expect(run.session.sendData(tallyOn) && run.session.sendData(empty))
            #expect(try await heard.wait { $0.count == 2 })
            #expect(heard.value == [tallyOn, empty] && tally.value == [[0, 255]])
            only.cancel()
            #expect(run.session.sendData(tallyOn))
            #expect(try await heard.wait { $0.count == 3 })
            #expect(tally.value.count == 1)
            #expect(stage.producer.sendData(empty) == 1)
            #expect(stage.producer.sendData(tallyOn, to: stage.studio.keyID) == 1)
            #expect(stage.producer.sendData(tallyOn, to: stage.producer.keyID) == 0)
            #expect(try await asked.wait { $0.count == 2 })
            #expect(asked.value == [empty, tallyOn])
            try await run.close()
            #expect(!run.session.sendData(tallyOn))
            try await stage.stop()
        }

        /// Five windows, in order and whole, while the pattern plays; what waits is never more than a window.
        @Test func muchArrivesInOrderAndTheSenderIsHeldUp() async throws {
            let stage = try Stage()
            try await stage.pair()
            let heard = Watched<[Int]>([])
            let gate = Watched(false)
            stage.producer.observeData("file") { data, _ in
                // The observer of this test begins late.
                gate.waitBlocking { $0 }
                heard.change { $0.append(Int(data.bytes[0]) << 8 | Int(data.bytes[1])) }
            }
            let play = SourceRun(stage.producer)
            let source = try TestPatternSource.small()
            Task.detached { _ = try await play.play(source) }
            let run = try await stage.connect()
            #expect(try await stage.waitForReceivers(1))
            var next = 0
            func sendSome() throws -> Int {
                let before = next
                while next < 130 {
                    var bytes = [UInt8](repeating: UInt8(next & 255), count: 10_000)
                    bytes[0] = UInt8(next >> 8)
                    guard run.session.sendData(try LabeledData(label: "file", bytes: bytes)) else { break }
                    next += 1
                }
                return next - before
            }
            #expect(try await run.state.wait { $0.hasFrame })
            var held = 0
            while try sendSome() > 0 {}
            held = next
            #expect(held <= 26 && held > 0)
            // Pictures go on while nobody takes the data.
            let seen = run.session.statistics.framesReceived
            let deadline = MonotonicClock.now() + .seconds(20)
            while run.session.statistics.framesReceived < seen + 10, MonotonicClock.now() < deadline {
                await Task.yield()
            }
            #expect(run.session.statistics.framesReceived >= seen + 10)
            gate.change { $0 = true }
            while next < 130, MonotonicClock.now() < deadline {
                _ = try sendSome()
                await Task.yield()
            }
            #expect(try await heard.wait { $0.count == 130 })
            #expect(heard.value == Array(0..<130))
            source.stop()
            try await run.close()
            try await stage.stop()
        }
    }
}
