/// What an end can do beyond the base protocol. A session uses what both sides have. Unknown bits are kept.
package struct Capabilities: OptionSet, Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Sends or reads FEEDBACK, RATE and PREFER.
    package static let rateControl = Self(rawValue: 1 << 0)
    /// Sends and reads DATA and DATA_CREDIT.
    package static let data = Self(rawValue: 1 << 1)
    /// Can attach further carriers.
    package static let carriers = Self(rawValue: 1 << 2)

    /// Media as datagrams beside the connection (`pairing/datagram.md`).
    package static let datagrams = Self(rawValue: 1 << 3)

    /// What this code has, on every kind of link.
    package static let all: Self = [.rateControl, .data]
}
