import GantryCore
import GantryPlatform

/// The link of a USB session: one end of a socket pair, whose other end a `BulkPump` serves.
package enum USBLink {
    /// Bytes that may wait from the carrier to the pump (SO_SNDBUF; the kernel doubles it): few, so that the frame gate
    /// sees a link that is blocked.
    package static let sendBuffer = 32 * 1024

    /// The carrier's end, and the pump's.
    static func pair(peerAddress: String) throws(GantryError) -> (SocketLink, SocketLink) {
        do throws(SystemError) {
            return try SocketLink.pair(sendBuffer: sendBuffer, peerAddress: peerAddress)
        } catch {
            throw GantryError(
                .general, "No more files can be opened. Raise the limit with: ulimit -n 4096", cause: error.description)
        }
    }
}
