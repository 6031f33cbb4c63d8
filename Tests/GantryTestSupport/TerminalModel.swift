/// What a terminal would show: the little of ECMA-48 and xterm that our tools and a shell use. All that it does not
/// know is kept in `unknown`.
package struct TerminalModel: Sendable {
    package struct Cell: Sendable, Hashable {
        package var character: Character = " "
        /// Indices of the palette of 256, or `direct` and 0xRRGGBB; nil is the terminal's own.
        package var foreground: Int?
        package var background: Int?
    }

    /// Marks a colour of 24 bits.
    package static let direct = 1 << 24

    package private(set) var columns: Int
    package private(set) var rows: Int
    package private(set) var isAlternate = false
    package private(set) var isCursorShown = true
    /// How often the alternate screen was entered and left.
    package private(set) var enterCount = 0
    package private(set) var leaveCount = 0
    /// Lines that went out of the usual screen at the top.
    package private(set) var scrollback: [String] = []
    package private(set) var unknown: [String] = []

    private var usual: [[Cell]]
    private var alternate: [[Cell]]
    private var pen = Cell()
    private var row = 0
    private var column = 0
    private var saved = (row: 0, column: 0)
    private var pending: [UInt8] = []

    package init(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        usual = Self.blank(columns, rows)
        alternate = usual
    }

    /// The cells that are seen now.
    package var cells: [[Cell]] { isAlternate ? alternate : usual }
    /// The text that is seen now, blanks at the ends of the lines cut off.
    package var text: String { Self.text(cells) }
    /// All that a user finds on the usual screen and by scrolling back.
    package var usualText: String { (scrollback + [Self.text(usual)]).joined(separator: "\n") }

    package mutating func resize(columns: Int, rows: Int) {
        self.columns = columns
        self.rows = rows
        for screen in [\Self.usual, \Self.alternate] {
            var new = Self.blank(columns, rows)
            for (y, line) in self[keyPath: screen].prefix(rows).enumerated() {
                for (x, cell) in line.prefix(columns).enumerated() { new[y][x] = cell }
            }
            self[keyPath: screen] = new
        }
        row = min(row, rows - 1)
        column = min(column, columns)
        saved = (min(saved.row, rows - 1), min(saved.column, columns))
    }

    package mutating func feed(_ bytes: [UInt8]) {
        pending += bytes
        var rest = pending[...]
        while let first = rest.first {
            let taken = first == 0x1B ? takeEscape(rest) : takeCharacter(rest)
            guard taken > 0 else { break }
            rest = rest.dropFirst(taken)
        }
        pending = Array(rest)
    }

    // MARK: One piece

    /// Bytes used; 0 when more are needed.
    private mutating func takeCharacter(_ bytes: ArraySlice<UInt8>) -> Int {
        guard let first = bytes.first else { return 0 }
        switch first {
        case 0x0D: column = 0
        case 0x0A: lineFeed()
        case 0x08: column = max(0, min(column, columns - 1) - 1)
        case 0x00..<0x20: break
        default:
            let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            guard bytes.count >= length else { return 0 }
            for character in String(decoding: bytes.prefix(length), as: UTF8.self) { put(character) }
            return length
        }
        return 1
    }

    private mutating func takeEscape(_ bytes: ArraySlice<UInt8>) -> Int {
        let bytes = Array(bytes)
        guard bytes.count >= 2 else { return 0 }
        guard bytes[1] == UInt8(ascii: "[") else {
            unknown.append(String(decoding: bytes.prefix(2), as: UTF8.self))
            return 2
        }
        guard let end = bytes[2...].firstIndex(where: { 0x40...0x7E ~= $0 }) else { return 0 }
        control(String(decoding: bytes[2..<end], as: UTF8.self), bytes[end])
        return end + 1
    }

    private mutating func control(_ parameters: String, _ final: UInt8) {
        let numbers = parameters.split(separator: ";", omittingEmptySubsequences: false).map { Int($0) ?? 0 }
        switch (final, parameters) {
        case (UInt8(ascii: "H"), _):
            row = min(max(1, numbers.first ?? 1), rows) - 1
            column = min(max(1, numbers.count > 1 ? numbers[1] : 1), columns) - 1
        case (UInt8(ascii: "J"), "2"): erase(0..<rows, from: 0)
        case (UInt8(ascii: "J"), ""), (UInt8(ascii: "J"), "0"):
            erase(row..<row + 1, from: column)
            erase(row + 1..<rows, from: 0)
        // After a full line the cursor stands on its last cell.
        case (UInt8(ascii: "K"), ""), (UInt8(ascii: "K"), "0"):
            erase(row..<row + 1, from: min(column, columns - 1))
        case (UInt8(ascii: "A"), _): row = max(0, row - max(1, numbers.first ?? 1))
        case (UInt8(ascii: "C"), _): column = min(columns - 1, column + max(1, numbers.first ?? 1))
        case (UInt8(ascii: "m"), _): color(numbers)
        case (UInt8(ascii: "h"), "?1049"): enter()
        case (UInt8(ascii: "l"), "?1049"): leave()
        case (UInt8(ascii: "h"), "?25"): isCursorShown = true
        case (UInt8(ascii: "l"), "?25"): isCursorShown = false
        // Bracketed paste, of the shell.
        case (_, "?2004"): break
        default: unknown.append(parameters + String(decoding: [final], as: UTF8.self))
        }
    }

    private mutating func color(_ numbers: [Int]) {
        var rest = numbers[...]
        while let number = rest.popFirst() {
            switch number {
            case 0: pen = Cell()
            // Bold and faint change no cell here.
            case 1, 2: break
            case 30...37: pen.foreground = number - 30
            case 38, 48:
                guard let color = Self.color(&rest) else { return }
                if number == 38 { pen.foreground = color } else { pen.background = color }
            default: unknown.append("\(number)m")
            }
        }
    }

    /// What follows 38 or 48.
    private static func color(_ rest: inout ArraySlice<Int>) -> Int? {
        switch rest.popFirst() {
        case 5: return rest.popFirst()
        case 2:
            guard let red = rest.popFirst(), let green = rest.popFirst(), let blue = rest.popFirst() else { return nil }
            return direct | red << 16 | green << 8 | blue
        default: return nil
        }
    }

    private mutating func enter() {
        enterCount += 1
        guard !isAlternate else { return }
        saved = (row, column)
        isAlternate = true
        alternate = Self.blank(columns, rows)
    }

    private mutating func leave() {
        leaveCount += 1
        guard isAlternate else { return }
        isAlternate = false
        (row, column) = saved
    }

    private mutating func put(_ character: Character) {
        if column >= columns {
            column = 0
            lineFeed()
        }
        var cell = pen
        cell.character = character
        if isAlternate { alternate[row][column] = cell } else { usual[row][column] = cell }
        column += 1
    }

    private mutating func lineFeed() {
        guard row == rows - 1 else {
            row += 1
            return
        }
        let blank = [Cell](repeating: Cell(), count: columns)
        if isAlternate {
            alternate = Array(alternate.dropFirst()) + [blank]
        } else {
            scrollback.append(Self.text([usual[0]]))
            usual = Array(usual.dropFirst()) + [blank]
        }
    }

    private mutating func erase(_ lines: Range<Int>, from first: Int) {
        for y in lines {
            for x in first..<columns {
                if isAlternate { alternate[y][x] = Cell() } else { usual[y][x] = Cell() }
            }
        }
    }

    private static func blank(_ columns: Int, _ rows: Int) -> [[Cell]] {
        [[Cell]](repeating: [Cell](repeating: Cell(), count: columns), count: rows)
    }

    private static func text(_ cells: [[Cell]]) -> String {
        cells.map { line in
            let text = String(line.map(\.character))
            return String(text.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}

extension TerminalModel {
    /// The cells as a grey picture (PGM), two pixels a cell as half blocks have them, each `scale` times as large; the
    /// terminal's own colours are grey, so that only explicit ones make a code.
    package func picture(scale: Int = 4) -> [UInt8] {
        func grey(_ color: Int?) -> UInt8 { color == 16 ? 0 : color == 231 ? 255 : 128 }
        var pixels = Array("P5 \(columns * scale) \(rows * 2 * scale) 255\n".utf8)
        for line in cells {
            for half in 0..<2 {
                let values = line.map {
                    half == 0 && $0.character == "\u{2580}" ? grey($0.foreground) : grey($0.background)
                }
                let wide = values.flatMap { [UInt8](repeating: $0, count: scale) }
                for _ in 0..<scale { pixels += wide }
            }
        }
        return pixels
    }
}
