import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryMedia

/// A code of the length that pairing makes: 90 characters of the alphanumeric set.
let sampleCode =
    "GANTRY:1/ABCDEFGHIJKLM2345672ABCDEFGHIJKLM2345672ABCDEFGHIJKQ/QRSTUVWXYZ234QRSTUVWXYZ234"

@Suite struct QRDrawingTests {
    private func zbarimg(_ path: String) async throws -> String {
        try await Oracle.check(["zbarimg", "-q", "--raw", "-Sdisable", "-Sqrcode.enable", path]).text
            .trimmingCharacters(in: .newlines)
    }

    @Test func thePairingCodeIsVersion4AndFitsAsPromised() throws {
        let code = try QRCode(sampleCode)
        #expect(sampleCode.count == 88)
        #expect(code.size == 33)
        let drawing = QRTerminal(code)
        #expect((drawing.columns, drawing.rows) == (37, 19))
        #expect(drawing.lines.count == 19)
        let option = QRTerminal(try QRCode(sampleCode + "/A192.168.100.200:54321"), quietZone: 4)
        #expect((option.columns, option.rows) == (45, 23))
    }

    @Test(arguments: [1, 8, 10]) func thePNGIsReadByZBar(moduleSize: Int) async throws {
        let folder = try TestFolder()
        let path = folder.file("c.png")
        try QRImage.writePNG(try QRCode(sampleCode), to: path, moduleSize: moduleSize)
        let size = try await Oracle.check(["identify", "-format", "%wx%h", path]).text
        #expect(size == "\(41 * moduleSize)x\(41 * moduleSize)")
        if moduleSize > 1 { #expect(try await zbarimg(path) == sampleCode) }
    }

    @Test func theSVGIsReadByZBar() async throws {
        let folder = try TestFolder()
        try QRImage.writeSVG(try QRCode(sampleCode), to: folder.file("c.svg"))
        _ = try await Oracle.check([
            "python3", "-c", "import sys, xml.dom.minidom as m; m.parse(sys.argv[1])", folder.file("c.svg"),
        ])
        // ImageMagick's own renderer: drawn by another program.
        _ = try await Oracle.check(["convert", "msvg:" + folder.file("c.svg"), folder.file("c.png")])
        #expect(try await zbarimg(folder.file("c.png")) == sampleCode)
    }

    @Test(arguments: [2, 4]) func theTerminalDrawingIsReadByZBar(quietZone: Int) async throws {
        let drawing = QRTerminal(try QRCode(sampleCode), quietZone: quietZone)
        let bitmap = try TerminalBitmap(drawing.lines)
        #expect(bitmap.width == drawing.columns)
        #expect(bitmap.rows.count == 2 * drawing.rows)
        let folder = try TestFolder()
        let path = folder.file("t.png")
        var image = "P1\n\(bitmap.width) \(bitmap.rows.count)\n"
        for row in bitmap.rows { image += row.map { $0 ? "1" : "0" }.joined(separator: " ") + "\n" }
        _ = try await Oracle.check(["convert", "pbm:-", "-scale", "600%", path], input: Data(image.utf8))
        #expect(try await zbarimg(path) == sampleCode)
    }

    @Test func aSmallTerminalIsToldItsMeasure() throws {
        let drawing = QRTerminal(try QRCode(sampleCode))
        #expect(try drawing.lines(columns: 37, rows: 19).count == 19)
        for (columns, rows) in [(36, 19), (37, 18), (0, 0)] {
            do throws(GantryError) {
                _ = try drawing.lines(columns: columns, rows: rows)
                Issue.record("\(columns)x\(rows) was accepted")
            } catch {
                #expect(error.message.contains("37 columns and 19 lines"))
                #expect(error.message.contains("Enlarge the terminal"))
            }
        }
    }

    @Test func impossibleTextsAreRefused() {
        #expect(throws: GantryError.self) { try QRCode("") }
        #expect(throws: GantryError.self) { try QRCode("A\0B") }
        #expect(throws: GantryError.self) { try QRCode(String(repeating: "A", count: 5000)) }
    }
}

/// Turns half blocks and colour sequences back into dots: a terminal for one kind of picture.
struct TerminalBitmap {
    var rows: [[Bool]] = []
    var width: Int { rows.first?.count ?? 0 }

    struct Unexpected: Error { let text: String }

    init(_ lines: [String]) throws {
        for line in lines {
            var (upper, lower): ([Bool], [Bool]) = ([], [])
            var (foreground, background) = (false, false)
            var rest = Substring(line)
            while let first = rest.first {
                if first == "\u{1B}" {
                    guard let end = rest.firstIndex(of: "m") else { throw Unexpected(text: String(rest)) }
                    let numbers = rest[..<end].dropFirst(2).split(separator: ";").compactMap { Int($0) }
                    if numbers.count == 6 { (foreground, background) = (numbers[2] == 16, numbers[5] == 16) }
                    rest = rest[end...].dropFirst()
                    continue
                }
                guard first == " " || first == "\u{2580}" else { throw Unexpected(text: String(first)) }
                upper.append(first == " " ? background : foreground)
                lower.append(background)
                rest = rest.dropFirst()
            }
            rows += [upper, lower]
        }
    }
}
