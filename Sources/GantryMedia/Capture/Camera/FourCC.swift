/// The four letters by which V4L2 names a pixel format (v4l2_fourcc of linux/videodev2.h): the first letter lies in the
/// lowest byte.
package struct FourCC: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The first four bytes of `letters`; blanks where it is shorter.
    package init(_ letters: String) {
        let bytes = Array(letters.utf8.prefix(4)) + [32, 32, 32, 32]
        rawValue = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The letters; a dot for what cannot be printed (drivers choose these bytes).
    package var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: rawValue >> (8 * $0)) }
        let letters = bytes.map { 33...126 ~= $0 || $0 == 32 ? $0 : UInt8(ascii: ".") }
        return String(String(decoding: letters, as: UTF8.self).reversed().drop { $0 == " " }.reversed())
    }
}
