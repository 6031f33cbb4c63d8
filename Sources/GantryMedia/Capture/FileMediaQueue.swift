import GantryCore
import GantryPlatform

/// What a file source has decoded ahead of its time: a few pictures and a second of sound, each in order. One thread
/// puts in, one takes out. Nothing is allocated after `init`.
final class FileMediaQueue: @unchecked Sendable {  // All state is guarded by `condition`.
    enum Item {
        case video(Picture)
        case audio(AudioBlock)
    }

    /// Enough to hide a slow picture (an intra picture, a page that must come from the disk).
    static let pictureCapacity = 5
    /// 1 s in blocks of 10 ms.
    static let blockCapacity = 100

    private let condition = Condition()
    private var pictures = Ring<Picture>(capacity: FileMediaQueue.pictureCapacity)
    private var blocks = Ring<AudioBlock>(capacity: FileMediaQueue.blockCapacity)
    private var isFinished = false
    private var isClosed = false
    /// While held: since when.
    private var heldSince: MediaTimestamp?
    /// How long it was held so far: everything is due, and stamped, that much later.
    private var delay = MediaDuration.zero

    var hasPictureRoom: Bool { condition.withLock { !pictures.isFull } }
    var hasBlockRoom: Bool { condition.withLock { !blocks.isFull } }
    var closed: Bool { condition.withLock { isClosed } }

    func push(_ picture: Picture) {
        condition.withLock {
            pictures.append(picture)
            condition.broadcast()
        }
    }

    func push(_ block: AudioBlock) {
        condition.withLock {
            blocks.append(block)
            condition.broadcast()
        }
    }

    /// Nothing more is put in; what is inside can be taken.
    func finish() {
        condition.withLock {
            isFinished = true
            condition.broadcast()
        }
    }

    /// Wakes everyone, for good.
    func close() {
        condition.withLock {
            isClosed = true
            condition.broadcast()
        }
    }

    /// For the thread that puts in: sleeps until something changes, at most until `deadline`.
    func waitForChange(until deadline: MediaTimestamp) {
        condition.withLock {
            if !isClosed { _ = condition.wait(until: deadline) }
        }
    }

    /// The file's time zero. A hold from before counts from here on.
    func began(at start: MediaTimestamp) {
        condition.withLock { heldSince = heldSince.map { max($0, start) } }
    }

    /// Nothing comes out until `release`.
    func hold(now: MediaTimestamp) {
        condition.withLock { heldSince = heldSince ?? now }
    }

    func release(now: MediaTimestamp) {
        condition.withLock {
            if let heldSince, now > heldSince { delay = delay + (now - heldSince) }
            heldSince = nil
            condition.broadcast()
        }
    }

    /// Waits for the earliest thing inside, and, when `isPaced`, for its time. Nil at the end or when closed.
    func next(isPaced: Bool) -> Item? {
        condition.withLock {
            while !isClosed {
                if heldSince != nil {
                    condition.wait()
                    continue
                }
                let video = pictures.first?.presentationTime
                let audio = blocks.first?.presentationTime
                guard let due = MediaTimestamp.earlier(video, audio) else {
                    if isFinished { return nil }
                    condition.wait()
                    continue
                }
                if isPaced, due + delay > MonotonicClock.now() {
                    _ = condition.wait(until: due + delay)
                    continue
                }
                // Sound first when both are due at the same time.
                condition.broadcast()
                if audio == due { return blocks.removeFirst().map(delayed) }
                return pictures.removeFirst().map(delayed)
            }
            return nil
        }
    }

    private func delayed(_ block: AudioBlock) -> Item {
        block.presentationTime = block.presentationTime + delay
        return .audio(block)
    }

    private func delayed(_ picture: Picture) -> Item {
        picture.presentationTime = picture.presentationTime + delay
        return .video(picture)
    }

    private struct Ring<Value> {
        private var values: [Value?]
        private var head = 0
        private var count = 0

        init(capacity: Int) { values = Array(repeating: nil, count: max(1, capacity)) }

        var isFull: Bool { count == values.count }
        var first: Value? { count == 0 ? nil : values[head] }

        mutating func append(_ value: Value) {
            guard !isFull else { return }
            values[(head + count) % values.count] = value
            count += 1
        }

        mutating func removeFirst() -> Value? {
            guard count > 0 else { return nil }
            let value = values[head]
            values[head] = nil
            head = (head + 1) % values.count
            count -= 1
            return value
        }
    }
}
