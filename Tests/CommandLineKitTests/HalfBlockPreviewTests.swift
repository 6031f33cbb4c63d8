import CommandLineKit
import GantryTestSupport
import Testing

@Suite struct HalfBlockPreviewTests {
    private static let pixels: [UInt32] = [
        0xFF0000, 0x00FF00, 0x0000FF,
        0xFFFFFF, 0x000000, 0x808080,
        0x123456, 0x123456, 0x123456,
        0x123456, 0x123456, 0x123456,
    ]

    /// The cells that a terminal shows of it.
    private static func shown(_ pixels: [UInt32], width: Int, _ depth: ColorDepth) -> TerminalModel {
        var model = TerminalModel(columns: 20, rows: 10)
        for line in HalfBlockPreview.lines(pixels, width: width, depth: depth) {
            model.feed(Array((line.text + "\r\n").utf8))
        }
        return model
    }

    @Test func directColoursAreThePixels() {
        let model = Self.shown(Self.pixels, width: 3, .direct)
        for (index, pixel) in Self.pixels.enumerated() {
            let cell = model.cells[index / 6][index % 3]
            let color = index / 3 % 2 == 0 ? cell.foreground : cell.background
            #expect(cell.character == "\u{2580}")
            #expect(color == TerminalModel.direct | Int(pixel))
        }
        #expect(model.cells[0][3].background == nil, "the colours are reset")
        #expect(model.unknown.isEmpty)
    }

    /// Against the palette of xterm (256colres.h): the cube's levels and the greys, searched whole.
    @Test func indexedColoursAreTheNearest() {
        let levels = [0, 95, 135, 175, 215, 255]
        var palette: [Int: [Int]] = [:]
        for red in 0..<6 {
            for green in 0..<6 {
                for blue in 0..<6 {
                    palette[16 + 36 * red + 6 * green + blue] = [levels[red], levels[green], levels[blue]]
                }
            }
        }
        for grey in 0..<24 { palette[232 + grey] = [8 + 10 * grey, 8 + 10 * grey, 8 + 10 * grey] }
        var random = SeededRandom(seed: 7)
        let pixels = (0..<400).map { _ in UInt32.random(in: 0...0xFFFFFF, using: &random) } + Self.pixels.prefix(6)
        for pixel in pixels {
            let model = Self.shown([pixel, pixel], width: 1, .indexed)
            let parts = [16, 8, 0].map { Int(pixel >> $0 & 255) }
            func distance(_ other: [Int]) -> Int {
                zip(parts, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
            }
            let best = palette.values.map(distance).min() ?? 0
            let index = model.cells[0][0].foreground ?? -1
            #expect(model.cells[0][0].background == index)
            #expect(palette[index].map(distance) == best, "\(pixel) as \(index)")
        }
    }

    @Test func withoutColoursThereAreShades() {
        let pixels: [UInt32] = [0, 0x404040, 0x808080, 0xB0B0B0, 0xFFFFFF]
        let lines = HalfBlockPreview.lines(pixels + pixels, width: 5, depth: .shades)
        #expect(lines.map(\.text) == [" ░▒▓█"])
    }

    @Test func equalColoursAreWrittenOnce() {
        let line = HalfBlockPreview.lines([UInt32](repeating: 5, count: 80), width: 40, depth: .direct)[0]
        #expect(line.columns == 40)
        #expect(line.text.utf8.count { $0 == 0x1B } == 2)
    }

    @Test func oddAndEmptyPicturesDoNoHarm() {
        #expect(HalfBlockPreview.lines([], width: 4, depth: .direct).isEmpty)
        #expect(HalfBlockPreview.lines([1, 2, 3], width: 0, depth: .direct).isEmpty)
        #expect(HalfBlockPreview.lines([1, 2, 3, 4, 5], width: 1, depth: .shades).count == 2)
    }

    @Test func theSizeKeepsTheShape() throws {
        func size(_ width: Int, _ height: Int, _ columns: Int = 200, _ rows: Int = 50) -> [Int]? {
            HalfBlockPreview.size(ofPicture: width, height, columns: columns, rows: rows).map { [$0.width, $0.height] }
        }
        #expect(size(1280, 720) == [40, 22])
        #expect(size(640, 480) == [40, 30])
        #expect(size(480, 640) == [30, 40])
        #expect(size(640, 480, 200, 10) == [26, 20])
        #expect(size(8192, 16) == [40, 2])
        #expect(size(16, 8192) == [2, 40])
        #expect(size(640, 480, 7, 50) == nil && size(640, 480, 200, 3) == nil && size(0, 480) == nil)
    }

    @Test(
        arguments: [
            ("truecolor", "xterm", nil, ColorDepth.direct), ("24bit", "screen", "", .direct),
            (nil, "xterm-direct", nil, .direct), (nil, "xterm-256color", nil, .indexed), ("", "xterm", nil, .shades),
            (nil, nil, nil, .shades), ("truecolor", "xterm-256color", "1", .shades),
        ] as [(String?, String?, String?, ColorDepth)])
    func theTerminalSaysItsColours(colorTerm: String?, type: String?, noColor: String?, depth: ColorDepth) {
        #expect(ColorDepth(colorTerm: colorTerm, terminalType: type, noColor: noColor) == depth)
    }
}
