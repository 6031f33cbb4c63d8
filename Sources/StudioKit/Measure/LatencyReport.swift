package import GantryCore

/// What the entries of a `LatencyLog` say together. A value; microseconds.
package struct LatencyReport: Sendable {
    /// Whose clock the time codes show.
    package enum Clock: Sendable, Hashable {
        /// That of this machine: times are exact.
        case same
        /// Another one, which is ahead of ours by `offset`, as estimated; every time may be wrong by `error`.
        case estimated(offset: MediaDuration, error: MediaDuration)

        /// Clocks that count from the start of their machine agree by chance only: an estimate that cannot tell them apart says
        /// that they are one.
        ///
        /// - Parameters:
        ///   - offset: the producer's clock minus ours.
        ///   - roundTrip: of the exchange that gave it, which bounds how wrong it is: half of it (RFC 5905 section 8). Zero:
        ///     there was none, and nothing is known.
        package init?(offset: MediaDuration, roundTrip: MediaDuration) {
            guard roundTrip > .zero else { return nil }
            let error = MediaDuration(microseconds: (roundTrip.microseconds + 1) / 2)
            // A millisecond more: a machine that stands still between two stamps.
            let isSame = offset.microseconds.magnitude <= (error + .milliseconds(1)).microseconds.magnitude
            self = isSame ? .same : .estimated(offset: offset, error: error)
        }
    }

    package struct Point: Sendable, Hashable {
        /// Since the first picture.
        package let time: MediaDuration
        package let latency: MediaDuration
    }

    /// Of each picture, the first time that it was seen.
    package private(set) var points: [Point] = []
    /// Numbers between the first and the last that never came: left out by the producer, lost, or replaced by a newer one here.
    package private(set) var missing = 0
    /// Seen again: a virtual camera repeats the last picture when none comes.
    package private(set) var duplicates = 0
    /// Seen after one with a higher number.
    package private(set) var late = 0
    package private(set) var total = StudioStatistics.Percentiles()
    package private(set) var least = 0
    /// From capture to the last byte's arrival.
    package private(set) var transit = StudioStatistics.Percentiles()
    /// From arrival to decoded.
    package private(set) var decode = StudioStatistics.Percentiles()
    /// From decoded until it was seen.
    package private(set) var output = StudioStatistics.Percentiles()

    /// Numbers have 24 bits.
    private static let modulus: Int64 = 1 << 24
    /// A larger step is no loss: the producer has begun anew.
    private static let largestStep: Int64 = 10_000

    /// - Parameter entries: in the order in which they were seen.
    package init(_ entries: [LatencyLog.Entry], clock: Clock) {
        var seen: Set<Int64> = []
        var span: (first: Int64, last: Int64)?
        var transits: [MediaDuration] = []
        var decodes: [MediaDuration] = []
        var outputs: [MediaDuration] = []
        func endSpan() {
            if let span { missing += Int(span.last - span.first + 1) - seen.count }
            seen.removeAll(keepingCapacity: true)
        }
        for entry in entries {
            var number = Int64(entry.number)
            if let (_, last) = span {
                // The step of 24 bits with a sign.
                let step = ((number - last) % Self.modulus + Self.modulus * 3 / 2) % Self.modulus - Self.modulus / 2
                if step.magnitude > Self.largestStep {
                    endSpan()
                    span = nil
                } else {
                    number = last + step
                }
            }
            guard seen.insert(number).inserted else {
                duplicates += 1
                continue
            }
            if let (first, last) = span {
                if number < last { late += 1 }
                span = (min(first, number), max(last, number))
            } else {
                span = (number, number)
            }
            let shift: MediaDuration = clock == .same ? .zero : entry.clockOffset
            points.append(
                Point(
                    time: entry.seen - (entries.first?.seen ?? entry.seen),
                    latency: (entry.seen - entry.capture) + shift))
            transits.append((entry.arrived - entry.capture) + shift)
            decodes.append(entry.decoded - entry.arrived)
            outputs.append(entry.seen - entry.decoded)
        }
        endSpan()
        total = Self.percentiles(points.map(\.latency))
        least = Int(clamping: points.map(\.latency.microseconds).min() ?? 0)
        transit = Self.percentiles(transits)
        decode = Self.percentiles(decodes)
        output = Self.percentiles(outputs)
    }

    /// How much later the pictures of `further` were seen than those of the same number in `entries`.
    package static func delay(
        from entries: [LatencyLog.Entry], to further: [LatencyLog.Entry]
    ) -> StudioStatistics.Percentiles {
        var times: [UInt32: MediaTimestamp] = [:]
        for entry in entries where times[entry.number] == nil { times[entry.number] = entry.seen }
        var delays: [MediaDuration] = []
        for entry in further {
            // Once.
            if let time = times.removeValue(forKey: entry.number) { delays.append(entry.seen - time) }
        }
        return percentiles(delays)
    }

    private static func percentiles(_ times: [MediaDuration]) -> StudioStatistics.Percentiles {
        var window = PercentileWindow(capacity: times.count)
        for time in times { window.add(time) }
        return .init(window.percentiles())
    }
}
