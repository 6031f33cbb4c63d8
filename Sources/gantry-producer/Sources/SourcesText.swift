import CommandLineKit
import GantryCore
import GantryMedia

/// The sources for people: the word to give on the left, what it is on the right. Pure.
struct SourcesText {
    private let inventory: SourceInventory
    private let controls: Bool
    /// Cells of the words on the left, and of the text on the right.
    private let left: Int
    private let right: Int

    /// Sizes that are listed for each kind of pixels; JSON has all.
    private static let sizeLimit = 6

    init(_ inventory: SourceInventory, columns: Int, controls: Bool) {
        self.inventory = inventory
        self.controls = controls
        let words = inventory.cameras.map(\.path) + inventory.microphones.map(\.name) + ["screen"]
        left = min(24, words.map { TextCells.width($0) }.max() ?? 0)
        right = max(30, min(columns, 120) - left - 5)
    }

    var text: String {
        section("Cameras", none: Self.reason(inventory.defaultCamera), inventory.cameras.map(camera))
            + section("Microphones", none: Self.reason(inventory.defaultMicrophone), microphones)
            + section("Screens", none: Self.reason(inventory.screen), screens)
            + "\n" + TextCells.wrapped(inventory.explanation, to: left + right + 4).map { $0 + "\n" }.joined()
            + TextCells.wrapped(
                "Others: gantry-producer run WORD [--audio MICROPHONE]. It also takes test, FILE, URL and - (see "
                    + "gantry-producer run --help).", to: left + right + 4
            ).map { $0 + "\n" }.joined()
    }

    private static func reason<Value>(_ result: Result<Value, GantryError>) -> String {
        if case .failure(let error) = result { return "\(error)" }
        return ""
    }

    private func section(_ title: String, none: String, _ rows: [(word: String, lines: [String])]) -> String {
        if rows.isEmpty { return "\(title)\n" + block("none", [none]) }
        return "\(title)\n" + rows.map { block($0.word, $0.lines) }.joined()
    }

    /// The word, and beside it the lines, wrapped.
    private func block(_ word: String, _ lines: [String]) -> String {
        let wrapped = lines.flatMap { TextCells.wrapped(TextCells.printable($0), to: right) }
        let indent = String(repeating: " ", count: left + 4)
        let shown = TextCells.printable(word)
        guard TextCells.width(shown) <= left else {
            return "  \(shown)\n" + wrapped.map { indent + $0 + "\n" }.joined()
        }
        let first = "  \(TextCells.padded(shown, to: left))  \(wrapped.first ?? "")"
        return ([first] + wrapped.dropFirst().map { indent + $0 }).map { $0 + "\n" }.joined()
    }

    // MARK: Cameras

    private func camera(_ camera: CameraInfo) -> (word: String, lines: [String]) {
        var lines = ["\(camera.name) (\(camera.isVirtual ? "virtual, " : "")\(camera.driver))"]
        lines += Self.modes(camera.modes)
        if let path = camera.stablePath { lines.append("Stays the same: \(path)") }
        if camera.isVirtual && camera.problem?.code == .unsupportedCodec {
            lines.append("Nobody shows anything in it now.")
        } else if let problem = camera.problem {
            lines.append("Cannot be used: \(problem)")
        }
        if controls && !camera.controls.isEmpty {
            lines.append("Controls, set by run --control NAME=VALUE:")
            lines += camera.controls.map(Self.control)
        }
        return (camera.path, lines)
    }

    /// Kinds of pixels with the same sizes stand together.
    static func modes(_ offers: [CameraOffer]) -> [String] {
        var groups: [(kinds: [String], sizes: String)] = []
        var kinds: [CameraPixels] = []
        for offer in offers where !kinds.contains(offer.pixels) { kinds.append(offer.pixels) }
        for kind in kinds {
            let sizes = sizes(offers.filter { $0.pixels == kind })
            if let index = groups.firstIndex(where: { $0.sizes == sizes }) {
                groups[index].kinds.append("\(kind)")
            } else {
                groups.append((["\(kind)"], sizes))
            }
        }
        return groups.map { "\($0.kinds.joined(separator: ", ")): \($0.sizes)" }
    }

    /// `1280x720@30`, the largest first, each with its highest rate.
    private static func sizes(_ offers: [CameraOffer]) -> String {
        var best: [CameraOffer] = []
        for offer in offers {
            let rate = offer.frameRate?.framesPerSecond ?? 0
            if let index = best.firstIndex(where: { $0.width == offer.width && $0.height == offer.height }) {
                if rate > best[index].frameRate?.framesPerSecond ?? 0 { best[index] = offer }
            } else {
                best.append(offer)
            }
        }
        func area(_ offer: CameraOffer) -> Int { offer.width.upperBound &* offer.height.upperBound }
        best.sort { area($0) > area($1) }
        let shown = best.prefix(sizeLimit).map { offer in
            let least = "\(offer.width.lowerBound)x\(offer.height.lowerBound)"
            let most = "\(offer.width.upperBound)x\(offer.height.upperBound)"
            return (least == most ? most : "\(least)…\(most)") + (offer.frameRate.map { "@\($0)" } ?? "")
        }
        return shown.joined(separator: " ") + (best.count > sizeLimit ? " and \(best.count - sizeLimit) more" : "")
    }

    static func control(_ control: CameraControl) -> String {
        func named(_ value: Int) -> String {
            if control.kind == .boolean { return value == 0 ? "off" : "on" }
            return control.entries.first { $0.value == value }?.name ?? "\(value)"
        }
        var notes: [String] = []
        switch control.kind {
        case .integer, .bitmask:
            notes.append("\(control.minimum) to \(control.maximum)")
            if control.step > 1 { notes.append("in steps of \(control.step)") }
        case .boolean: notes.append("on or off")
        case .menu, .integerMenu: notes.append(control.entries.map(\.name).joined(separator: " | "))
        case .button: notes.append("a button: any value")
        }
        if control.kind != .button { notes.append("default \(named(control.defaultValue))") }
        if control.isInactive { notes.append("without effect now") }
        if control.isReadOnly { notes.append("cannot be set") }
        let value = control.value.map { "=\(named($0))" } ?? ""
        return "\(control.name)\(value) (\(notes.joined(separator: ", ")))"
    }

    // MARK: Microphones and screens

    private var microphones: [(word: String, lines: [String])] {
        inventory.microphones.map { microphone in
            let note = microphone.isVirtual ? " (virtual)" : ""
            return (
                microphone.name,
                [microphone.description + note] + (microphone.problem.map { ["Cannot be used: \($0)"] } ?? [])
            )
        }
    }

    private var screens: [(word: String, lines: [String])] {
        guard case .success(let screen) = inventory.screen else { return [] }
        if let problem = screen.problem { return [("screen", ["Cannot be used: \(problem)"])] }
        return [("screen", ["\(screen.width)x\(screen.height), the display \(screen.display)"])]
    }
}
