/// What the units in front of the picture in an access unit of H.264 say (ITU-T H.264, Annex B and table 7-1).
struct H264AccessUnit: Equatable {
    /// Decoding can begin here.
    let isKey: Bool
    /// Both SPS and PPS are in it.
    let hasParameterSets: Bool

    /// Units in front of the first slice at most: against a buffer full of start codes.
    private static let unitLimit = 64

    /// Nil for what does not begin with a start code, or holds no slice.
    init?(_ bytes: UnsafeRawBufferPointer) {
        // The first code has any number of zeros in front of its 1, at least two.
        guard let first = bytes.prefix(64).firstIndex(where: { $0 != 0 }), first >= 2, bytes[first] == 1 else {
            return nil
        }
        var start: Int? = first + 1
        var (hasSequence, hasPicture) = (false, false)
        for _ in 0..<Self.unitLimit {
            guard let unit = start, unit < bytes.count else { return nil }
            let type = bytes[unit] & 0x1f
            switch type {
            case 7: hasSequence = true
            case 8: hasPicture = true
            case 1...5:
                // Cameras put an SPS only in front of pictures that can be begun with, IDR or not.
                isKey = type == 5 || hasSequence
                hasParameterSets = hasSequence && hasPicture
                return
            default: break
            }
            start = ParameterSets.unitStart(in: bytes, from: unit)
        }
        return nil
    }
}
