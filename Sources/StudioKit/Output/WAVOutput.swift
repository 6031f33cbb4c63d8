public import GantryCore
import GantryMedia
import GantryPlatform

/// Writes the sound as WAV to a file or pipe.
public final class WAVOutput: AudioOutput, EndingOutput, Sendable {
    private let thread: OutputThread<AudioFrame>
    /// A file is a recording of what is live; a pipe goes to somebody who listens.
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

    public var returnsAtOnce: Bool { true }
    public func receive(_ frame: AudioFrame) { thread.queue.pushDroppingOldest(frame) }
    func beginEnd() { thread.beginEnd() }
    public func audioEnded() { thread.finish() }
}
