import CQREncode
package import GantryCore
import Glibc

/// The modules of a QR code (ISO/IEC 18004), without quiet zone. A value; the text inside may be a secret.
package struct QRCode: Sendable {
    /// Modules a side.
    package let size: Int
    private let modules: [Bool]

    /// Error correction level M; upper case, digits and `$%*+-./:` alone keep it in alphanumeric mode, which is smaller.
    ///
    /// - Throws: `invalidArgument` when the text is empty or too long for any code.
    package init(_ text: String) throws(GantryError) {
        guard !text.isEmpty, !text.utf8.contains(0),
            let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1)
        else {
            throw GantryError(.invalidArgument, "A text of \(text.utf8.count) bytes does not fit into a QR code.")
        }
        // libqrencode's memory holds the text too, coded: it is overwritten before it is freed.
        let width = Int(code.pointee.width)
        size = width
        if let data = code.pointee.data {
            // Bit 0 of a module: 1 is dark (qrencode.h).
            modules = (0..<(width * width)).map { data[$0] & 1 == 1 }
            for index in 0..<(width * width) { data[index] = 0 }
        } else {
            modules = [Bool](repeating: false, count: width * width)
        }
        QRcode_free(code)
        Self.overwriteFreedBlocks(upTo: text.utf8.count)
    }

    /// libqrencode copies the text, in one piece or several, and frees the copies as they are. The allocator hands out
    /// first what was freed last on this thread: so blocks of these sizes are taken, overwritten and given back.
    private static func overwriteFreedBlocks(upTo size: Int) {
        // Sizes come in steps of 16, 8 of which are the allocator's own (malloc.c of glibc).
        for size in stride(from: 24, through: size + 16, by: 16) {
            // More than a thread keeps for itself of one size: 7.
            let blocks = (0..<16).compactMap { _ in malloc(size) }
            for block in blocks { explicit_bzero(block, size) }
            for block in blocks { free(block) }
        }
    }

    /// True for a dark module. What lies outside is the quiet zone: light.
    package func isDark(x: Int, y: Int) -> Bool {
        guard 0..<size ~= x, 0..<size ~= y else { return false }
        return modules[y * size + x]
    }
}
