/// What the text of an option or a setting must look like. The one place for the words that errors and help use for it.
package enum ValueForm: Sendable, Hashable {
    /// true or false; on a command line it has no value.
    case flag
    case text
    /// A name that others show.
    case displayName
    /// What can be shown, up to so many bytes of UTF-8.
    case label(Int)
    case word([String])
    /// http or https.
    case url
    case integer(ClosedRange<Int>)
    /// Pixels, each side.
    case size(ClosedRange<Int>)
    case frameRate
    /// Bits a second.
    case bitrate(ClosedRange<Int>)
    case duration(ClosedRange<MediaDuration>)
    /// Zero means "any free port", where it is allowed.
    case port(allowsAny: Bool)

    /// More than zero, up to what `MediaDuration.init(text:)` takes.
    package static let anyDuration = ValueForm.duration(
        MediaDuration.microseconds(1)...MediaDuration.seconds(3_600_000))

    /// What is taken, in the words of an error: "It takes …".
    package var expected: String {
        switch self {
        case .flag: "true or false"
        case .text: "text"
        case .displayName:
            "a name of at most \(DisplayName.maximumGraphemes) characters (\(DisplayName.maximumBytes) bytes), "
                + "with at least one that can be seen"
        case .label(let bytes): "text of 1 to \(bytes) bytes that can be shown"
        case .word(let words): words.joined(separator: ", ")
        case .url: "a URL that begins with http:// or https://"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .size(let sides):
            "WIDTHxHEIGHT in pixels, each \(sides.lowerBound) to \(sides.upperBound), as in 1280x720"
        case .frameRate: "frames per second from 1/60 to 1000, as in 30, 29.97 or 30000/1001"
        case .bitrate(let range):
            "bits per second from \(Bitrate.text(range.lowerBound)) to \(Bitrate.text(range.upperBound)), as in 6M or 800k"
        case .duration(let range):
            self == Self.anyDuration
                ? "a time of more than zero and at most 1000 hours, as in 10s, 1m30s, 2h or 500ms"
                : "a time from \(range.lowerBound.text) to \(range.upperBound.text), as in 10s, 1m30s, 2h or 500ms"
        case .port(let allowsAny): "a port number from \(allowsAny ? 0 : 1) to 65535"
        }
    }

    /// Whether `text` is of this form.
    package func accepts(_ text: String) -> Bool {
        switch self {
        case .flag: text == "true" || text == "false"
        case .text: !text.utf8.contains(0)
        case .displayName: DisplayName.fits(text)
        case .label(let bytes):
            !text.isEmpty && DisplayName.sanitized(text, graphemes: bytes, bytes: bytes).utf8.elementsEqual(text.utf8)
        case .word(let words): words.contains(text)
        case .url:
            text.utf8.allSatisfy { 0x21...0x7E ~= $0 } && text.utf8.count <= 2000
                && ["http://", "https://"].contains { text.lowercased().hasPrefix($0) }
        case .integer(let range): Decimal.integer(text).map(range.contains) ?? false
        case .size(let sides):
            PixelSize(text).map { sides.contains($0.width) && sides.contains($0.height) } ?? false
        case .frameRate: FrameRate(text: text) != nil
        case .bitrate(let range): Bitrate.parse(text).map(range.contains) ?? false
        case .duration(let range): MediaDuration(text: text).map(range.contains) ?? false
        case .port(let allowsAny): Decimal.integer(text).map { (allowsAny ? 0 : 1)...65535 ~= $0 } ?? false
        }
    }
}

extension MediaDuration {
    /// As `init(text:)` reads it: `1.5s`, `500ms`, `600s`; to the millisecond.
    package var text: String {
        let milliseconds = microseconds / 1000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
