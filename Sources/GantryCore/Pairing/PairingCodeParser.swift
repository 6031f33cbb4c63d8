extension PairingCode {
    /// Reads a scanned or pasted code, strictly. White space around it is allowed.
    ///
    /// - Throws: `.pairingCodeInvalid`, `.pairingCodeVersion` or `.pairingCodeExpired`. The message never repeats the text.
    package static func parse(_ text: String) throws(GantryError) -> PairingCode {
        let text = trimmed(text)
        guard text.utf8.count <= PairingLimits.codeLength else { throw invalid("it is too long") }
        guard text.utf8.allSatisfy(isAllowed) else { throw foreign }
        guard text.prefix(prefix.count).uppercased() == prefix else { throw foreign }
        var parts = text.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)[...]
        try check(version: parts.removeFirst())
        guard let keyText = parts.popFirst(), let secretText = parts.popFirst() else { throw cutShort }
        guard let studio = KeyID(text: keyText) else {
            throw keyText.utf8.count < 52 ? cutShort : invalid("its key is damaged")
        }
        let secret = try secret(of: secretText)
        let code = try code(studio, secret, options: parts)
        try verify(text, options: parts)
        return code
    }

    /// The check, where there is one: older studios give none.
    private static func verify(_ text: Substring, options: ArraySlice<Substring>) throws(GantryError) {
        let checks = options.filter { $0.first?.uppercased() == "C" }
        guard let option = checks.first else { return }
        guard checks.count == 1 else { throw invalid("it has two checks") }
        var check = PairingCodeCheck()
        // Without this option and the "/" before it.
        check.add(text.utf8[..<option.startIndex].dropLast())
        check.add(text.utf8[option.endIndex...])
        guard option.dropFirst().uppercased() == check.value else { throw damaged }
    }

    private static func secret(of text: Substring) throws(GantryError) -> PairingSecret {
        guard var bytes = Base32.decode(text) else {
            throw text.utf8.count < 26 ? cutShort : invalid("its secret is damaged")
        }
        defer { bytes.withUnsafeMutableBytes { PairingSecret.zero($0) } }
        guard let secret = PairingSecret(bytes: bytes) else {
            throw text.utf8.count < 26 ? cutShort : invalid("its secret is too long")
        }
        return secret
    }

    private static func code(
        _ studio: KeyID, _ secret: PairingSecret, options: ArraySlice<Substring>
    ) throws(GantryError) -> PairingCode {
        var endpoints: [PairingEndpoint] = []
        var name: DisplayName?
        var life: Int?
        for option in options {
            guard let letter = option.first else { throw invalid("it has an empty option") }
            let value = option.dropFirst()
            switch letter.uppercased() {
            case "A":
                guard let endpoint = PairingEndpoint(ipv4: value) else { throw invalid("its address is damaged") }
                endpoints.append(endpoint)
            case "B":
                guard let endpoint = PairingEndpoint(ipv6: value) else { throw invalid("its address is damaged") }
                endpoints.append(endpoint)
            case "N":
                guard name == nil, let bytes = Base32.decode(value), 1...PairingLimits.nameHintSize ~= bytes.count
                else {
                    throw invalid("its name is damaged")
                }
                name = DisplayName(utf8: bytes)
            case "T":
                guard life == nil, let seconds = PairingEndpoint.number(value, PairingLimits.longestLife) else {
                    throw invalid("its time is damaged")
                }
                guard seconds > 0 else { throw expired }
                life = seconds
            case "X": throw newer
            case let other where "C"..."Z" ~= other: continue
            default: throw invalid("it has an option that cannot be")
            }
        }
        return PairingCode(studio: studio, secret: secret, endpoints: endpoints, name: name, life: life)
    }

    private static func check(version text: Substring) throws(GantryError) {
        guard let number = PairingEndpoint.number(text, 99_999) else {
            throw text.isEmpty ? cutShort : invalid("it has no version")
        }
        if number > version { throw newer }
        if number < version {
            throw GantryError(
                .pairingCodeVersion,
                "This pairing code is from an older version. Update Gantry on the studio's machine.")
        }
    }

    /// A scanner, or a paste, may leave blanks and a new line around it. No copy: the text is secret.
    private static func trimmed(_ text: String) -> Substring {
        var text = text[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
    }

    /// Letters, digits and `:/.-`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "-")...UInt8(ascii: ":"):
            true
        default: false
        }
    }

    /// For the owner, when the life of a code that it has kept is over.
    package static var expired: GantryError {
        GantryError(
            .pairingCodeExpired,
            "This pairing code has expired. Run `gantry-studio pair` on the studio's machine and scan the new code.")
    }
    private static var foreign: GantryError {
        GantryError(
            .pairingCodeInvalid, "This is not a Gantry pairing code. Use the code that `gantry-studio pair` shows.")
    }
    private static var cutShort: GantryError {
        GantryError(.pairingCodeInvalid, "This pairing code is cut short. Scan it again, or copy all of its text.")
    }
    private static var damaged: GantryError {
        GantryError(
            .pairingCodeInvalid,
            "This pairing code is damaged or cut short. Scan it again, or copy all of its text.")
    }
    private static var newer: GantryError {
        GantryError(
            .pairingCodeVersion,
            "This pairing code is from a newer version. Update Gantry on this machine and try again.")
    }
    private static func invalid(_ what: String) -> GantryError {
        GantryError(
            .pairingCodeInvalid, "This pairing code cannot be used: \(what). Scan it again, or copy all of its text.")
    }
}
