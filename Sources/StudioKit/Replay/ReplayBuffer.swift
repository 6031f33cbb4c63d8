import GantryCore
import GantryPlatform

/// The last seconds of a session, as packets in memory. Any thread.
///
/// Bounded in seconds and bytes by its settings. Packets are copied into chunks that are used again and again: those of
/// the connection go back to their pool at once, and what is held outlives the connection.
final class ReplayBuffer: @unchecked Sendable {  // All state is guarded by `lock`.
    /// More than 240 pictures and 100 packets of sound make.
    private static let recordsPerSecond = 400
    /// Kept beyond the settings' time, so that what is shown from its very end is not overtaken at once.
    private static let margin = MediaDuration.seconds(1)

    /// The packets from the oldest key frame on, and what they are.
    struct Snapshot: Sendable {
        /// In the order in which they came; a format holds from the packet with that index on.
        let packets: [ReplayPacket]
        let formats: [(index: Int, format: StreamFormat)]
    }

    enum Lookup {
        case found(ReplayPacket, position: Int64, isVideo: Bool)
        /// The oldest that can be shown is another one now.
        case gone
        case notYet
    }

    let settings: ReplaySettings
    private let lock = Lock()
    private let chunks: ReusePool<ReplayChunk>
    private var chunk: ReplayChunk?
    private var index: ReplayIndex<ReplayPacket>
    private var timeline = MediaTimeline(longestStep: .seconds(5))
    private var connection = 0
    /// What holds from the record of that number on; of each kind one at most from before the oldest.
    private var formats: [(number: Int, format: StreamFormat)] = []
    /// A packet of the picture is missing: nothing that needs it is taken in.
    private var awaitsKeyFrame = false

    init(_ settings: ReplaySettings) {
        self.settings = settings
        let seconds = Int(settings.duration.microseconds / 1_000_000) + 2
        index = ReplayIndex(
            capacity: seconds * Self.recordsPerSecond, span: (settings.duration + Self.margin).microseconds,
            byteLimit: settings.byteLimit)
        // Twice: a snapshot may hold as much again.
        chunks = ReusePool(capacity: 2 * settings.byteLimit / ReplayChunk.capacity + 8) { ReplayChunk() }
    }

    // MARK: In

    /// Another connection begins.
    func restart() {
        lock.withLock {
            connection &+= 1
            timeline.restart()
            awaitsKeyFrame = true
        }
    }

    /// The next step of the stamps may be a pause: it is left out.
    func paused() { lock.withLock { timeline.paused() } }

    func formatChanged(_ format: StreamFormat) {
        lock.withLock {
            // Those of the same kind that no packet has; at most one can be from before the oldest.
            let number = index.end
            formats.removeAll { $0.number == number && $0.format.isVideo == format.isVideo }
            formats.append((number, format))
            prune()
        }
    }

    func add(_ packet: MediaPacket) {
        lock.withLock {
            let isVideo = packet.codec.isVideo
            if isVideo && awaitsKeyFrame && !packet.header.isKey { return }
            let position = timeline.place(packet.header.presentationTime.microseconds)
            let isHeld = hold(packet).map { held in
                index.append(
                    position: position, isVideo: isVideo, isKey: packet.header.isKey, bytes: packet.count, payload: held
                )
            }
            if isVideo { awaitsKeyFrame = isHeld != true }
            if formats.count > 2 { prune() }
        }
    }

    private func hold(_ packet: MediaPacket) -> ReplayPacket? {
        if packet.count > ReplayChunk.capacity {
            // Out of the ordinary: in memory of its own.
            let own = ReplayChunk(capacity: packet.count)
            return own.append(packet.bytes).map {
                ReplayPacket(packet, connection: connection, chunk: own, offset: $0)
            }
        }
        if let chunk, let offset = chunk.append(packet.bytes) {
            return ReplayPacket(packet, connection: connection, chunk: chunk, offset: offset)
        }
        chunk = nil
        guard let new = chunks.take() else { return nil }
        new.removeAll()
        chunk = new
        return new.append(packet.bytes).map {
            ReplayPacket(packet, connection: connection, chunk: new, offset: $0)
        }
    }

    private func prune() {
        for isVideo in [true, false] {
            let old = formats.lastIndex { $0.format.isVideo == isVideo && $0.number <= index.first }
            guard let number = old.map({ formats[$0].number }) else { continue }
            formats.removeAll { $0.format.isVideo == isVideo && $0.number < number }
        }
    }

    // MARK: Out

    /// Positions that can be shown; nil when there is nothing yet.
    var held: ClosedRange<Int64>? { lock.withLock { index.held } }
    /// Of the newest packet.
    var newest: Int64? { lock.withLock { index.newest } }
    var bytes: Int { lock.withLock { index.bytes } }

    /// Where decoding must begin to show `position`; when that has gone, the oldest place where it can.
    func start(for position: Int64) -> Int? { lock.withLock { index.cut(atOrBefore: position) } }

    func packet(_ number: Int) -> Lookup {
        lock.withLock {
            if let record = index[number] {
                return .found(record.payload, position: record.position, isVideo: record.isVideo)
            }
            return number < index.first ? .gone : .notYet
        }
    }

    /// Of the picture at that number.
    func frameRate(at number: Int) -> FrameRate {
        lock.withLock {
            for entry in formats.reversed() where entry.number <= number {
                if case .video(let video) = entry.format { return video.frameRate }
            }
            return .fps30
        }
    }

    func snapshot() -> Snapshot {
        lock.withLock {
            prune()
            guard let cut = index.oldestCut else { return Snapshot(packets: [], formats: []) }
            return Snapshot(
                packets: (cut..<index.end).compactMap { index[$0]?.payload },
                formats: formats.map { (index: max(0, $0.number - cut), format: $0.format) })
        }
    }
}

extension StreamFormat {
    var isVideo: Bool {
        if case .video = self { true } else { false }
    }
}
