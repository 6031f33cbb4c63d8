/// The NAL units of an access unit in Annex B form (ITU-T H.264, annex B), one after the other, without start codes. Trailing
/// zero bytes of a unit are left out. Nothing is allocated.
struct NALUnits: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    /// Behind a start code; nil at the end.
    private var start: Int?

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        start = Self.startCode(bytes, from: 0).map { $0 + 3 }
    }

    mutating func next() -> UnsafeRawBufferPointer? {
        while let begin = start {
            let code = Self.startCode(bytes, from: begin)
            start = code.map { $0 + 3 }
            var end = code ?? bytes.count
            while end > begin, bytes[end - 1] == 0 { end -= 1 }
            if end > begin { return UnsafeRawBufferPointer(rebasing: bytes[begin..<end]) }
        }
        return nil
    }

    /// Where the next 00 00 01 begins.
    private static func startCode(_ bytes: UnsafeRawBufferPointer, from: Int) -> Int? {
        var index = from
        while index + 2 < bytes.count {
            // The third byte decides how far one can go on.
            switch bytes[index + 2] {
            case 0: index += 1
            case 1:
                if bytes[index] == 0 && bytes[index + 1] == 0 { return index }
                index += 3
            default: index += 3
            }
        }
        return nil
    }
}
