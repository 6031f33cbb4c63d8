/// From `enqueueVideo` to `VideoOutput.receive`, over UDP and over TCP, against bare codecs, in alternating rounds paced at 30 frames a second. All
/// take the same pictures in I420: what a camera's own format costs is in `scripts/bench sources`.
struct LatencyBenchmark {
    /// The product's median may be this many times the floor's.
    static let threshold = 1.25
    /// Frames at the beginning of each round that do not count: caches and clocks of the processor settle.
    private static let settling = 15
    private static let period: Int64 = 33_333
    /// A picture is made that long before it is due.
    private static let preparation: Int64 = 8000

    private let options: BenchOptions
    private let seconds: Int

    init(_ options: BenchOptions) {
        self.options = options
        seconds = options.seconds ?? 5
    }

    func run() throws -> Bool {
        let picture = MovingPicture()
        let floor = try Floor(picture)
        let pair = try ConnectedPair()
        defer { pair.close() }
        let overUDP = try ConnectedPair(overUDP: true)
        defer { overUDP.close() }
        var encode = Samples()
        var decode = Samples()
        var bare = Samples()
        var product = Samples()
        var udp = Samples()
        var afterArrival = Samples()
        var copy = Samples()
        var ratios: [Double] = []
        var refused = 0
        let frames = seconds * 30 + Self.settling
        print(
            "720p30, 6 Mbit/s, on loopback, media as by default (TLS on TCP) and over UDP, \(options.rounds) rounds of "
                + "\(seconds) s each")
        for round in 0..<options.rounds {
            var roundBare = Samples()
            var due = Clock.now() + 2 * Self.period
            for index in 0..<frames {
                let times = try floor.frame(round * frames + index, due: due)
                due += Self.period
                guard index >= Self.settling else { continue }
                encode.add(times.encode)
                decode.add(times.decode)
                roundBare.add(times.encode + times.decode)
            }
            // The first of the two goes second in the next round.
            for isUDP in round % 2 == 0 ? [false, true] : [true, false] {
                let pair = isUDP ? overUDP : pair
                let first = pair.output.count + Self.settling
                due = Clock.now() + 2 * Self.period
                for index in 0..<frames {
                    // When the picture before is through: nothing else shall need the processors then.
                    Clock.sleep(until: due - Self.preparation)
                    let pixels = floor.converted(round * frames + index)
                    Clock.sleep(until: due)
                    let start = Clock.now()
                    if try !pair.send(i420: pixels, of: picture), !isUDP { refused += 1 }
                    if index >= Self.settling, !isUDP { copy.add(Clock.now() - start) }
                    due += Self.period
                }
                Clock.sleep(until: due)
                let samples = pair.output.samples(from: first)
                guard !isUDP else {
                    udp.add(samples.total)
                    continue
                }
                product.add(samples.total)
                afterArrival.add(samples.decode)
                ratios.append(samples.total.median / max(roundBare.median, 0.001))
                print(
                    "  round \(round + 1): floor \(fixed(roundBare.median)) ms, product "
                        + "\(fixed(samples.total.median)) ms")
            }
            bare.add(roundBare)
        }
        report(floor: bare, product: product, udp: udp)
        let statistics = pair.producer.statistics
        print(
            """
            Floor: encode \(fixed(encode.median)), decode \(fixed(decode.median)) ms
            Product: hand over \(fixed(copy.median)), encode \
            \(fixed(Double(statistics.encodeMicrosecondsP50) / 1000)), arrival to output \
            \(fixed(afterArrival.median)) ms; the rest is hops between threads, TLS and the socket
            """)
        return verdict(bare, product, ratios, pair, refused)
    }

    private func report(floor: Samples, product: Samples, udp: Samples) {
        print("             p50    p95    p99 ms")
        for (name, samples) in [("floor  ", floor), ("product", product), ("UDP    ", udp)] {
            let columns = [50, 95, 99].map { fixed(samples.percentile($0), width: 7) }.joined()
            print("\(name)  \(columns)")
        }
        let columns = [50, 95, 99].map { fixed(product.percentile($0) / max(floor.percentile($0), 0.001), width: 7) }
        print("ratio    \(columns.joined())")
    }

    private func verdict(
        _ floor: Samples, _ product: Samples, _ ratios: [Double], _ pair: ConnectedPair, _ refused: Int
    ) -> Bool {
        let ratio = product.median / max(floor.median, 0.001)
        let producer = pair.producer.statistics
        let studio = pair.session.statistics
        print("Ratio of the rounds: \(fixed(ratios.min() ?? 0)) to \(fixed(ratios.max() ?? 0))")
        print(
            "Frames left out when the machine was busy: no room \(refused), replaced \(producer.framesReplaced), skipped "
                + "\(producer.framesSkipped), dropped by the studio \(studio.framesDropped), lost \(studio.framesLost)")
        let met = ratio <= Self.threshold && product.count > 0
        print("\(met ? "MET" : "MISSED"): median ratio \(fixed(ratio)), threshold \(fixed(Self.threshold))")
        return met
    }
}
