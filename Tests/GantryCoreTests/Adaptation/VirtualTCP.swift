/// TCP over a link whose queue drops what does not fit, in virtual time: segments, a window that grows and is cut, selective
/// confirmations (RFC 2018, RFC 6675), a retransmission timer (RFC 6298). The far end hands on what it has in order.
struct VirtualTCP: VirtualPath {
    private struct Segment {
        let size: Double
        /// Of the messages that end in it.
        var ends: [(capture: Double, isVideo: Bool)] = []
        var sentAt: Double?
        var isLost = false
        var isSacked = false
        var hasArrived = false
    }

    private static let largest = 1448.0
    private static let leastTimeout = 0.2
    private let phases: [VirtualLink.Phase]
    /// One way, in seconds.
    private let delay: Double
    /// Bytes that may wait in front of the link.
    private let room: Double

    /// All of the session: those before `confirmedCount` are done.
    private var segments: [Segment] = []
    private var confirmedCount = 0
    private var sentCount = 0
    private var arrivedCount = 0
    private var window = 10 * largest
    private var threshold = Double.infinity
    /// Losses among what was sent before that belong to one cut.
    private var recovery = 0
    private var lastProgress = 0.0

    private var queue: [(index: Int, left: Double)] = []
    private var queued = 0.0
    private var onTheWay: [(time: Double, index: Int)] = []
    private var confirmations: [(time: Double, count: Int, index: Int)] = []
    /// Segments that found no room.
    private(set) var drops = 0
    private(set) var confirmed = 0.0
    private(set) var pictures: [VirtualLink.Arrival] = []
    private(set) var sounds: [VirtualLink.Arrival] = []

    init(_ phases: [VirtualLink.Phase], delay: Double, room: Double) {
        self.phases = phases
        self.delay = delay
        self.room = room
    }

    func unconfirmed(at rate: Int) -> Int {
        let sent = segments[confirmedCount...].reduce(0) { $0 + $1.size }
        return max(0, Int(sent - Double(rate) / 8 * 2 * delay))
    }

    mutating func send(bytes: Int, capture: Double, isVideo: Bool) {
        var left = Double(bytes)
        while left > 0 {
            segments.append(Segment(size: min(left, Self.largest)))
            left -= Self.largest
        }
        segments[segments.count - 1].ends.append((capture, isVideo))
    }

    mutating func advance(to time: Double, by seconds: Double) {
        carry(to: time, by: seconds)
        while let first = onTheWay.first, first.time <= time {
            onTheWay.removeFirst()
            arrive(first.index, time)
        }
        while let first = confirmations.first, first.time <= time {
            confirmations.removeFirst()
            confirm(first.count, first.index, time)
        }
        checkTimeout(time)
        transmit(time)
    }

    private mutating func carry(to time: Double, by seconds: Double) {
        var room = (phases.last { $0.from <= time }?.rate ?? 0) * seconds / 8
        while room > 0, !queue.isEmpty {
            let part = min(room, queue[0].left)
            queue[0].left -= part
            queued -= part
            room -= part
            if queue[0].left <= 0 { onTheWay.append((time + delay, queue.removeFirst().index)) }
        }
    }

    private mutating func arrive(_ index: Int, _ time: Double) {
        segments[index].hasArrived = true
        while arrivedCount < segments.count, segments[arrivedCount].hasArrived {
            for end in segments[arrivedCount].ends {
                let arrival = VirtualLink.Arrival(capture: end.capture, time: time)
                if end.isVideo { pictures.append(arrival) } else { sounds.append(arrival) }
            }
            arrivedCount += 1
        }
        confirmations.append((time + delay, arrivedCount, index))
    }

    private mutating func confirm(_ count: Int, _ index: Int, _ time: Double) {
        lastProgress = time
        segments[index].isSacked = true
        while confirmedCount < count {
            let segment = segments[confirmedCount]
            confirmed += segment.size
            confirmedCount += 1
            // Only a window that is used grows.
            if confirmedCount > recovery, inFlight > window / 2 {
                window += window < threshold ? segment.size : Self.largest * segment.size / window
            }
        }
        noteLosses(before: index, time)
    }

    /// What was sent before three that have arrived is lost.
    private mutating func noteLosses(before index: Int, _ time: Double) {
        guard index >= confirmedCount + 3 else { return }
        for lost in confirmedCount..<index - 2 where !segments[lost].isSacked && !segments[lost].isLost {
            guard let sentAt = segments[lost].sentAt, let later = segments[index].sentAt, sentAt < later else {
                continue
            }
            segments[lost].isLost = true
            if confirmedCount >= recovery {
                threshold = max(2 * Self.largest, 0.7 * window)
                window = threshold
                recovery = sentCount
            }
        }
    }

    private mutating func checkTimeout(_ time: Double) {
        guard confirmedCount < sentCount else {
            lastProgress = time
            return
        }
        guard time - lastProgress > Self.leastTimeout + 2 * delay else { return }
        lastProgress = time
        for index in confirmedCount..<sentCount where !segments[index].isSacked { segments[index].isLost = true }
        threshold = max(2 * Self.largest, window / 2)
        window = Self.largest
        recovery = sentCount
    }

    private var inFlight: Double {
        segments[confirmedCount..<sentCount].reduce(0) { $0 + ($1.isSacked || $1.isLost ? 0 : $1.size) }
    }

    private mutating func transmit(_ time: Double) {
        var flight = inFlight
        for index in confirmedCount..<sentCount where segments[index].isLost && !segments[index].isSacked {
            guard flight + segments[index].size <= max(window, Self.largest) else { return }
            segments[index].isLost = false
            flight += segments[index].size
            enqueue(index, time)
        }
        while sentCount < segments.count, flight + segments[sentCount].size <= window {
            flight += segments[sentCount].size
            enqueue(sentCount, time)
            sentCount += 1
        }
    }

    private mutating func enqueue(_ index: Int, _ time: Double) {
        segments[index].sentAt = time
        guard queued + segments[index].size <= room else {
            drops += 1
            return
        }
        queued += segments[index].size
        queue.append((index, segments[index].size))
    }
}
