import Glibc

/// How finely a terminal shows colours, by what it says of itself.
package enum ColorDepth: Sendable, Hashable {
    /// 24 bits a colour.
    case direct
    /// The palette of 256.
    case indexed
    /// No colours: shades by characters.
    case shades

    /// - Parameters:
    ///   - colorTerm: `COLORTERM`: `truecolor` or `24bit`, the custom of terminals with direct colours.
    ///   - terminalType: `TERM`; names of terminfo end in `-direct` or `-256color`.
    ///   - noColor: `NO_COLOR` (no-color.org): not empty means none.
    package init(
        colorTerm: String? = Environment["COLORTERM"], terminalType: String? = Environment["TERM"],
        noColor: String? = Environment["NO_COLOR"]
    ) {
        let type = terminalType ?? "dumb"
        if !(noColor ?? "").isEmpty {
            self = .shades
        } else if colorTerm == "truecolor" || colorTerm == "24bit" || type.hasSuffix("-direct") {
            self = .direct
        } else {
            self = type.hasSuffix("-256color") ? .indexed : .shades
        }
    }
}
