package import GantryCore
package import GantryMedia
import GantryPlatform

/// Writes down what the time code in each picture says, for `LatencyReport`. Room is made at the start; what comes when it is
/// full is let go.
///
/// An output of a session, or fed with pictures that come from elsewhere, such as a virtual camera. Any thread.
package final class LatencyLog: VideoOutput, @unchecked Sendable {  // `entries` and `unread` are guarded by `lock`.
    /// One picture with a time code. Times on this machine's clock, except `capture`.
    package struct Entry: Sendable, Hashable {
        /// Of 24 bits: it begins again.
        package var number: UInt32
        /// On the producer's clock.
        package var capture: MediaTimestamp
        /// When it was seen.
        package var seen: MediaTimestamp
        /// When its last byte arrived, and when it was decoded; as `seen` where that is not known.
        package var arrived: MediaTimestamp
        package var decoded: MediaTimestamp
        /// The producer's clock minus ours, as estimated then.
        package var clockOffset = MediaDuration.zero

        package init(
            number: UInt32, capture: MediaTimestamp, seen: MediaTimestamp, arrived: MediaTimestamp? = nil,
            decoded: MediaTimestamp? = nil, clockOffset: MediaDuration = .zero
        ) {
            self.number = number
            self.capture = capture
            self.seen = seen
            self.arrived = arrived ?? seen
            self.decoded = decoded ?? seen
            self.clockOffset = clockOffset
        }
    }

    private let lock = Lock()
    private let capacity: Int
    private var entries: [Entry] = []
    private var unread = 0

    /// - Parameter capacity: pictures; 72 bytes each.
    package init(capacity: Int) {
        self.capacity = capacity
        entries.reserveCapacity(capacity)
    }

    package var followsReplay: Bool { false }
    package var returnsAtOnce: Bool { true }

    package func receive(_ frame: VideoFrame) {
        let now = MonotonicClock.now()
        let code = TimeCode.read(from: frame.picture)
        add(
            code.map {
                Entry(
                    number: $0.frameNumber, capture: $0.capture, seen: now, arrived: frame.arrivalTime,
                    decoded: frame.decodedTime, clockOffset: frame.clockOffset)
            })
    }

    /// A picture that was seen now.
    package func note(_ picture: Picture) {
        let now = MonotonicClock.now()
        add(TimeCode.read(from: picture).map { Entry(number: $0.frameNumber, capture: $0.capture, seen: now) })
    }

    package func videoEnded() {}

    /// Pictures with a code, and pictures without one that can be read, so far.
    package var counts: (read: Int, unread: Int) { lock.withLock { (entries.count, unread) } }

    /// All that were seen since `start`, in order.
    package func entries(since start: MediaTimestamp) -> [Entry] {
        lock.withLock { entries }.filter { $0.seen >= start }
    }

    private func add(_ entry: Entry?) {
        lock.withLock {
            guard let entry else {
                unread += 1
                return
            }
            if entries.count < capacity { entries.append(entry) }
        }
    }
}
