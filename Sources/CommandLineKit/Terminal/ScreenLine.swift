/// One line of a screen: complete with its colours and their reset, without control of the cursor.
package struct ScreenLine: Sendable, Hashable {
    package let text: String
    /// Cells that it takes.
    package let columns: Int

    /// - Parameter columns: for text with colours, which do not count.
    package init(_ text: String, columns: Int) {
        self.text = text
        self.columns = columns
    }

    /// For text without colours. What could move the cursor becomes "?"; cut at `limit` cells.
    package init(_ text: String, limit: Int = .max) {
        self.text = TextCells.printable(text, limit: limit)
        columns = TextCells.width(self.text)
    }
}
