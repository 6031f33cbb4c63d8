import CommandLineKit
import GantryCore
import GantryMedia
import GantryPlatform
import Glibc
import StudioKit

/// Shows what a pairing window tells: the code on the terminal's alternate screen, as text or as pictures; events as
/// JSON lines. Asks for the comparison.
///
/// `show` is called by one task; the rest by any thread.
final class CodeDisplay: @unchecked Sendable {  // `storedFailure` and `kept` are guarded by `lock`.
    private let json: Bool
    private let asText: Bool
    private let pictures: CodePictures
    private let screen: CodeScreen?
    private let question = ComparisonQuestion()
    private let lock = Lock()
    private var storedFailure: GantryError?
    /// Lines for standard error, when it is seen again.
    private var kept: [String] = []

    private static let keptLimit = 32
    private static let instructions = [
        "On the producer's machine: gantry-producer pair --camera auto",
        "Without a camera: gantry-studio pair --text, pasted into gantry-producer pair",
        "Ctrl-C cancels.",
    ]

    /// - Parameter windowEnds: when the pairing window closes.
    /// - Throws: `invalidArgument` when the code could not be shown in any way.
    init(json: Bool, asText: Bool, pictures: CodePictures, windowEnds: MediaTimestamp) throws(GantryError) {
        self.json = json
        self.asText = asText
        self.pictures = pictures
        if json || asText {
            screen = nil
        } else if CodeScreen.isPossible() {
            screen = try CodeScreen(instructions: Self.instructions, windowEnds: windowEnds)
        } else {
            screen = nil
            guard !pictures.paths.isEmpty else {
                throw GantryError(
                    .invalidArgument,
                    "Standard output is not a terminal that can draw the code. Add --text, --png FILE or --svg FILE.")
            }
        }
        // Log lines must not run through the code.
        if screen != nil, isatty(STDERR_FILENO) == 1 { Log.setSink { [weak self] in self?.tell($0) } }
    }

    /// Why the code could not be shown, or not in every way that was asked for.
    var failure: GantryError? { lock.withLock { storedFailure } }

    /// Cancels `pairing` when the code cannot be shown in every way that was asked for.
    func show(_ event: StudioPairing.Event, of pairing: StudioPairing) {
        switch event {
        case .code(let text, let life):
            do throws(GantryError) {
                try show(code: text, life: life)
            } catch {
                lock.withLock { storedFailure = error }
                pairing.cancel()
            }
        case .pairedProducerFound(let name):
            if json { return emit("pairedProducerFound", [.init("name", .string(name))]) }
            note("\(name) is paired already: gantry-studio receive \(ShellWord.quoted(name))")
        case .discoveryUnavailable(let error):
            if json { return emit("discoveryUnavailable", [.init("message", .string(error.description))]) }
            note("Only the address in the code leads here. \(error)")
        // `PairCommand` ends with it.
        case .alarm: break
        case .comparison(let number, let needsAnswer): compare(number, needsAnswer: needsAnswer, pairing)
        case .comparisonEnded:
            question.takeBack()
            if json { return emit("comparisonEnded", []) }
            screen?.unhide()
        case .attemptFailed(let error):
            if json { return emit("attemptFailed", [.init("message", .string(error.description))]) }
            screen?.unhide()
            note("An attempt failed: \(error)")
        }
    }

    /// Gives the terminal back and removes the pictures. Any number of times.
    func close() {
        question.close()
        pictures.remove()
        screen?.close()
        if screen != nil { Log.setSink(nil) }
        let lines = lock.withLock {
            defer { kept = [] }
            return kept
        }
        for line in lines { StandardStreams.writeError(line) }
    }

    /// As `close`, for a process that ends at once.
    func abandon() {
        screen?.giveBack()
        pictures.remove()
    }

    // MARK: Events

    /// - Parameter text: wiped at the end.
    private func show(code text: String, life: Int) throws(GantryError) {
        var text = text
        defer { SecretText.wipe(&text) }
        // Not drawn where nothing is to be drawn: each drawing is another copy.
        if !pictures.paths.isEmpty { try pictures.write(try QRCode(text)) }
        if json {
            var fields: [JSONValue.Member] = [.init("lifeSeconds", .integer(Int64(life)))]
            if asText { fields.append(.init("code", .string(text))) }
            emit("code", fields)
            return
        }
        if asText {
            var line = text + "\n"
            StandardStreams.writeOutput(line)
            SecretText.wipe(&line)
            return StandardStreams.writeError("The code is good for \(life) s.\n")
        }
        guard let screen else {
            let names = pictures.paths.joined(separator: " and ")
            return StandardStreams.writeError("The code is in \(names), good for \(life) s.\n")
        }
        let code = try QRCode(text)
        // What the standard asks for, and what is read as well (see QRTerminal).
        let drawings = [QRTerminal(code, quietZone: 4), QRTerminal(code, quietZone: 2)]
        screen.show(
            drawings.map { .init(columns: $0.columns, lines: $0.lines) },
            until: MonotonicClock.now() + .seconds(Int64(life)))
    }

    private func compare(_ number: String, needsAnswer: Bool, _ pairing: StudioPairing) {
        if json {
            emit("comparison", [.init("number", .string(number)), .init("needsAnswer", .bool(needsAnswer))])
        }
        guard needsAnswer else {
            if !json { note("The producer shows the number \(number).") }
            return
        }
        do throws(GantryError) {
            try question.ask(
                number, before: { [screen] in screen?.hide() },
                answered: { [screen] isSame in
                    pairing.confirm(isSame, number: number)
                    // After "yes" all is said, unless the attempt fails.
                    if !isSame { screen?.unhide() }
                })
        } catch {
            pairing.confirm(false, number: number)
            note("The question could not be asked: \(error)")
        }
    }

    // MARK: Lines

    /// A line that matters while the window is open and afterwards.
    private func note(_ line: String) {
        guard let screen else { return StandardStreams.writeError(line + "\n") }
        screen.add(message: line)
        keep(line + "\n")
    }

    /// A line of the log, with its line end.
    private func tell(_ line: String) {
        screen?.add(message: String(line.dropLast()))
        keep(line)
    }

    private func keep(_ line: String) {
        lock.withLock { kept = (kept.filter { $0 != line } + [line]).suffix(Self.keptLimit) }
    }

    private func emit(_ event: String, _ fields: [JSONValue.Member]) {
        var line = ""
        // The code may be in it: what grows leaves copies behind.
        line.reserveCapacity(1024)
        JSONValue.object([.init("event", .string(event))] + fields).write(to: &line)
        line += "\n"
        StandardStreams.writeOutput(line)
        SecretText.wipe(&line)
    }
}
