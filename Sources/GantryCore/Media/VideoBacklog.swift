/// Video that waits to be sent on one connection.
package struct VideoBacklog: Hashable, Sendable {
    package var bytes: Int
    /// Access units, the one that is being sent included.
    package var count: Int
    /// The link took no more when it was last written to. False with something waiting: the sending thread has not come
    /// round to it yet.
    package var isBlocked: Bool
    /// Bytes that the link has taken and the other end has not confirmed, less what is under way without any queue.
    package var unconfirmed: Int

    package init(bytes: Int = 0, count: Int = 0, isBlocked: Bool = false, unconfirmed: Int = 0) {
        self.bytes = bytes
        self.count = count
        self.isBlocked = isBlocked
        self.unconfirmed = unconfirmed
    }
}
