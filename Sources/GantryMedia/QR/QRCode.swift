import CQREncode
package import GantryCore
import Glibc

/// The modules of a QR code (ISO/IEC 18004), without quiet zone. A value; the text inside may be a secret.
package struct QRCode: Sendable {
    /// Modules a side.
    package let size: Int
    /// Characters, alphanumeric, that the largest code holds at level M (ISO/IEC 18004, table 7).
    private static let longest = 3391
    private let modules: [Bool]

    /// Error correction level M; upper case, digits and `$%*+-./:` alone keep it in alphanumeric mode, which is smaller.
    ///
    /// - Throws: `invalidArgument` when the text is empty or too long for any code.
    package init(_ text: String) throws(GantryError) {
        let count = text.utf8.count
        let scratch = ScratchBlocks(upTo: min(count, Self.longest))
        defer { scratch.overwriteFreed() }
        // Lent: a string that is handed to C as it is goes there as a copy, which is freed as it is.
        guard 1...Self.longest ~= count, !text.utf8.contains(0),
            let code = text.withCString({ QRcode_encodeString($0, 0, QR_ECLEVEL_M, QR_MODE_8, 1) })
        else {
            throw GantryError(.invalidArgument, "A text of \(count) bytes does not fit into a QR code.")
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
    }

    /// True for a dark module. What lies outside is the quiet zone: light.
    package func isDark(x: Int, y: Int) -> Bool {
        guard 0..<size ~= x, 0..<size ~= y else { return false }
        return modules[y * size + x]
    }
}

/// libqrencode copies the text, in one piece or several, and frees the copies as they are. The allocator keeps up to seven
/// freed blocks of a size for the thread that freed them (tcache of glibc's malloc.c), and hands those out first. So the
/// free ones are taken before, which leaves room for the copies, and then the copies are taken, overwritten and given back.
private struct ScratchBlocks {
    /// More than a thread keeps for itself of one size.
    private static let number = 16
    /// Sizes come in steps of 16, 8 of which are the allocator's own.
    private let sizes: StrideThrough<Int>
    private let taken: [UnsafeMutableRawPointer]

    init(upTo size: Int) {
        sizes = stride(from: 24, through: size + 16, by: 16)
        taken = sizes.flatMap { Self.blocks($0) }
    }

    private static func blocks(_ size: Int) -> [UnsafeMutableRawPointer] {
        (0..<number).compactMap { _ in malloc(size) }
    }

    /// On the same thread. Once.
    func overwriteFreed() {
        for size in sizes {
            let freed = Self.blocks(size)
            for block in freed { explicit_bzero(block, size) }
            for block in freed { free(block) }
        }
        for block in taken { free(block) }
    }
}
