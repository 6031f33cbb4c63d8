/// What each stage takes for one 720p frame.
struct SourcesBenchmark {
    private let options: BenchOptions
    private let seconds: Int

    init(_ options: BenchOptions) {
        self.options = options
        seconds = options.seconds ?? 10
    }

    func run() throws -> Bool {
        let picture = MovingPicture()
        let floor = try Floor(picture)
        var encode = Samples()
        var decode = Samples()
        for index in 0..<seconds * 30 {
            let times = try floor.frame(index, due: 0)
            encode.add(times.encode)
            decode.add(times.decode)
        }
        let pair = try ConnectedPair()
        var conversion = Samples()
        var due = Clock.now()
        for index in 0..<seconds * 30 {
            due += 33_333
            Clock.sleep(until: due)
            let start = Clock.now()
            _ = try pair.send(picture, index)
            conversion.add(Clock.now() - start)
        }
        pair.close()
        print("BGRA conversion and handing over   \(fixed(conversion.median, width: 6)) ms")
        print("bare x264, superfast               \(fixed(encode.median, width: 6)) ms")
        print("bare libavcodec                    \(fixed(decode.median, width: 6)) ms")
        try testPattern()
        return true
    }

    /// A producer without a studio draws and lets go: what it takes of the processor is the test pattern and its tone.
    private func testPattern() throws {
        let tools = try ToolPair(options.tools)
        defer { tools.close() }
        let producer = try tools.startProducer()
        Clock.sleep(until: Clock.now() + 1_000_000)
        let before = producer.processorMicroseconds
        Clock.sleep(until: Clock.now() + Int64(seconds) * 1_000_000)
        let spent = Double(producer.processorMicroseconds - before) / Double(seconds * 30) / 1000
        print("test pattern, tone and status line \(fixed(spent, width: 6)) ms of processor time")
    }
}
