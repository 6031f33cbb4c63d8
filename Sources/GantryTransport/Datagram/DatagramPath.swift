import GantryCore

/// The two hosts of a connection, for datagrams beside it.
package struct DatagramPath: Sendable {
    let local: SocketAddress
    let remote: SocketAddress

    /// UDP payloads to try, largest first.
    package var payloadSizes: [Int] {
        remote.isIPv4 ? DatagramLimits.payloadSizesIPv4 : DatagramLimits.payloadSizesIPv6
    }
}
