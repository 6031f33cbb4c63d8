/// Which channels a studio receives at the moment: those of its START, without those that it has paused.
///
/// A plain value. In every mask bit n is channel n, as on the wire.
package struct ChannelDemand: Hashable, Sendable {
    private var asked: UInt16 = 0
    private var paused: UInt16 = 0

    package init() {}

    package var received: UInt16 { asked & ~paused }

    /// START replaces the channels, and ends every pause. Channels that do not exist are left out.
    package mutating func started(_ channels: [UInt16]) {
        asked = Self.mask(channels)
        paused = 0
    }

    /// PAUSE. Returns the channels that stop by it.
    package mutating func paused(_ mask: UInt16) -> UInt16 {
        let stopped = received & mask
        paused |= mask
        return stopped
    }

    /// RESUME. Returns the channels that go on by it.
    package mutating func resumed(_ mask: UInt16) -> UInt16 {
        let before = received
        paused &= ~mask
        return received & ~before
    }

    package static func mask(_ channels: [UInt16]) -> UInt16 {
        channels.reduce(0) { 1...WireLimits.highestChannel ~= $1 ? $0 | 1 << $1 : $0 }
    }
}
