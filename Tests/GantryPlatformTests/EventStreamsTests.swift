import GantryPlatform
import GantryTestSupport
import Testing

@Suite struct EventStreamsTests {
    @Test func eachReaderHasAllOfThem() async {
        let streams = EventStreams<Int>(capacity: 10)
        let (first, second) = (streams.makeStream(), streams.makeStream())
        for number in 0..<5 { streams.yield(number) }
        // What was before is not for it.
        let late = streams.makeStream()
        streams.yield(5)
        streams.finish()
        for stream in [first, second] {
            #expect(await stream.reduce(into: []) { $0.append($1) } == [0, 1, 2, 3, 4, 5])
        }
        #expect(await late.reduce(into: []) { $0.append($1) } == [5])
        // After the end there is nothing, and no waiting.
        #expect(await streams.makeStream().reduce(into: []) { $0.append($1) } == [])
    }

    @Test func aSlowReaderKeepsTheNewest() async {
        let streams = EventStreams<Int>(capacity: 3)
        let stream = streams.makeStream()
        for number in 0..<1000 { streams.yield(number) }
        streams.finish()
        #expect(await stream.reduce(into: []) { $0.append($1) } == [997, 998, 999])
    }

    @Test func aReaderMayGoWhileItIsTold() async throws {
        let streams = EventStreams<Int>(capacity: 3)
        let isOver = Watched(false)
        async let telling: Void = onThread { while !isOver.value { streams.yield(1) } }
        for _ in 0..<200 {
            let stream = streams.makeStream()
            let reader = Task { for await _ in stream { break } }
            await reader.value
            _ = streams.makeStream()
        }
        isOver.change { $0 = true }
        try await telling
    }

    /// The runtime ends a cancelled reader's stream under a lock that telling it takes, too.
    @Test func aReaderMayBeCancelledWhileItIsTold() async throws {
        let streams = EventStreams<Int>(capacity: 3)
        let isOver = Watched(false)
        async let telling: Void = onThread { while !isOver.value { streams.yield(1) } }
        for _ in 0..<2000 {
            let stream = streams.makeStream()
            let reader = Task { for await _ in stream {} }
            await Task.yield()
            reader.cancel()
            await reader.value
        }
        isOver.change { $0 = true }
        try await telling
    }

    @Test func lettingGoOfItEndsItsReaders() async {
        var streams: EventStreams<Int>? = EventStreams(capacity: 3)
        let stream = streams?.makeStream()
        streams?.yield(7)
        streams = nil
        #expect(await stream?.reduce(into: []) { $0.append($1) } == [7])
    }
}
