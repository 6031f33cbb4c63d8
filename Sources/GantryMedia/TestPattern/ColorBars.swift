/// The eight colours of 75 % bars in BT.709, limited range, 8 bits.
///
/// ITU-R BT.709-6: Y' = 0.2126 R' + 0.7152 G' + 0.0722 B'; Y = 16 + 219 Y'; Cb = 128 + 224 (B' − Y') / 1.8556;
/// Cr = 128 + 224 (R' − Y') / 1.5748, with R', G', B' either 0 or 0.75.
package enum ColorBars {
    package struct Color: Hashable, Sendable {
        package var y: UInt8
        package var cb: UInt8
        package var cr: UInt8
    }

    /// White, yellow, cyan, green, magenta, red, blue, black.
    package static let colors = [
        Color(y: 180, cb: 128, cr: 128), Color(y: 168, cb: 44, cr: 136), Color(y: 145, cb: 147, cr: 44),
        Color(y: 133, cb: 63, cr: 52), Color(y: 63, cb: 193, cr: 204), Color(y: 51, cb: 109, cr: 212),
        Color(y: 28, cb: 212, cr: 120), Color(y: 16, cb: 128, cr: 128),
    ]
}
