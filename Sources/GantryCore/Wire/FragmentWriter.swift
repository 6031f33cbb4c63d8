/// Cuts one message into fragments: gives the header of each and the part of the payload that follows it.
package struct FragmentWriter: Sendable {
    package struct Fragment: Hashable, Sendable {
        package let header: FrameHeader
        /// Offsets into the payload of the message.
        package let range: Range<Int>
    }

    package let type: MessageType
    package let flags: FrameFlags
    package let channel: UInt16
    /// Bytes of the message, prefix included.
    package let count: Int
    package private(set) var offset = 0
    package private(set) var isFinished = false

    /// `flags` without MORE; it is set here.
    package init(type: MessageType, flags: FrameFlags = [], channel: UInt16 = 0, count: Int) {
        self.type = type
        self.flags = flags.subtracting(.more)
        self.channel = channel
        self.count = max(0, count)
    }

    /// The next fragment, or nil after the last. An empty message has one empty fragment.
    ///
    /// - Parameter limit: bytes at most; smaller ones let other channels in between sooner.
    package mutating func next(limit: Int = WireLimits.sentFragment) -> Fragment? {
        guard !isFinished else { return nil }
        let size = min(count - offset, max(1, min(limit, WireLimits.sentFragment)))
        let range = offset..<offset + size
        offset += size
        isFinished = offset == count
        let header = FrameHeader(
            type: type, flags: isFinished ? flags : flags.union(.more), channel: channel, length: UInt32(size))
        return Fragment(header: header, range: range)
    }
}
