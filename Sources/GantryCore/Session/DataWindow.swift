/// How much DATA may be under way in one direction of a connection: an observer that is slow holds up the sender, and
/// never media, memory or the connection.
///
/// One value for each direction; both ends count alike. Pure.
package struct DataWindow: Sendable {
    /// Bytes that may be sent and not taken yet.
    package static let size = 256 * 1024
    /// A message counts as its payload and this much, so that empty ones are not free.
    package static let overhead = 32
    /// The receiver says so each time it has taken this much.
    package static let creditStep = UInt64(size / 2)

    /// Sent, or received.
    package private(set) var passed: UInt64 = 0
    package private(set) var taken: UInt64 = 0
    private var said: UInt64 = 0

    package init() {}

    /// A message is sent or has come. False when it is beyond the window: it may not be sent; a sender that does so
    /// breaks the protocol.
    package mutating func pass(payload count: Int) -> Bool {
        let cost = UInt64(clamping: count) &+ UInt64(Self.overhead)
        guard passed &- taken &+ cost <= UInt64(Self.size) else { return false }
        passed &+= cost
        return true
    }

    /// The receiver: a message has been taken. The credit to send, when it is time.
    package mutating func take(payload count: Int) -> DataCredit? {
        taken = min(passed, taken &+ UInt64(clamping: count) &+ UInt64(Self.overhead))
        guard taken &- said >= Self.creditStep else { return nil }
        said = taken
        return DataCredit(taken: taken)
    }

    /// The sender: false when the other end has taken what was never sent.
    package mutating func credited(_ credit: DataCredit) -> Bool {
        guard credit.taken <= passed else { return false }
        taken = max(taken, credit.taken)
        return true
    }
}
