import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import StudioKit

/// Shows the pairing code: drawn on the terminal's alternate screen (so that it does not stay in the scrollback), as
/// text, as PNG or SVG.
final class CodeDisplay: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let json: Bool
    private let asText: Bool
    private let png: String?
    private let svg: String?
    private let lock = Lock()
    private var isDrawn = false
    private var isClosed = false
    private var storedFailure: GantryError?

    private static let enterAlternateScreen = "\u{1B}[?1049h\u{1B}[2J\u{1B}[H"
    private static let leaveAlternateScreen = "\u{1B}[?1049l"

    init(json: Bool, asText: Bool, png: String?, svg: String?) {
        self.json = json
        self.asText = asText
        self.png = png
        self.svg = svg
    }

    /// Why the code could not be shown, or not in every way that was asked for.
    var failure: GantryError? { lock.withLock { storedFailure } }

    /// - Parameter cancel: called when the code cannot be shown in any way.
    func show(_ event: StudioPairing.Event, cancel: () -> Void) {
        switch event {
        case .code(let text, let life):
            do throws(GantryError) {
                try show(code: text, life: life)
            } catch {
                lock.withLock { storedFailure = error }
                close()
                cancel()
            }
        case .pairedProducerFound, .discoveryUnavailable, .alarm: break
        case .comparison(let number, _):
            if json {
                emit([.init("event", "comparison"), .init("number", .string(number))])
            } else {
                write("The producer shows the number \(number).\n")
            }
        case .attemptFailed(let error):
            if json {
                emit([.init("event", "attemptFailed"), .init("message", .string(error.description))])
            } else {
                write("An attempt failed: \(error)\n")
            }
        }
    }

    /// Gives the terminal back. Any number of times.
    func close() {
        lock.withLock {
            isClosed = true
            if isDrawn { StandardStreams.writeOutput(Self.leaveAlternateScreen) }
            isDrawn = false
        }
    }

    private func show(code text: String, life: Int) throws(GantryError) {
        let code = try QRCode(text)
        if let png { try QRImage.writePNG(code, to: png) }
        if let svg { try QRImage.writeSVG(code, to: svg) }
        if json {
            var fields: [JSONValue.Member] = [.init("event", "code"), .init("lifeSeconds", .integer(Int64(life)))]
            if asText { fields.append(.init("code", .string(text))) }
            return emit(fields)
        }
        if asText { return StandardStreams.writeOutput(text + "\n") }
        guard StandardStreams.isOutputTerminal else {
            if png != nil || svg != nil {
                return write("The code is in \([png, svg].compactMap { $0 }.joined(separator: " and ")).\n")
            }
            throw GantryError(
                .invalidArgument,
                "Standard output is not a terminal, so the code cannot be drawn. Add --text, --png FILE or --svg FILE.")
        }
        try draw(code, life: life)
    }

    private func draw(_ code: QRCode, life: Int) throws(GantryError) {
        let size = TerminalSize.current
        // Two lines below the code say what to do.
        let lines = try QRTerminal(code).lines(columns: size.columns, rows: size.rows - 2)
        let text =
            Self.enterAlternateScreen + lines.joined(separator: "\r\n")
            + "\r\nScan it there: gantry-producer pair. New code in \(life) s. Ctrl-C cancels.\r\n"
        lock.withLock {
            if isClosed { return }
            isDrawn = true
            StandardStreams.writeOutput(text)
        }
    }

    private func write(_ line: String) { StandardStreams.writeError(line) }

    private func emit(_ fields: [JSONValue.Member]) {
        StandardStreams.writeOutput(JSONValue.object(fields).text + "\n")
    }
}
