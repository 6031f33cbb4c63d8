import GantryMedia

/// Panels of nothing but lines: the keys, a message, what is going on.
enum TextPanel {
    /// The table of keys.
    static func drawHelp(on canvas: Canvas, scale: Int) {
        let keys = PreviewKey.table
        let indent = (keys.map { BitmapFont.width($0.key) }.max() ?? 0) + 2 * BitmapFont.advance
        let widest = keys.map { indent + BitmapFont.width($0.meaning) }.max() ?? 0
        begin(canvas, squares: widest, lines: keys.count, scale)
        for (number, row) in keys.enumerated() {
            let y = (PanelStyle.margin + number * PanelStyle.line) * scale
            canvas.text(row.key, x: PanelStyle.margin * scale, y: y, scale: scale, PanelStyle.bright)
            canvas.text(
                row.meaning, x: (PanelStyle.margin + indent) * scale, y: y, scale: scale, PanelStyle.middle)
        }
    }

    /// Some lines, each with its colour, cut off where they are wider than `width` pixels.
    static func draw(
        _ lines: [(text: String, color: Canvas.Color)], on canvas: Canvas, scale: Int, width: Int
    ) {
        let room = width / scale - 2 * PanelStyle.margin
        let texts = lines.map { PanelStyle.shortened($0.text, squares: room) }
        begin(canvas, squares: texts.map(BitmapFont.width).max() ?? 0, lines: lines.count, scale)
        for (number, text) in texts.enumerated() {
            let y = (PanelStyle.margin + number * PanelStyle.line) * scale
            canvas.text(text, x: PanelStyle.margin * scale, y: y, scale: scale, lines[number].color)
        }
    }

    private static func begin(_ canvas: Canvas, squares: Int, lines: Int, _ scale: Int) {
        let height = 2 * PanelStyle.margin + lines * PanelStyle.line - (PanelStyle.line - BitmapFont.rows)
        canvas.begin(
            width: (squares + 2 * PanelStyle.margin) * scale, height: height * scale, PanelStyle.ground)
    }
}
