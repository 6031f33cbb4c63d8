import Foundation
import GantryCore
import GantryTestSupport
import Testing

@testable import GantryMedia

/// The code as real terminals draw it.
@Suite struct TerminalPictureTests {
    /// Starts an X server without a screen and a terminal in it, lets that draw a file, and takes a picture of it all.
    ///
    /// Arguments: a folder with the file `drawing`, then options of xterm.
    private static let script = #"""
        set -euo pipefail
        folder=$1
        shift
        cat >"$folder/show" <<'SHOW'
        #!/usr/bin/env bash
        printf '\e[?1049h\e[2J\e[H'
        cat "$1/drawing"
        # The terminal answers this when it has drawn all before it.
        printf '\e[6n'
        read -rsd R -t 60
        touch "$1/drawn"
        # Ends with the terminal, whether SIGHUP is ignored or not.
        read -rs -t 60 || true
        SHOW
        chmod +x "$folder/show"
        exec 5<>"$folder/display"
        Xvfb -displayfd 5 -screen 0 1280x1024x24 -nolisten tcp -noreset >/dev/null 2>&1 &
        server=$!
        terminal=
        finish() {
            # Nothing may be left: who waits for this script waits for them too.
            [[ -z $terminal ]] || kill -KILL "$terminal" || true
            kill "$server" || true
            for _ in {1..40}; do kill -0 "$server" || return 0; sleep 0.05; done
            kill -KILL "$server"
        }
        trap finish EXIT
        for _ in {1..600}; do [[ -s $folder/display ]] && break; sleep 0.05; done
        DISPLAY=:$(tr -d ' \n' <"$folder/display")
        export DISPLAY
        xterm -u8 -fa "DejaVu Sans Mono" "$@" -geometry 60x30+30+20 +sb -e "$folder/show" "$folder" &
        terminal=$!
        for _ in {1..600}; do [[ -e $folder/drawn ]] && break; sleep 0.05; done
        import -window root "$folder/screen.png"
        """#

    private static let hasTools = ["xterm", "Xvfb", "import"].allSatisfy { tool in
        FileManager.default.isExecutableFile(atPath: "/usr/bin/" + tool)
    }

    @Test(
        .enabled(if: hasTools, "xterm, Xvfb and ImageMagick are not installed: scripts/setup --test"),
        .timeLimit(.minutes(3)),
        arguments: [
            ["-fs", "8", "-fg", "white", "-bg", "black"],
            ["-fs", "11", "-fg", "black", "-bg", "white"],
            ["-fs", "14", "-fg", "gray80", "-bg", "#202830"],
            ["-fs", "20", "-fg", "#586e75", "-bg", "#fdf6e3"],
        ])
    func xtermIsRead(options: [String]) async throws {
        let folder = try TestFolder()
        let lines = QRTerminal(try QRCode(sampleCode)).lines
        try (lines.joined(separator: "\r\n") + "\r\nScan it there: gantry-producer pair.\r\n")
            .write(toFile: folder.file("drawing"), atomically: true, encoding: .utf8)
        _ = try await Oracle.check(["bash", "-c", Self.script, "xterm-picture", folder.path] + options)
        let screen = folder.file("screen.png")
        #expect(try ImageFileScanner.scan(path: screen) == sampleCode)

        // Photographed: from the side, turned, unsharp, with noise.
        _ = try await Oracle.check([
            "convert", screen, "-virtual-pixel", "gray", "-distort", "Perspective",
            "0,0 60,40 1280,0 1200,0 0,1024 0,1000 1280,1024 1270,1024", "-rotate", "8", "-resize", "1600x",
            "-blur", "0x1", "-seed", "3", "-attenuate", "0.3", "+noise", "Gaussian", "-quality", "60",
            folder.file("photo.jpg"),
        ])
        #expect(try ImageFileScanner.scan(path: folder.file("photo.jpg")) == sampleCode)
    }

    /// The console of Linux has 16 colours: a white background becomes light grey, a white foreground stays white
    /// (rgb_foreground and rgb_background of drivers/tty/vt/vt.c). One shade of light is thus 255, the other 170.
    @Test(arguments: [(8, 16), (16, 32), (8, 14), (12, 22)]) func theLinuxConsoleIsRead(width: Int, height: Int)
        async throws
    {
        let folder = try TestFolder()
        let lines = QRTerminal(try QRCode(sampleCode)).lines
        let picture = try ConsolePicture(lines, cellWidth: width, cellHeight: height)
        let path = folder.file("console.png")
        _ = try await Oracle.check(
            [
                "convert", "-size", "\(picture.width)x\(picture.height)", "-depth", "8", "gray:-", "-background",
                "black",
                "-gravity", "northwest", "-extent", "1024x768", path,
            ], input: Data(picture.pixels))
        #expect(try ImageFileScanner.scan(path: path) == sampleCode)
        _ = try await Oracle.check([
            "convert", path, "-background", "gray40", "-rotate", "21", "-blur", "0x1.2", "-seed", "8", "-attenuate",
            "0.4",
            "+noise", "Gaussian", "-quality", "50", folder.file("photo.jpg"),
        ])
        #expect(try ImageFileScanner.scan(path: folder.file("photo.jpg")) == sampleCode)
    }
}

/// Draws lines of half blocks as a frame buffer console does.
struct ConsolePicture {
    private(set) var pixels: [UInt8] = []
    let width: Int
    var height: Int { width == 0 ? 0 : pixels.count / width }

    init(_ lines: [String], cellWidth: Int, cellHeight: Int) throws {
        let bitmap = try TerminalBitmap(lines)
        width = bitmap.width * cellWidth
        for row in 0..<(bitmap.rows.count / 2) {
            let (upper, lower) = (bitmap.rows[2 * row], bitmap.rows[2 * row + 1])
            for y in 0..<cellHeight {
                for column in 0..<bitmap.width {
                    let isUpper = y < cellHeight / 2
                    let isDark = isUpper ? upper[column] : lower[column]
                    // A blank shows its background only.
                    let isForeground = isUpper && upper[column] != lower[column]
                    let shade: UInt8 = isDark ? 0 : isForeground ? 255 : 170
                    pixels += [UInt8](repeating: shade, count: cellWidth)
                }
            }
        }
    }
}
