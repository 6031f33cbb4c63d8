import Glibc

/// A line that nobody else is to see. Its memory is overwritten at the end of its life.
package final class SecretLine: @unchecked Sendable {  // Written only in `init` and `append`, before it is shared.
    private let bytes: UnsafeMutableRawBufferPointer
    package private(set) var count = 0

    init(capacity: Int) { bytes = .allocate(byteCount: max(1, capacity), alignment: 1) }

    deinit {
        if let base = bytes.baseAddress { explicit_bzero(base, bytes.count) }
        bytes.deallocate()
    }

    /// False when it is full.
    func append(_ byte: UInt8) -> Bool {
        guard count < bytes.count else { return false }
        bytes[count] = byte
        count += 1
        return true
    }

    /// Without the last character (UTF-8).
    func removeLastCharacter() {
        while count > 0 {
            count -= 1
            if bytes[count] & 0xC0 != 0x80 { return }
        }
    }

    func removeAll() { count = 0 }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
    }

    /// A copy, with blanks at both ends cut off; invalid UTF-8 is repaired. The copy is not overwritten later: let it
    /// go soon.
    package var text: String {
        withBytes { bytes in
            let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            let start = bytes.firstIndex { !isBlank($0) } ?? bytes.endIndex
            let end = bytes.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? start
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
    }
}
