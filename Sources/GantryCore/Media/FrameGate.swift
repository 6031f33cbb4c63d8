/// Decides before a frame is encoded whether the link is ready for it.
///
/// What cannot be sent is left out *before* encoding, so that references stay valid and delay never grows: a backlog
/// of more than one and a half frames means that the link is slower than the stream.
package struct FrameGate {
    /// Below this a backlog says nothing: it is less than one TLS record.
    private static let minimumBytes = 16 * 1024
    /// Mean size of an access unit, in bytes, over about 16 frames.
    private var meanBytes = 0

    package init() {}

    package func permits(backlogBytes: Int, backlogCount: Int) -> Bool {
        if backlogCount < 1 || backlogBytes <= Self.minimumBytes { return true }
        return backlogCount < 3 && backlogBytes <= meanBytes + meanBytes / 2
    }

    package mutating func encoded(bytes: Int) {
        meanBytes = meanBytes == 0 ? bytes : meanBytes + (bytes - meanBytes) / 16
    }
}
