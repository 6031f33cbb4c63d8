import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport

/// Two links back to back over a cable in memory.
final class BulkPair: Sendable {
    let wire: FakeBulkWire
    let host: BulkLink
    let device: BulkLink

    static let nonce = [UInt8](0..<16)

    /// - Parameter before: what an earlier session has left on the wire.
    init(
        packetSize: Int, discardLimit: Int = PrefaceScanner.defaultLimit, before: (FakeBulkWire) -> Void = { _ in }
    ) throws {
        wire = try FakeBulkWire(packetSize: packetSize)
        before(wire)
        let hostPreface = LinkPreface(nonce: Self.nonce, from: .host)!
        let devicePreface = LinkPreface(nonce: Self.nonce, from: .device)!
        device = try BulkLink(
            pipe: wire.device, peerAddress: "fake:host", ownPreface: devicePreface, peerPreface: hostPreface,
            discardLimit: discardLimit)
        host = try BulkLink(
            pipe: wire.host, peerAddress: "fake:device", ownPreface: hostPreface, peerPreface: devicePreface,
            discardLimit: discardLimit)
        let device = device
        wire.onFinish(atHost: false) { device.announceEnd(total: $0) }
    }

    /// Both have the other's preface. Neither waits: it is there.
    func begin() throws {
        try host.open(limit: patience)
        try device.open(limit: patience)
    }

    /// Lets go of what holds on to each other.
    func finish() {
        host.close()
        device.close()
        wire.dismantle()
    }
}
