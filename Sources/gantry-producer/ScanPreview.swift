import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc

/// What the camera sees while it looks for a code, small and in the terminal, with a line that says what to do. Taken away
/// at the end. One thread.
final class ScanPreview {
    /// Between two drawings.
    private static let interval = MediaDuration.milliseconds(200)

    private let descriptor: CInt
    private let deadline: MediaTimestamp
    private let depth = ColorDepth()
    private var lines = InPlaceLines()
    private var next = MediaTimestamp(microseconds: 0)

    /// Nil where nothing can be drawn in place.
    ///
    /// - Parameter deadline: when looking ends.
    init?(until deadline: MediaTimestamp, descriptor: CInt = STDERR_FILENO) {
        guard isatty(descriptor) == 1, (Environment["TERM"] ?? "dumb") != "dumb" else { return nil }
        self.descriptor = descriptor
        self.deadline = deadline
    }

    func show(_ picture: Picture) {
        let now = MonotonicClock.now()
        guard now >= next, takesOutput else { return }
        next = now + Self.interval
        let size = TerminalSize(of: descriptor) ?? .standard
        // Room for the hint and the cursor's line.
        guard
            let fitting = HalfBlockPreview.size(
                ofPicture: picture.width, picture.height, columns: size.columns - 1, rows: size.rows - 2),
            let small = Thumbnail(
                picture, width: min(fitting.width, picture.width), height: min(fitting.height, picture.height))
        else { return }
        let left = max(0, (deadline - now).microseconds / 1_000_000)
        let hint = ScreenLine(
            "Hold the code before the camera · \(left) s left · Ctrl-C cancels", limit: size.columns - 1)
        let picture = HalfBlockPreview.lines(small.pixels, width: small.width, depth: depth)
        StandardStreams.write(lines.draw(picture + [hint], size: size), to: descriptor)
    }

    /// Also before other text is written.
    func clear() {
        let size = TerminalSize(of: descriptor) ?? .standard
        StandardStreams.write(lines.clear(size: size), to: descriptor)
    }

    /// False while the terminal is stopped (Ctrl-S): looking goes on.
    private var takesOutput: Bool {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&waiting, 1, 0) == 1 && waiting.revents & Int16(POLLOUT) != 0
    }
}
