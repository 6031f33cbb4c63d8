package import GantryCore
import GantryMedia
import GantryPlatform

/// Writes the sound as WAV to a file or pipe.
package final class WAVOutput: AudioOutput, Sendable {
    private let thread: OutputThread<AudioFrame>
    /// A file is a recording of what is live; a pipe goes to somebody who listens.
    package let followsReplay: Bool

    /// - Throws: what is wrong with the path, at once.
    package init(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) {
        try OutputPath.check(path, overwrite: overwrite)
        followsReplay = !OutputPath.isRegularFile(path)
        thread = try OutputThread("wav-output", path: path, capacity: 24, failed: failed) {
            queue throws(GantryError) in
            guard let first = queue.pop() else { return }
            // Opened only now: without a connection an older file stays as it is.
            let writer = try WAVWriter(output: OutputFile(path: path, overwrite: overwrite))
            try writer.write(first.block)
            var run = first.run
            while let frame = queue.pop() {
                if frame.run != run { writer.jump() }
                run = frame.run
                try writer.write(frame.block)
            }
            try writer.finish()
        }
    }

    package func receive(_ frame: AudioFrame) { thread.queue.pushDroppingOldest(frame) }
    package func audioEnded() { thread.finish() }
}
