/// The second byte of a frame. Unknown bits are sent as 0 and ignored.
package struct FrameFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Another fragment of the same message follows in this channel.
    package static let more = Self(rawValue: 0x01)
    /// The message can be decoded without any other before it.
    package static let key = Self(rawValue: 0x02)
    /// The message carries parameter sets.
    package static let config = Self(rawValue: 0x04)
    /// The message may be dropped without harm to later ones.
    package static let discardable = Self(rawValue: 0x08)
}
