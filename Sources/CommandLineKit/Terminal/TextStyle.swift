import Glibc

/// Colour and weight of text on a terminal, or none.
package struct TextStyle: Sendable, Hashable {
    package let isEnabled: Bool

    package init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// For text that goes to `descriptor`: on for a terminal, unless `NO_COLOR` is set and not empty (no-color.org)
    /// or `TERM` is `dumb` or missing.
    package init(
        for descriptor: CInt, noColor: String? = Environment["NO_COLOR"], terminalType: String? = Environment["TERM"]
    ) {
        let isPlain = !(noColor ?? "").isEmpty || (terminalType ?? "dumb") == "dumb"
        self.init(isEnabled: isatty(descriptor) == 1 && !isPlain)
    }

    package func warning(_ text: String) -> String { wrapped(text, "33") }
    package func good(_ text: String) -> String { wrapped(text, "32") }
    package func strong(_ text: String) -> String { wrapped(text, "1") }
    /// Of less weight than what stands beside it.
    package func label(_ text: String) -> String { wrapped(text, "2") }
    package func error(_ text: String) -> String { wrapped(text, "31") }

    /// SGR, ECMA-48 section 8.3.117.
    private func wrapped(_ text: String, _ code: String) -> String {
        isEnabled && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
