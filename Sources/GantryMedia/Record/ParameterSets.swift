/// Finds SPS and PPS in H.264 in Annex B form (ITU-T H.264 Annex B: units behind 00 00 01).
enum ParameterSets {
    /// All of them, each behind a four-byte start code; empty unless there is at least one of both kinds.
    static func extract(from bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var sets: [UInt8] = []
        var hasSequence = false
        var hasPicture = false
        var start = unitStart(in: bytes, from: 0)
        while let first = start {
            let next = unitStart(in: bytes, from: first)
            // Up to the next start code, without the zeros in front of it.
            var end = next.map { $0 - 3 } ?? bytes.count
            while end > first && bytes[end - 1] == 0 { end -= 1 }
            // nal_unit_type, H.264 table 7-1: 7 is an SPS, 8 a PPS.
            let type = first < bytes.count ? bytes[first] & 0x1f : 0
            if type == 7 || type == 8, end > first, end - first <= 4096 {
                hasSequence = hasSequence || type == 7
                hasPicture = hasPicture || type == 8
                sets += [0, 0, 0, 1]
                sets += bytes[first..<end]
            }
            // Nothing but slices follows the first slice.
            if type == 1 || type == 5 { break }
            start = next
        }
        return hasSequence && hasPicture ? sets : []
    }

    /// The index behind the next start code.
    static func unitStart(in bytes: UnsafeRawBufferPointer, from: Int) -> Int? {
        var index = from
        while index + 2 < bytes.count {
            if bytes[index + 2] > 1 {
                index += 3
            } else if bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
                return index + 3
            } else {
                index += 1
            }
        }
        return nil
    }
}
