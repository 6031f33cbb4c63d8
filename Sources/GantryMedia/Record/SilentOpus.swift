import GantryCore

/// Opus packets of silence, for the time before the sound begins and for gaps: players that count samples instead of
/// reading stamps stay in step too.
///
/// RFC 6716 section 3.1: configurations 28…31 are CELT, full band, of 2.5, 5, 10 and 20 ms; bit 2 means stereo; code 0 is
/// one frame. The two bytes behind it are a frame whose silence flag (section 4.3) is set.
enum SilentOpus {
    /// The shortest packet, in microseconds.
    static let shortest: Int64 = 2500

    private static let packets: [(duration: Int64, bytes: [UInt8])] = [
        (20_000, [31 << 3 | 4, 0xff, 0xfe]),
        (10_000, [30 << 3 | 4, 0xff, 0xfe]),
        (5_000, [29 << 3 | 4, 0xff, 0xfe]),
        (2_500, [28 << 3 | 4, 0xff, 0xfe]),
    ]

    /// The longest packet that fits into `gap` microseconds; nil when none does.
    static func packet(fitting gap: Int64) -> (duration: Int64, bytes: [UInt8])? {
        packets.first { $0.duration <= gap }
    }
}
