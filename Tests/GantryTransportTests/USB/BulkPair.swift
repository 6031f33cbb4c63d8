import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport

/// Two pumps back to back over a cable in memory.
final class BulkPair: Sendable {
    struct End: Sendable {
        var isOpen = false
        var hasEnded = false
        var error: GantryError?
    }

    let wire: FakeBulkWire
    let host: SocketLink
    let device: SocketLink
    let hostPump: BulkPump
    let devicePump: BulkPump
    let hostEnd = Watched(End())
    let deviceEnd = Watched(End())

    static let nonce = [UInt8](0..<16)

    init(packetSize: Int, openLimit: MediaDuration = patience, discardLimit: Int = PrefaceScanner.defaultLimit) throws {
        wire = try FakeBulkWire(packetSize: packetSize)
        let hostPair = try SocketLink.pair(sendBuffer: USBLink.sendBuffer)
        let devicePair = try SocketLink.pair(sendBuffer: USBLink.sendBuffer)
        host = hostPair.0
        device = devicePair.0
        let hostPreface = LinkPreface(nonce: Self.nonce, from: .host)!
        let devicePreface = LinkPreface(nonce: Self.nonce, from: .device)!
        var ofHost = BulkPump.Configuration(
            threadName: "test-host", ownPreface: hostPreface, peerPreface: devicePreface)
        ofHost.openLimit = openLimit
        ofHost.discardLimit = discardLimit
        var ofDevice = BulkPump.Configuration(
            threadName: "test-device", ownPreface: devicePreface, peerPreface: hostPreface)
        ofDevice.openLimit = openLimit
        ofDevice.discardLimit = discardLimit
        let (hostEnd, deviceEnd) = (hostEnd, deviceEnd)
        hostPump = try BulkPump(
            pipe: wire.host, socket: hostPair.1, configuration: ofHost, onOpen: { hostEnd.change { $0.isOpen = true } },
            onEnd: { error in
                hostEnd.change {
                    $0.hasEnded = true
                    $0.error = error
                }
            })
        devicePump = try BulkPump(
            pipe: wire.device, socket: devicePair.1, configuration: ofDevice,
            onOpen: { deviceEnd.change { $0.isOpen = true } },
            onEnd: { error in
                deviceEnd.change {
                    $0.hasEnded = true
                    $0.error = error
                }
            })
        let pump = devicePump
        wire.onFinish(atHost: false) { pump.announceEnd(total: $0) }
    }

    func start() throws {
        try devicePump.start()
        try hostPump.start()
    }

    func finish() {
        hostPump.stop()
        devicePump.stop()
        hostPump.join()
        devicePump.join()
        wire.dismantle()
    }
}
