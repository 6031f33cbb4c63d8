/// Puts RTP payloads of RFC 6184 back into Annex B form, in their order. Nothing is allocated.
struct H264Depacketizer {
    private var isInFragment = false

    /// Calls `append` with pieces of the access unit. False when the payload is none of RFC 6184's mode 1.
    mutating func consume(
        _ payload: UnsafeRawBufferPointer, _ append: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        guard payload.count >= 2 else { return false }
        switch payload[0] & 0x1F {
        case 1...23:
            guard !isInFragment else { return false }
            Self.startCode(append)
            append(payload)
            return true
        case H264Packetizer.stapA: return !isInFragment && separate(payload, append)
        case H264Packetizer.fuA: return join(payload, append)
        default: return false
        }
    }

    /// All pieces have come.
    var isComplete: Bool { !isInFragment }

    private func separate(_ payload: UnsafeRawBufferPointer, _ append: (UnsafeRawBufferPointer) -> Void) -> Bool {
        var offset = 1
        while offset < payload.count {
            guard offset + 2 <= payload.count else { return false }
            let count = Int(payload.bigEndian(at: offset, as: UInt16.self))
            offset += 2
            guard count > 0, offset + count <= payload.count else { return false }
            Self.startCode(append)
            append(payload.part(offset, count))
            offset += count
        }
        return true
    }

    private mutating func join(
        _ payload: UnsafeRawBufferPointer, _ append: (UnsafeRawBufferPointer) -> Void
    ) -> Bool {
        let isFirst = payload[1] & 0x80 != 0
        let isLast = payload[1] & 0x40 != 0
        guard payload.count > 2, isFirst != isInFragment, !(isFirst && isLast) else { return false }
        if isFirst {
            Self.startCode(append)
            let header = payload[0] & 0xE0 | payload[1] & 0x1F
            withUnsafeBytes(of: header, append)
        }
        append(payload.part(2, payload.count - 2))
        isInFragment = !isLast
        return true
    }

    private static func startCode(_ append: (UnsafeRawBufferPointer) -> Void) {
        let code: (UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 1)
        withUnsafeBytes(of: code, append)
    }
}
