import CSDL2

/// What the keys of the window do.
enum PreviewKey: Hashable {
    case command(PreviewCommand)
    /// Fill the screen, or not.
    case fullScreen
    /// A quarter turn clockwise.
    case rotate
    case statistics
    case help
    /// Leaves full screen; otherwise closes.
    case escape

    /// Of a key that was pressed; nil for one that means nothing, and together with Control, Alt or the like, which belong to
    /// the window manager.
    ///
    /// - Parameters:
    ///   - symbol: as `SDL_Keysym.sym`: what is printed on the key of this keyboard's layout.
    ///   - modifiers: as `SDL_Keysym.mod`.
    init?(symbol: Int32, modifiers: UInt16, isRepeated: Bool) {
        let others = KMOD_CTRL.rawValue | KMOD_ALT.rawValue | KMOD_GUI.rawValue
        guard UInt32(modifiers) & others == 0 else { return nil }
        guard let key = Self.plain(SDL_KeyCode(UInt32(bitPattern: symbol)), modifiers) else { return nil }
        // A key that is held moves on through a replay, and turns nothing on and off.
        guard !isRepeated || key == .command(.back) || key == .command(.forward) else { return nil }
        self = key
    }

    private static func plain(_ code: SDL_KeyCode, _ modifiers: UInt16) -> Self? {
        switch code {
        case SDLK_s: .command(.snapshot)
        case SDLK_r: .command(.record)
        case SDLK_LEFT: .command(.back)
        case SDLK_RIGHT: .command(.forward)
        case SDLK_l: .command(.live)
        case SDLK_m: .command(.mute)
        case SDLK_SPACE: .command(.pause)
        case SDLK_q: .command(.close)
        case SDLK_f: .fullScreen
        case SDLK_o: .rotate
        case SDLK_i: .statistics
        case SDLK_h, SDLK_F1, SDLK_QUESTION: .help
        case SDLK_SLASH where UInt32(modifiers) & KMOD_SHIFT.rawValue != 0: .help
        case SDLK_ESCAPE: .escape
        default: nil
        }
    }

    /// The table that `h` shows.
    static let table: [(key: String, meaning: String)] = [
        ("f", "full screen (double click)"), ("o", "turn by 90 degrees"), ("i", "figures, latency, sound level"),
        ("s", "snapshot"), ("r", "record, end recording"), ("left right", "replay: 5 s back, forward"),
        ("l", "live again"), ("m", "mute"), ("space", "pause, go on"), ("h ?", "these keys"), ("q Esc", "end"),
    ]
}
