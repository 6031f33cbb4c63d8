/// Decides before a frame is encoded whether the link is ready for it.
///
/// What cannot be sent is left out *before* encoding, so that references stay valid and delay never grows: a backlog
/// of more than one and a half frames in front of a link that takes no more means that the link is slower than the
/// stream. A backlog in front of a link that is free means only that this machine is busy; it goes out at once when the
/// sending thread runs, so a few more frames are let in. What the link has taken and not brought to the other end counts
/// as well: the queue may stand in the kernel, or in the network.
package struct FrameGate {
    /// Below this a backlog says nothing: it is about one TLS record.
    private static let minimumBytes = 16 * 1024
    /// Access units that may wait in front of a blocked and of a free link.
    private static let blockedLimit = 3
    private static let freeLimit = 8
    /// Mean size of an access unit, in bytes, over about 16 frames.
    private var meanBytes = 0

    package init() {}

    package func permits(_ backlog: VideoBacklog) -> Bool {
        let unconfirmed = max(0, backlog.unconfirmed)
        let bytes = (backlog.count < 1 ? 0 : backlog.bytes) + unconfirmed
        if bytes <= Self.minimumBytes { return true }
        if !backlog.isBlocked, unconfirmed <= Self.minimumBytes { return backlog.count < Self.freeLimit }
        return backlog.count < Self.blockedLimit && bytes <= meanBytes + meanBytes / 2
    }

    package mutating func encoded(bytes: Int) {
        meanBytes = meanBytes == 0 ? bytes : meanBytes + (bytes - meanBytes) / 16
    }
}
