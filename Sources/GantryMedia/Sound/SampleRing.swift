/// Stereo samples, first in, first out, in memory that is taken once. Counts are samples of each channel. Owned by one
/// thread.
final class SampleRing {
    let capacity: Int
    private(set) var count = 0
    private var head = 0
    /// Sound that begins is faded in where it is played, not here.
    private var edge = SoundEdge(isRisen: true)
    private let memory: UnsafeMutablePointer<Float>

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        memory = .allocate(capacity: self.capacity * AudioBlock.channels)
        memory.initialize(repeating: 0, count: self.capacity * AudioBlock.channels)
    }

    deinit { memory.deallocate() }

    func removeAll() {
        head = 0
        count = 0
        edge = SoundEdge(isRisen: true)
    }

    /// Adds `frames` from `source`, as many as there is room for.
    func append(_ source: UnsafePointer<Float>, _ frames: Int) { write(frames, source) }

    /// Fills a hole: what was there sinks, what comes next rises.
    func appendHole(_ frames: Int) {
        edge.cut()
        write(frames, nil)
    }

    private func write(_ frames: Int, _ source: UnsafePointer<Float>?) {
        var done = 0
        let frames = max(0, min(frames, capacity - count))
        while done < frames {
            let start = (head + count) % capacity
            let piece = min(frames - done, capacity - start)
            let target = memory + start * 2
            if let source {
                target.update(from: source + done * 2, count: piece * 2)
            } else {
                target.update(repeating: 0, count: piece * 2)
            }
            edge.apply(target, piece, isSound: source != nil)
            count += piece
            done += piece
        }
    }

    /// The oldest samples that lie together; valid until the ring is changed.
    var first: (samples: UnsafePointer<Float>, count: Int) {
        (UnsafePointer(memory + head * 2), min(count, capacity - head))
    }

    /// Lets go of the oldest.
    func skip(_ frames: Int) {
        let frames = max(0, min(frames, count))
        head = (head + frames) % capacity
        count -= frames
    }
}
