package import GantryCore

/// Which screen, and what part of it, in the words of the command line:
///
///     screen                        the screen of $DISPLAY
///     screen:1   screen::1.0        the X display :1 of this machine
///     screen,640x480+100+50         width, height, left, top of a part (as in X geometry)
///     screen::1,640x480+100+50      both
package struct ScreenPlace: Sendable, Hashable {
    package struct Region: Sendable, Hashable {
        package var width: Int
        package var height: Int
        package var left: Int
        package var top: Int
    }

    /// As the X library takes it: `:0`.
    package let display: String
    package let region: Region?

    /// - Parameter display: as the X library takes it.
    package init(display: String, region: Region? = nil) {
        self.display = display
        self.region = region
    }

    /// Whether `text` is meant as a screen.
    package static func isScreen(_ text: String) -> Bool {
        text == "screen" || text.hasPrefix("screen:") || text.hasPrefix("screen,")
    }

    /// - Parameters:
    ///   - text: begins with `screen`.
    ///   - variable: reads the environment: DISPLAY, WAYLAND_DISPLAY.
    /// - Throws: `invalidArgument`; `sourceNotFound` when there is no X display in the environment.
    package init(_ text: String, variable: (String) -> String?) throws(GantryError) {
        guard Self.isScreen(text) else { throw Self.malformed(text) }
        let parts = text.dropFirst("screen".count).split(
            separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
        var named = parts.first ?? ""
        if named.hasPrefix(":") { named = named.dropFirst() }
        if named.isEmpty {
            display = try Self.ownDisplay(variable)
        } else {
            // A number alone is one of this machine.
            let full =
                named.first.map { $0.isASCII && $0.isNumber } == true && !named.contains(":") ? ":\(named)" : named
            guard Self.isDisplay(full) else { throw Self.malformed(text) }
            display = String(full)
        }
        if parts.count > 1 {
            guard let region = Region(parts[1]) else { throw Self.malformed(text) }
            self.region = region
        } else {
            region = nil
        }
    }

    /// Whether it is the X server that a Wayland session keeps for old programs (XWayland): the others are not seen.
    package func isOnWayland(variable: (String) -> String?) -> Bool {
        !(variable("WAYLAND_DISPLAY") ?? "").isEmpty && variable("DISPLAY") == display
    }

    private static func ownDisplay(_ variable: (String) -> String?) throws(GantryError) -> String {
        if let display = variable("DISPLAY"), isDisplay(display[...]) { return display }
        if !(variable("WAYLAND_DISPLAY") ?? "").isEmpty {
            throw GantryError(
                .sourceNotFound,
                "The screen of a Wayland session cannot be sent yet. Log in to an X11 session (\"Xorg\" on the login "
                    + "screen), or let another program capture it and write YUV4MPEG2 to: gantry-producer run -")
        }
        throw GantryError(
            .sourceNotFound,
            "There is no screen here: DISPLAY is not set. Run this in a terminal on the desktop, or name its display, as "
                + "in: gantry-producer run screen::0")
    }

    /// `[HOST]:NUMBER[.SCREEN]`, without anything that could mean more to others.
    private static func isDisplay(_ text: some StringProtocol) -> Bool {
        guard text.utf8.count <= 255, let colon = text.lastIndex(of: ":") else { return false }
        let number = text[text.index(after: colon)...]
        return number.first.map { $0.isASCII && $0.isNumber } == true
            && number.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
            && text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._/[]:".contains($0)) }
    }

    private static func malformed(_ text: String) -> GantryError {
        GantryError(
            .invalidArgument,
            "\"\(text.prefix(60))\" is no screen. It is written: screen, screen::1, or with a part of it, "
                + "screen,640x480+0+0 (width, height, left, top; at least 16x16).")
    }
}

extension ScreenPlace.Region {
    /// `WIDTHxHEIGHT+LEFT+TOP`.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "+", omittingEmptySubsequences: false)
        guard parts.count == 3, let left = Self.number(parts[1]), let top = Self.number(parts[2]) else { return nil }
        let sides = parts[0].split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = Self.number(sides[0]), let height = Self.number(sides[1]),
            16...Picture.maximumSide ~= width, 16...Picture.maximumSide ~= height
        else { return nil }
        self.init(width: width, height: height, left: left, top: top)
    }

    /// At most five digits.
    private static func number(_ text: some StringProtocol) -> Int? {
        guard 1...5 ~= text.utf8.count, text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
            return nil
        }
        return Int(text)
    }
}
