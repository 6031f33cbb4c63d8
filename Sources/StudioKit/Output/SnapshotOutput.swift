public import GantryCore
import GantryMedia
import GantryPlatform

/// Writes one picture as PNG, a second after the first has come (the first picture of a stream is its worst).
public final class SnapshotOutput: VideoOutput, EndingOutput, @unchecked Sendable {  // `state` is guarded by `lock`.
    private struct State {
        var first: MediaTimestamp?
        /// The picture to take when the stream ends within the first second.
        var latest: Picture?
        var isDone = false
    }

    private static let delay = MediaDuration.seconds(1)
    private let thread: OutputThread<Picture>
    private let lock = Lock()
    private var state = State()

    /// - Parameters:
    ///   - path: a file that ends in .png, a named pipe, or "-" for standard output.
    ///   - overwrite: replaces a file that exists.
    ///   - failed: told once, on the output's thread, when it cannot be written any more.
    /// - Throws: `invalidArgument`, `outputNotWritable`: what is wrong with the path, at once.
    public init(
        path: String, overwrite: Bool = false, failed: @escaping @Sendable (GantryError) -> Void = { _ in }
    ) throws(GantryError) {
        guard path == "-" || path.lowercased().hasSuffix(".png") || !OutputPath.isRegularFile(path) else {
            throw GantryError(.invalidArgument, "A snapshot is a PNG picture: \(path) must end in .png.")
        }
        try OutputPath.check(path, overwrite: overwrite)
        thread = try OutputThread("snapshot", path: path, capacity: 1, failed: failed) { queue throws(GantryError) in
            guard let picture = queue.pop() else { return }
            try PNGSnapshot.write(picture, to: path, overwrite: overwrite)
        }
    }

    /// A snapshot is of what is live.
    public var followsReplay: Bool { false }

    public var returnsAtOnce: Bool { true }
    public func receive(_ frame: VideoFrame) {
        let taken = lock.withLock { () -> Picture? in
            if state.isDone { return nil }
            let first = state.first ?? frame.presentationTime
            state.first = first
            state.latest = frame.picture
            guard frame.presentationTime - first >= Self.delay else { return nil }
            state.isDone = true
            state.latest = nil
            return frame.picture
        }
        if let taken { thread.queue.push(taken) }
    }

    func beginEnd() {
        let latest = lock.withLock { () -> Picture? in
            defer { state.latest = nil }
            return state.latest
        }
        if let latest { thread.queue.push(latest) }
        thread.beginEnd()
    }

    public func videoEnded() {
        beginEnd()
        thread.finish()
    }
}
