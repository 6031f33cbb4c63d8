extension JSONValue {
    /// Reads one JSON text (RFC 8259), strictly: nothing beside it but blanks, valid UTF-8, no lone surrogates, a number
    /// that fits. A name that comes twice in one object is an error, since readers differ in which of the two counts.
    ///
    /// The length is the caller's to bound; memory is a small multiple of it.
    /// - Throws: `invalidArgument` with the place (a byte from 0 on). Never with the text, which may be secret.
    package init(reading text: some Sequence<UInt8>) throws(GantryError) {
        var reader = JSONReader(Array(text))
        defer { reader.wipe() }
        self = try reader.document()
    }
}

/// A recursive descent over the bytes; as deep as `maximumDepth`.
struct JSONReader {
    /// Arrays and objects inside each other.
    static let maximumDepth = 16

    private var bytes: [UInt8]
    private var position = 0
    /// Whether places are told by line and column, and where each member stands is kept.
    private let isForPeople: Bool
    private var path: [String] = []
    /// The lines of all members, by the names that lead there. Empty unless `isForPeople`.
    private(set) var lines: [[String]: Int] = [:]
    /// The last member's line and where it begins: lines are counted on from there.
    private var counted = (line: 1, position: 0)

    init(_ bytes: [UInt8], isForPeople: Bool = false) {
        self.bytes = bytes
        self.isForPeople = isForPeople
    }

    mutating func document() throws(GantryError) -> JSONValue {
        let value = try value(depth: 0)
        skipBlanks()
        guard next == nil else { throw failure("more text after the value") }
        return value
    }

    /// The text may hold a pairing code.
    mutating func wipe() { SecretText.wipe(&bytes) }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func failure(_ what: String) -> GantryError {
        GantryError(.invalidArgument, "This is not JSON: \(what) at \(place).")
    }

    private var place: String {
        guard isForPeople else { return "byte \(position)" }
        let before = bytes[..<min(position, bytes.count)]
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        // What goes on a character is not counted (RFC 3629 section 3).
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        return "line \(before.count { $0 == UInt8(ascii: "\n") } + 1), column \(column)"
    }

    /// Keeps where a member stands whose name has just been read.
    private mutating func noteLine() {
        guard isForPeople else { return }
        counted.line += bytes[counted.position..<position].count { $0 == UInt8(ascii: "\n") }
        counted.position = position
        lines[path] = counted.line
    }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    /// Steps over `byte` if it comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(GantryError) -> JSONValue {
        skipBlanks()
        guard let byte = next else { throw failure("a value is missing") }
        switch byte {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try array(depth: depth)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
        default: throw failure("no value begins like this")
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(GantryError) -> JSONValue {
        let text = String(describing: word).utf8
        guard bytes[position...].starts(with: text) else { throw failure("an unknown word") }
        position += text.count
        return value
    }

    // MARK: Arrays and objects

    private mutating func array(depth: Int) throws(GantryError) -> JSONValue {
        try enter(depth)
        var values: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(values) }
        while true {
            values.append(try value(depth: depth + 1))
            skipBlanks()
            if take(UInt8(ascii: "]")) { return .array(values) }
            guard take(UInt8(ascii: ",")) else { throw failure("a comma or ] is missing") }
        }
    }

    private mutating func object(depth: Int) throws(GantryError) -> JSONValue {
        try enter(depth)
        var members: [JSONValue.Member] = []
        var names: Set<String> = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        while true {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
            let name = try string()
            guard names.insert(name).inserted else { throw failure("the same name again, ending") }
            path.append(name)
            defer { path.removeLast() }
            noteLine()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw failure("a colon is missing") }
            members.append(.init(name, try value(depth: depth + 1)))
            skipBlanks()
            if take(UInt8(ascii: "}")) { return .object(members) }
            guard take(UInt8(ascii: ",")) else { throw failure("a comma or } is missing") }
        }
    }

    /// Steps over the opening bracket.
    private mutating func enter(_ depth: Int) throws(GantryError) {
        guard depth < Self.maximumDepth else { throw failure("more than \(Self.maximumDepth) levels") }
        position += 1
    }

    // MARK: Numbers

    private mutating func number() throws(GantryError) -> JSONValue {
        let start = position
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")) { try digits() }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            try digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try digits()
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isWhole, let value = Int64(text) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw failure("a number that is too large, ending") }
        return .number(value)
    }

    /// One at least.
    private mutating func digits() throws(GantryError) {
        let start = position
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { position += 1 }
        guard position > start else { throw failure("a digit is missing") }
    }

    // MARK: Strings

    private mutating func string() throws(GantryError) -> String {
        position += 1
        var result: [UInt8] = []
        // What grows leaves copies behind.
        let end = bytes[position...].firstIndex(of: UInt8(ascii: "\"")) ?? position
        result.reserveCapacity(end - position)
        defer { SecretText.wipe(&result) }
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: result, as: UTF8.self) else {
                    throw failure("invalid UTF-8 in a string, ending")
                }
                return text
            case UInt8(ascii: "\\"): result.append(contentsOf: String(try escaped()).utf8)
            case 0..<0x20:
                position -= 1
                throw failure("a control character in a string")
            default: result.append(byte)
            }
        }
        throw failure("a string has no end")
    }

    /// What follows a backslash.
    private mutating func escaped() throws(GantryError) -> Character {
        guard let byte = next else { throw failure("a string has no end") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return Character(try unicodeEscape())
        default:
            position -= 1
            throw failure("an unknown escape")
        }
    }

    /// Behind `\u`: four digits, for characters beyond U+FFFF a pair of surrogates (RFC 8259 section 7).
    private mutating func unicodeEscape() throws(GantryError) -> Unicode.Scalar {
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard 0xD800...0xDBFF ~= first, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw failure("half a surrogate pair, ending")
        }
        let second = try fourHexDigits()
        guard 0xDC00...0xDFFF ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw failure("half a surrogate pair, ending") }
        return scalar
    }

    private mutating func fourHexDigits() throws(GantryError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("a hexadecimal digit is missing")
            }
            position += 1
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
