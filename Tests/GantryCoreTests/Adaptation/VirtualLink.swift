import GantryCore

/// What a `VirtualSession` sends over.
protocol VirtualPath {
    /// Bytes that the far end has confirmed.
    var confirmed: Double { get }
    var pictures: [VirtualLink.Arrival] { get }
    var sounds: [VirtualLink.Arrival] { get }
    /// What the producer has sent and does not know to have arrived, less what is under way without a queue.
    func unconfirmed(at rate: Int) -> Int
    mutating func send(bytes: Int, capture: Double, isVideo: Bool)
    /// Goes on to `time` by a step of `seconds`.
    mutating func advance(to time: Double, by seconds: Double)
}

/// A link in virtual time: bytes go out at its rate, first in, first out, and arrive after its delay. Its queue stands for
/// those of the producer, of the kernel and of the network, which all add to the same delay.
struct VirtualLink: VirtualPath {
    /// Bits a second from a time on, in seconds.
    typealias Phase = (from: Double, rate: Double)

    struct Arrival {
        /// When it was captured and when its last byte came, in seconds.
        let capture: Double
        let time: Double
    }

    private struct Message {
        var left: Double
        let capture: Double
        let isVideo: Bool
    }

    private let phases: [Phase]
    /// One way, in seconds.
    private var delay: Double
    private let longer: (from: Double, delay: Double)?
    private var queue: [Message] = []
    private var onTheWay: [(time: Double, message: Message)] = []
    private var confirmations: [(time: Double, bytes: Double)] = []
    private(set) var confirmed = 0.0
    private(set) var pictures: [Arrival] = []
    private(set) var sounds: [Arrival] = []

    /// - Parameter longer: when the way becomes longer, and how long it is then.
    init(_ phases: [Phase], delay: Double, longer: (from: Double, delay: Double)? = nil) {
        self.phases = phases
        self.delay = delay
        self.longer = longer
    }

    func unconfirmed(at rate: Int) -> Int {
        let sent = queue.reduce(0) { $0 + $1.left } + confirmations.reduce(0) { $0 + $1.bytes }
        return max(0, Int(sent - Double(rate) / 8 * 2 * delay))
    }

    mutating func send(bytes: Int, capture: Double, isVideo: Bool) {
        let message = Message(left: Double(bytes), capture: capture, isVideo: isVideo)
        // Sound overtakes pictures that have not begun.
        if isVideo || queue.isEmpty { queue.append(message) } else { queue.insert(message, at: 1) }
    }

    mutating func advance(to time: Double, by seconds: Double) {
        if let longer, time >= longer.from { delay = longer.delay }
        var room = (phases.last { $0.from <= time }?.rate ?? 0) * seconds / 8
        while room > 0, !queue.isEmpty {
            let part = min(room, queue[0].left)
            queue[0].left -= part
            room -= part
            confirmations.append((time + 2 * delay, part))
            if queue[0].left <= 0 { onTheWay.append((time + delay, queue.removeFirst())) }
        }
        while let first = confirmations.first, first.time <= time {
            confirmed += first.bytes
            confirmations.removeFirst()
        }
        while let first = onTheWay.first, first.time <= time {
            let arrival = Arrival(capture: first.message.capture, time: time)
            if first.message.isVideo { pictures.append(arrival) } else { sounds.append(arrival) }
            onTheWay.removeFirst()
        }
    }
}
