import GantryCore
import GantryPlatform

/// What waits between a session and the thread of a relay. When it runs over, all that waits is given up, and it goes on with
/// the next key frame: a slow server gets holes, never an ever longer delay.
final class RelayQueue: @unchecked Sendable {  // What varies is guarded by `lock`; the queue guards itself.
    enum Item: Sendable {
        case expect(video: Bool, audio: Bool)
        case format(StreamFormat)
        /// Number of the packet, from 1 on.
        case packet(MediaPacket, Int)
    }

    /// About two seconds of picture and sound, and less than the pools of the connection hold.
    private static let packetLimit = 250
    private static let byteLimit = 32 * 1024 * 1024

    // There is always room for what is said between packets.
    private let queue = BoundedQueue<Item>(capacity: RelayQueue.packetLimit + 64)
    private let lock = Lock()
    private var waitingBytes = 0
    private var lastNumber = 0
    /// Packets up to this one are given up.
    private var skippedTo = 0
    private var needsKeyFrame = false
    private var hasVideo = false
    private var dropped = 0
    private var overruns = 0

    /// From the session's threads; never blocks.
    func expect(video: Bool, audio: Bool) {
        lock.withLock { hasVideo = video }
        queue.push(.expect(video: video, audio: audio))
    }

    func formatChanged(_ format: StreamFormat) { queue.push(.format(format)) }

    func push(_ packet: MediaPacket) {
        lock.withLock {
            if needsKeyFrame {
                // Sound goes on with the picture, so that both have the same hole.
                guard packet.codec.isVideo == hasVideo, packet.header.isKey || !hasVideo else {
                    dropped += 1
                    return
                }
                needsKeyFrame = false
            }
            lastNumber += 1
            guard queue.countInside < Self.packetLimit, waitingBytes + packet.count <= Self.byteLimit,
                queue.push(.packet(packet, lastNumber))
            else {
                dropped += 1
                overruns += 1
                needsKeyFrame = true
                skippedTo = lastNumber
                return
            }
            waitingBytes += packet.count
        }
    }

    /// The relay's thread: waits for the next. Nil at the end; packets that are given up do not come.
    func pop() -> Item? {
        while let item = queue.pop() {
            guard case .packet(let packet, let number) = item else { return item }
            let isSkipped = lock.withLock { () -> Bool in
                waitingBytes -= packet.count
                if number <= skippedTo { dropped += 1 }
                return number <= skippedTo
            }
            if !isSkipped { return item }
        }
        return nil
    }

    func close() { queue.close() }
    func removeAll() { queue.removeAll() }

    /// Any thread. What was left out before it reached the relay's thread.
    var droppedCount: Int { lock.withLock { dropped } }
    /// How often it has run over.
    var overrunCount: Int { lock.withLock { overruns } }
    /// It goes on with a key frame alone, and has room for it.
    var awaitsKeyFrame: Bool {
        lock.withLock { needsKeyFrame && hasVideo } && queue.countInside < Self.packetLimit / 2
    }
}
