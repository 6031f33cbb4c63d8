package import GantryCore

/// What is to be written so that one line of status shows; pure, time is an argument.
package struct StatusLineRenderer: Sendable {
    package enum Mode: Sendable, Hashable {
        /// A terminal that redraws the line in place.
        case inPlace
        /// A file, a pipe or a simple terminal: a line now and then.
        case plain
    }

    /// Between two lines in `plain` mode.
    package static let plainInterval = MediaDuration.seconds(5)
    /// Between two drawings in `inPlace` mode: ten a second are enough for eyes.
    package static let drawInterval = MediaDuration.milliseconds(100)

    private let mode: Mode
    private let style: TextStyle
    private var isDrawn = false
    private var last: MediaTimestamp?

    package init(mode: Mode, style: TextStyle) {
        self.mode = mode
        self.style = style
    }

    /// The bytes that show `text`, or nil when it is too early for the next.
    ///
    /// - Parameters:
    ///   - text: one line; control characters become "?". Asked for only when it is shown.
    ///   - columns: of the terminal. The last one stays empty, since some terminals wrap there.
    package mutating func show(
        _ text: @autoclosure () -> String, isWarning: Bool = false, columns: Int, now: MediaTimestamp
    ) -> String? {
        let interval = mode == .plain ? Self.plainInterval : Self.drawInterval
        if let last, now - last < interval { return nil }
        last = now
        switch mode {
        case .plain: return TextCells.printable(text()) + "\n"
        case .inPlace:
            isDrawn = true
            let line = TextCells.printable(text(), limit: max(0, columns - 1))
            // Return, text, erase to the end of the line (ECMA-48 EL): no flicker, unlike erasing first.
            return "\r" + (isWarning ? style.warning(line) : line) + "\u{1B}[K"
        }
    }

    /// The bytes that take the line away before other output; empty when none is drawn. The next `show` draws at once.
    package mutating func clear() -> String {
        guard isDrawn else { return "" }
        isDrawn = false
        last = nil
        return "\r\u{1B}[K"
    }
}
