package import GantryCore

/// The first line of a YUV4MPEG2 stream, for example `YUV4MPEG2 W1280 H720 F30:1 Ip A1:1 C420jpeg`.
///
/// Parameters follow each other with blanks; letters that are not known are skipped. W and H are required, F defaults to
/// 30:1, C to 420jpeg. `XCOLORRANGE=FULL` is understood, as FFmpeg writes it. Only progressive pictures are taken: interlaced
/// ones (It, Ib, Im) are played as they are.
package struct Y4MHeader: Sendable, Hashable {
    /// How the samples of a frame lie in the stream: planes Y, Cb, Cr without padding.
    package enum Layout: String, Sendable, Hashable, CaseIterable {
        case yuv420 = "420"
        case yuv422 = "422"
        case yuv444 = "444"
        case mono
        case yuv420p10 = "420p10"
        case yuv422p10 = "422p10"
        case yuv444p10 = "444p10"
        case mono10
    }

    /// A longer line is not a header.
    package static let maximumLength = 1024
    package static let magic = "YUV4MPEG2"

    package var width: Int
    package var height: Int
    package var frameRate: FrameRate
    package var layout: Layout
    package var isFullRange: Bool

    /// - Parameter line: Without the line feed.
    /// - Throws: `sourceUnreadable` when it is not a header, `unsupportedCodec` for another chroma layout.
    package init(line: some Collection<UInt8>) throws(GantryError) {
        guard line.count <= Self.maximumLength, line.allSatisfy({ 32...126 ~= $0 }) else { throw Self.malformed(nil) }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ")
        guard words.first.map(String.init) == Self.magic else { throw Self.malformed(nil) }
        var (width, height): (Int?, Int?) = (nil, nil)
        var rate = FrameRate.fps30
        var layout = Layout.yuv420
        var isFullRange = false
        for word in words.dropFirst() {
            let value = word.dropFirst()
            switch word.first {
            case "W": width = Int(value)
            case "H": height = Int(value)
            case "F": rate = try Self.rate(value)
            case "C": layout = try Self.layout(value)
            case "X": if value == "COLORRANGE=FULL" { isFullRange = true }
            default: break
            }
        }
        guard let width, let height, 2...Picture.maximumSide ~= width, 2...Picture.maximumSide ~= height else {
            throw Self.malformed("the size is missing, or not from 2x2 to 8192x8192")
        }
        self.width = width
        self.height = height
        frameRate = rate
        self.layout = layout
        self.isFullRange = isFullRange
    }

    /// Bytes of one frame, without its FRAME line. At most 8192² × 6.
    package var frameBytes: Int {
        let luma = width * height
        let half = (width + 1) / 2
        return switch layout {
        case .yuv420: luma + 2 * half * ((height + 1) / 2)
        case .yuv422: luma + 2 * half * height
        case .yuv444: luma * 3
        case .mono: luma
        case .yuv420p10: 2 * (luma + 2 * half * ((height + 1) / 2))
        case .yuv422p10: 2 * (luma + 2 * half * height)
        case .yuv444p10: luma * 6
        case .mono10: luma * 2
        }
    }

    private static func rate(_ text: Substring) throws(GantryError) -> FrameRate {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard let first = parts.first, let numerator = UInt32(first) else { throw malformed("rate F\(text)") }
        guard let denominator = parts.count == 1 ? 1 : UInt32(parts[1]), parts.count <= 2 else {
            throw malformed("rate F\(text)")
        }
        // 0:0 means unknown.
        if numerator == 0 { return .fps30 }
        guard let rate = FrameRate(numerator, denominator) else { throw malformed("rate F\(text)") }
        return rate
    }

    private static func layout(_ text: Substring) throws(GantryError) -> Layout {
        switch text {
        case "420", "420jpeg", "420mpeg2", "420paldv": return .yuv420
        default: break
        }
        if let layout = Layout(rawValue: String(text)) { return layout }
        throw GantryError(
            .unsupportedCodec,
            "The chroma layout C\(text) is not supported. Write C420jpeg instead, with: "
                + "ffmpeg -i INPUT -pix_fmt yuv420p -f yuv4mpegpipe -")
    }

    static func malformed(_ cause: String?) -> GantryError {
        GantryError(
            .sourceUnreadable,
            "What comes in is not YUV4MPEG2. Make it with: ffmpeg -i INPUT -pix_fmt yuv420p -f "
                + "yuv4mpegpipe -", cause: cause)
    }
}
