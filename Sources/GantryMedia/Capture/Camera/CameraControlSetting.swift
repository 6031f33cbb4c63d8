package import GantryCore

/// A wish for a control of a camera, as typed: `focus_absolute=30`, `power_line_frequency=50_hz`.
package struct CameraControlSetting: Sendable, Hashable {
    /// As v4l2-ctl writes it; `Focus, Absolute` and `focus-absolute` are the same.
    package var name: String
    package var value: String

    /// - Throws: `invalidArgument` when it is not NAME=VALUE.
    package init(_ text: String) throws(GantryError) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = CameraControl.name(parts.first.map { $0.utf8 } ?? "".utf8[...])
        guard parts.count == 2, !name.isEmpty, !parts[1].isEmpty else {
            throw GantryError(
                .invalidArgument,
                "A control is set by NAME=VALUE, as in --control power_line_frequency=50_hz, not \"\(Self.shown(text))\". "
                    + "This shows what the camera has: gantry-producer sources")
        }
        self.name = name
        value = String(parts[1])
    }

    static func shown(_ text: String) -> String { DisplayName.sanitized(text, graphemes: 48, bytes: 96) }
}

extension CameraControl {
    /// The control that a setting means.
    ///
    /// - Throws: `invalidArgument`, which lists those that there are.
    static func named(_ name: String, in controls: [CameraControl], of camera: String) throws(GantryError) -> Self {
        if let found = controls.first(where: { $0.name == name }) { return found }
        let names = controls.prefix(64).map(\.name).joined(separator: ", ")
        throw GantryError(
            .invalidArgument,
            "The camera \(camera) has no control \(CameraControlSetting.shown(name)). "
                + (names.isEmpty ? "It has none at all: leave --control out." : "It has: \(names)."))
    }

    /// The number that a typed value means: a number, `on` or `off`, the name of a menu's entry or its beginning, or
    /// `default`.
    ///
    /// - Throws: `invalidArgument`, which says what is possible.
    func number(of text: String) throws(GantryError) -> Int {
        if isReadOnly {
            throw GantryError(
                .invalidArgument, "The control \(name) can only be read, not set. Leave --control \(name) out.")
        }
        if kind == .button { return 1 }
        if CameraControl.name(text.utf8) == "default" { return defaultValue }
        guard let number = possible(text) else {
            throw GantryError(
                .invalidArgument, "The control \(name) takes \(range), not \"\(CameraControlSetting.shown(text))\".")
        }
        return number
    }

    private func possible(_ text: String) -> Int? {
        let word = CameraControl.name(text.utf8)
        switch kind {
        case .boolean: return ["on": 1, "yes": 1, "true": 1, "1": 1, "off": 0, "no": 0, "false": 0, "0": 0][word]
        case .menu, .integerMenu:
            let names = entries.map { CameraControl.name($0.name.utf8) }
            if let index = names.firstIndex(of: word) { return entries[index].value }
            if let number = Int(text), entries.contains(where: { $0.value == number }) { return number }
            // "50" is the beginning of "50_hz", but "5" is not.
            let beginning = Int(word) == nil ? word : word + "_"
            let begun = names.indices.filter { !word.isEmpty && names[$0].hasPrefix(beginning) }
            return begun.count == 1 ? begun.first.map { entries[$0].value } : nil
        case .bitmask:
            let number = text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
            return number.flatMap { $0 >= 0 && $0 & ~maximum == 0 ? $0 : nil }
        case .integer: return Int(text).flatMap { minimum <= $0 && $0 <= maximum ? $0 : nil }
        case .button: return 1
        }
    }

    /// What it takes, in words.
    package var range: String {
        switch kind {
        case .boolean: "on or off"
        case .button: "any value"
        case .bitmask: "bits of 0x" + String(max(0, maximum), radix: 16)
        case .integer: "\(minimum) to \(maximum)" + (step > 1 ? " in steps of \(step)" : "")
        case .menu, .integerMenu:
            "one of " + entries.prefix(32).map { CameraControl.name($0.name.utf8) }.joined(separator: ", ")
        }
    }
}
