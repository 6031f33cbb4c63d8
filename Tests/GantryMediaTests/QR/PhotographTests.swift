import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

/// Photographs of a terminal, made from fixed seeds: each one a person would call readable, and each must be read.
@Suite struct PhotographTests {
    /// A dark or light terminal of 900x640 with the code, 370 pixels wide, in its middle.
    private func terminal(_ folder: TestFolder, isDark: Bool) async throws -> String {
        let path = folder.file("terminal.png")
        try QRImage.writePNG(try QRCode(sampleCode), to: folder.file("code.png"), moduleSize: 10)
        let (back, ink) = isDark ? ("#101418", "#c0c0c0") : ("#f4f4f0", "#303030")
        _ = try await Oracle.check([
            // The tool draws two modules of border; the picture has four.
            "convert", "-size", "900x640", "xc:" + back, "(", folder.file("code.png"), "-shave", "20x20", ")",
            "-gravity", "center", "-composite", "-fill", ink, "-draw",
            "rectangle 20,20 300,30 rectangle 20,600 700,612",
            "-depth", "8", path,
        ])
        return path
    }

    /// Makes all pictures of `changes` by one process and gives the numbers of those that were not read.
    private func unread(_ changes: [[String]], isDark: Bool, ending: String = "png") async throws -> [Int] {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        var arguments = ["convert", try await terminal(folder, isDark: isDark)]
        for (index, change) in changes.enumerated() {
            let write = ["-depth", "8", "-write", folder.file("\(index).\(ending)"), "+delete"]
            arguments += ["(", "+clone", "-seed", "\(index + 1)"] + change + write + [")"]
        }
        _ = try await Oracle.check(arguments + ["null:"])
        return try await onThread {
            try changes.indices.filter { index in
                do {
                    return try ImageFileScanner.scan(path: folder.file("\(index).\(ending)")) != sampleCode
                } catch let error as GantryError where error.code == .pairingCodeInvalid { return true }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func everyAngle(isDark: Bool) async throws {
        let changes = stride(from: 0, through: 345, by: 15).map { ["-background", "#706050", "-rotate", "\($0)"] }
        #expect(changes.count == 24)
        #expect(try await unread(changes, isDark: isDark) == [])
    }

    private static let noise = ["0.5", "1", "2", "3"].map { ["-attenuate", $0, "+noise", "Gaussian"] }
    private static let blur = ["1", "2", "3", "4"].map { ["-blur", "0x" + $0] }
    private static let motion = ["0x6+30", "0x10+30"].map { ["-motion-blur", $0] }
    private static let contrast = ["40", "60", "75", "85"].map {
        ["-brightness-contrast", "-20x-" + $0, "-attenuate", "0.2", "+noise", "Gaussian"]
    }
    private static let small = ["330x", "280x", "260x", "200x"].map { ["-resize", $0] }
    private static let perspective: [[String]] = [40, 80, 120, 160].flatMap { shift in
        [
            "0,0 \(shift),\(shift / 2) 900,0 900,0 0,640 0,640 900,640 \(900 - shift),\(640 - shift / 2)",
            "0,0 \(shift),\(shift) 900,0 \(900 - shift),\(shift) 0,640 0,640 900,640 900,640",
        ].map { ["-virtual-pixel", "gray", "-distort", "Perspective", $0, "-background", "gray", "-rotate", "12"] }
    }
    private static let light: [[String]] = [
        ["(", "-size", "900x640", "gradient:white-#303030", ")", "-compose", "multiply", "-composite"],
        ["(", "-size", "900x640", "radial-gradient:white-#101010", ")", "-compose", "multiply", "-composite"],
        // A reflection.
        [
            "(", "-size", "900x640", "radial-gradient:#c0c0c0-black", "-roll", "+120+80", ")", "-compose", "screen",
            "-composite",
        ],
        // A shadow with a sharp edge across the code.
        shadow("12%"), shadow("7%") + ["-attenuate", "0.2", "+noise", "Gaussian"],
    ]
    private static func shadow(_ depth: String) -> [String] {
        [
            "(", "+clone", "-fill", "black", "-colorize", "100", "-fill", "white", "-draw",
            "polygon 0,0 500,0 380,900 0,900", "-blur", "0x6", "+level", depth + ",100%", ")", "-compose", "multiply",
            "-composite",
        ]
    }
    private static let combined: [[String]] = [
        [
            "-background", "#605040", "-rotate", "33", "-brightness-contrast", "-10x-40", "-blur", "0x1", "-attenuate",
            "0.3", "+noise", "Gaussian",
        ],
        [
            "-negate", "-background", "white", "-rotate", "-8", "-blur", "0x1.5", "-attenuate", "0.5", "+noise",
            "Gaussian",
        ],
        ["-virtual-pixel", "gray", "-distort", "Barrel", "0.08 0.0 0.0"],
    ]

    @Test(.timeLimit(.minutes(10)), arguments: [true, false]) func everyFault(isDark: Bool) async throws {
        let changes =
            Self.noise + Self.blur + Self.motion + Self.contrast + Self.small + Self.perspective + Self.light
            + Self.combined
        #expect(changes.count == 34)
        let unread = try await unread(changes, isDark: isDark)
        #expect(unread == [], "\(unread.map { changes[$0] })")
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false]) func strongCompression(isDark: Bool) async throws {
        let changes = [10, 20, 30].flatMap { quality in
            ["500x", "900x"].map { ["-resize", $0, "-quality", "\(quality)"] }
        }
        #expect(try await unread(changes, isDark: isDark, ending: "jpg") == [])
    }

    /// 12 megapixels: the code in 1/8, 1/3 and most of the picture.
    @Test(.timeLimit(.minutes(10)), arguments: [500, 1200, 2500]) func largePhotographs(width: Int) async throws {
        let changes = [
            [
                "-resize", "\(width * 900 / 370)x", "-background", "#706050", "-gravity", "center", "-rotate", "5",
                "-extent", "4000x3000", "-blur", "0x1.5", "-attenuate", "0.4", "+noise", "Gaussian", "-quality", "80",
            ]
        ]
        #expect(try await unread(changes, isDark: true, ending: "jpg") == [])
    }

    /// Phones turn the picture by a note in the file (TIFF 6.0, tag 274), two kinds of which mirror it.
    @Test(arguments: 1...8) func everyOrientation(_ orientation: Int) async throws {
        let folder = try TestFolder()
        let names = [
            "TopLeft", "TopRight", "BottomRight", "BottomLeft", "LeftTop", "RightTop", "RightBottom", "LeftBottom",
        ]
        // What the camera stored, so that the note makes it upright.
        let stored = [
            [], ["-flop"], ["-rotate", "180"], ["-flip"], ["-transpose"], ["-rotate", "-90"], ["-transverse"],
            ["-rotate", "90"],
        ][orientation - 1]
        let path = folder.file("p.jpg")
        _ = try await Oracle.check(
            ["convert", try await terminal(folder, isDark: true)] + stored + ["-orient", names[orientation - 1], path])
        #expect(try ImageFileScanner.scan(path: path) == sampleCode)
    }

    @Test func amongTwoCodesOfOursTheValidOneWins() async throws {
        let folder = try TestFolder()
        let cut = String(sampleCode.dropLast(30))
        let other = "GANTRY:9/" + sampleCode.dropFirst(9)
        for (index, text) in [cut, other, "https://example.org/", sampleCode].enumerated() {
            try QRImage.writePNG(try QRCode(text), to: folder.file("\(index).png"), moduleSize: 6)
        }
        func file(_ index: Int) -> String { folder.file("\(index).png") }
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
            _ = try await Oracle.check(
                ["montage"] + order.map(file) + ["-tile", "2x2", "-geometry", "+20+20", folder.file("all.png")])
            #expect(try ImageFileScanner.scan(path: folder.file("all.png")) == sampleCode)
        }
        // Alone, each says what is wrong with it.
        for (index, code) in [(0, GantryError.Code.pairingCodeInvalid), (1, .pairingCodeVersion)] {
            do throws(GantryError) {
                _ = try ImageFileScanner.scan(path: file(index))
                Issue.record("code \(index) was accepted")
            } catch {
                #expect(error.code == code)
                #expect(!error.message.contains("ABCDEF"))
            }
        }
    }
}
