package import GantryCore
import GantryMedia
import GantryPlatform

/// Writes the sound as WAV to a file or pipe.
package final class WAVOutput: AudioOutput, Sendable {
    private let thread: OutputThread<AudioBlock>

    /// - Throws: what is wrong with the path, at once.
    package init(
        path: String, overwrite: Bool, failed: @escaping @Sendable (GantryError) -> Void
    ) throws(GantryError) {
        // Used by the output's thread alone from here on.
        nonisolated(unsafe) let file = try OutputFile(path: path, overwrite: overwrite)
        thread = try OutputThread("wav-output", capacity: 24, failed: failed) { queue throws(GantryError) in
            let writer = try WAVWriter(output: file)
            while let block = queue.pop() { try writer.write(block) }
            try writer.finish()
        }
    }

    package func receive(_ frame: AudioFrame) { thread.queue.pushDroppingOldest(frame.block) }
    package func audioEnded() { thread.finish() }
}
