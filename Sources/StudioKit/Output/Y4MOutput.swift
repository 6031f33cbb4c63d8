package import GantryCore
import GantryMedia
import GantryPlatform

/// Writes the pictures as YUV4MPEG2 to a file or pipe. A reader that is too slow misses pictures; nothing waits for it.
package final class Y4MOutput: VideoOutput, Sendable {
    private let thread: OutputThread<VideoFrame>
    /// A file is a recording of what is live; a pipe goes to somebody who watches.
    package let followsReplay: Bool

    /// - Throws: what is wrong with the path, at once.
    package init(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
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

    package func receive(_ frame: VideoFrame) { thread.queue.pushDroppingOldest(frame) }
    package func videoEnded() { thread.finish() }
    /// Pictures that a slow reader has missed.
    package var droppedCount: Int { thread.queue.droppedCount }
}
