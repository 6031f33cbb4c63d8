import CALSA
import Glibc

/// What people call a sound device, and what ALSA's library has to be asked for.
enum AlsaName {
    /// Longer ones are no names.
    static let longest = 256

    /// A bare device of the hardware takes what it can only: it is asked for through "plug", which converts rate, format and
    /// channels.
    ///
    ///     default, pulse, dsnoop:0   as they are: the user's own settings are behind them
    ///     hw:0,0                     plughw:0,0
    ///     Loopback, 1                plughw:CARD=Loopback (the name or number of a card)
    ///
    /// Nil when it cannot be a name.
    static func resolved(_ name: String, isCard: (String) -> Bool = isCard) -> String? {
        guard !name.isEmpty, name.utf8.count <= longest, !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
            return nil
        }
        if name == "hw" || name.hasPrefix("hw:") { return "plug" + name }
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && name != "default" && isCard(name) ? "plughw:CARD=\(name)" : name
    }

    /// Also for cards whose controls this user may not open, which the library does not find then.
    static func isCard(_ name: String) -> Bool {
        if snd_card_get_index(name) >= 0 { return true }
        return SoundCards.all().contains { $0.id == name || String($0.number) == name }
    }

    /// The card and device that a resolved name of the hardware means, such as `plughw:CARD=Loopback,DEV=1`.
    static func hardware(_ resolved: String) -> (card: String, device: Int)? {
        let parts = resolved.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, ["hw", "plughw"].contains(parts[0]) else { return nil }
        var (card, device) = ("0", 0)
        for (index, field) in parts[1].split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            let pair = field.split(separator: "=", maxSplits: 1)
            switch (pair.count, pair.first ?? "", index) {
            case (2, "CARD", _): card = String(pair[1])
            case (2, "DEV", _): device = Int(UInt16(pair[1]) ?? 0)
            case (1, _, 0): card = String(pair[0])
            case (1, _, 1): device = Int(UInt16(pair[0]) ?? 0)
            default: break
            }
        }
        return (card, device)
    }

    /// Whether it means one device of the hardware, not what the user's settings put behind it.
    static func namesHardware(_ name: String) -> Bool { resolved(name).flatMap(hardware) != nil }

    /// The same device of the card of that name: `hw:1,2` becomes `hw:Loopback,2`.
    static func renamed(_ name: String, card: String) -> String {
        let device = resolved(name).flatMap(hardware)?.device ?? 0
        return device == 0 ? card : "hw:\(card),\(device)"
    }
}
