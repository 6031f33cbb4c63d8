import GantryCore
import GantryTestSupport

/// A producer that encodes once for several studios, each behind a `VirtualLink`, in virtual time: pictures of an encoder's
/// sizes at 30 a second, sound, FEEDBACK each 50 ms.
struct VirtualSession {
    struct Studio {
        var link: any VirtualPath
        var controller: RateController
        var queueDelay = QueueDelay()
        var reports: [(time: Double, delay: Double?)] = []
        var told = 0
        var isHeldUp = false
        var isWaiting = false
        var skipped = 0
        /// Reports between these times never arrive.
        var deaf: ClosedRange<Double>?
    }

    private static let step = 0.001
    /// Encoding takes so long.
    static let encoding = 0.005
    /// Added to each stamp of the studio: clocks need not agree.
    private let clockOffset: Double
    private(set) var studios: [Studio]
    private var random: SeededRandom
    private var gate = FrameGate()
    private var time = 0.0
    private var nextPicture = 0.0
    private var nextSound = 0.0
    private var nextReport = 0.01
    /// The rate of the encode, as it was changed: time and bits a second.
    private(set) var rates: [(time: Double, rate: Int)] = []

    init(_ links: [any VirtualPath], maximum: Int = 6_000_000, clockOffset: Double = 0, seed: UInt64 = 1) {
        studios = links.map { Studio(link: $0, controller: RateController(.init(maximum: maximum))) }
        self.clockOffset = clockOffset
        random = SeededRandom(seed: seed)
    }

    mutating func deafen(_ index: Int, _ times: ClosedRange<Double>) { studios[index].deaf = times }

    mutating func run(until end: Double) {
        while time < end {
            for index in studios.indices { studios[index].link.advance(to: time, by: Self.step) }
            if time >= nextReport { report() }
            for index in studios.indices { control(index) }
            if time >= nextSound {
                nextSound += 0.01
                for index in studios.indices {
                    studios[index].link.send(bytes: 250, capture: time, isVideo: false)
                }
            }
            if time >= nextPicture { encode() }
            time += Self.step
        }
    }

    private var rate: Int { SharedRate.choose(studios.lazy.map(\.controller.bitrate)) ?? 0 }

    /// Bits a second over that time.
    func meanRate(_ span: Range<Double>) -> Int {
        var bits = 0.0
        for (index, change) in rates.enumerated() {
            let end = index + 1 < rates.count ? rates[index + 1].time : span.upperBound
            bits += Double(change.rate) * max(0, min(end, span.upperBound) - max(change.time, span.lowerBound))
        }
        return Int(bits / (span.upperBound - span.lowerBound))
    }

    private mutating func report() {
        nextReport += 0.05
        for index in studios.indices {
            let pictures = studios[index].link.pictures
            let newest = pictures.count > studios[index].told ? pictures.last : nil
            studios[index].told = pictures.count
            if studios[index].deaf?.contains(time) == true { continue }
            studios[index].reports.append((time + 0.01, newest.map { $0.time - $0.capture + clockOffset }))
        }
    }

    private mutating func control(_ index: Int) {
        while let report = studios[index].reports.first, report.time <= time {
            studios[index].reports.removeFirst()
            let now = MediaTimestamp(microseconds: Int64(time * 1e6))
            let delay = report.delay.flatMap {
                studios[index].queueDelay.add(MediaDuration(microseconds: Int64($0 * 1e6)), now: now)
            }
            let isRebased = studios[index].controller.update(
                .init(
                    queueDelay: delay, delivered: UInt64(studios[index].link.confirmed),
                    isHeldUp: studios[index].isHeldUp, isIdle: studios[index].link.unconfirmed(at: 0) <= 4096),
                now: now)
            if isRebased { studios[index].queueDelay.rebase() }
            studios[index].isHeldUp = false
            if rates.last?.rate != rate { rates.append((time, rate)) }
        }
    }

    private mutating func encode() {
        nextPicture += 1.0 / 30
        let rate = rate
        let ready = studios.indices.map { index in
            let waiting = studios[index].link.unconfirmed(at: rate)
            return gate.permits(VideoBacklog(bytes: 0, count: 0, unconfirmed: waiting))
        }
        for index in studios.indices where !ready[index] {
            studios[index].isHeldUp = true
            studios[index].skipped += 1
            studios[index].isWaiting = true
        }
        guard ready.contains(true) else { return }
        // x264 with a buffer of one and a half pictures: most take less than their share, one in twenty takes more.
        let share = Double.random(in: 0.55...1, using: &random) + (random.next() % 20 == 0 ? 0.4 : 0)
        let bytes = Int(Double(rate) / 8 / 30 * share)
        gate.encoded(bytes: bytes)
        for index in studios.indices where ready[index] {
            studios[index].isWaiting = false
            studios[index].link.send(bytes: bytes + 43, capture: time - Self.encoding, isVideo: true)
        }
    }
}

extension VirtualSession.Studio {
    /// Milliseconds from capture to decoded (4 ms) of the pictures captured then, in ascending order.
    func latencies(_ span: Range<Double>) -> [Double] {
        link.pictures.filter { span.contains($0.capture) }.map { ($0.time - $0.capture) * 1000 + 4 }.sorted()
    }

    func percentile(_ percent: Int, _ span: Range<Double>) -> Double {
        let sorted = latencies(span)
        return sorted.isEmpty ? .infinity : sorted[(sorted.count * percent + 99) / 100 - 1]
    }
}
