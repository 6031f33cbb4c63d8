public import GantryCore
import GantryMedia
import GantryPlatform

/// Writes the pictures as YUV4MPEG2 to a file or pipe. A reader that is too slow misses pictures; nothing waits for it.
public final class Y4MOutput: VideoOutput, EndingOutput, Sendable {
    private let thread: OutputThread<VideoFrame>
    /// A file is a recording of what is live; a pipe goes to somebody who watches.
    public let followsReplay: Bool

    /// - Parameters:
    ///   - path: a file, a named pipe, or "-" for standard output.
    ///   - overwrite: replaces a file that exists.
    ///   - failed: told once, on the output's thread, when it cannot be written any more.
    /// - Throws: `invalidArgument`, `outputNotWritable`: what is wrong with the path, at once.
    public init(
        path: String, overwrite: Bool = false, failed: @escaping @Sendable (GantryError) -> Void = { _ in }
    ) throws(GantryError) {
        try OutputPath.check(path, overwrite: overwrite)
        followsReplay = !OutputPath.isRegularFile(path)
        // A file takes what a stalled disk holds back for a moment; in a pipe the newest picture counts.
        thread = try OutputThread(
            "y4m-output", path: path, capacity: OutputPath.isRegularFile(path) ? 6 : 1, failed: failed
        ) { queue throws(GantryError) in
            guard let first = queue.pop() else { return }
            // Opened only now: without a connection an older file stays as it is.
            let file = try OutputFile(path: path, overwrite: overwrite)
            let writer = Y4MWriter(output: file, rate: first.frameRate)
            try writer.write(first.picture)
            while let frame = queue.pop() { try writer.write(frame.picture) }
        }
    }

    public var returnsAtOnce: Bool { true }
    public func receive(_ frame: VideoFrame) { thread.queue.pushDroppingOldest(frame) }
    func beginEnd() { thread.beginEnd() }
    public func videoEnded() { thread.finish() }
    /// Pictures that a slow reader has missed.
    public var droppedCount: Int { thread.queue.droppedCount }
}
