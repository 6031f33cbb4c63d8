import GantryMedia

/// Colours and sizes that all panels share.
enum PanelStyle {
    static let ground: Canvas.Color = 0xDC0C_1014
    static let bright: Canvas.Color = 0xFFF2_F4F6
    static let middle: Canvas.Color = 0xFFC4_CAD0
    static let dim: Canvas.Color = 0xFF48_5058
    /// Behind bars.
    static let hollow: Canvas.Color = 0xF000_0000
    static let good: Canvas.Color = 0xFF4C_C38A
    static let fair: Canvas.Color = 0xFFE8_B33C
    static let bad: Canvas.Color = 0xFFE5_5B4D

    /// In squares of the letters: from the edge of a panel to what it holds, and from one line to the next.
    static let margin = 4
    static let line = 10

    /// Pixels to a square of the letters in a window of that size.
    static func scale(width: Int, height: Int) -> Int { max(1, min(8, min(width / 500, height / 300))) }

    /// What fits into so many squares, three dots in place of the rest.
    static func shortened(_ text: String, squares: Int) -> String {
        let most = max(1, (squares + 1) / BitmapFont.advance)
        return text.count <= most ? text : text.prefix(most - 1) + "…"
    }
}
