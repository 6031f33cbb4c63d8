import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust

/// Who uses a carrier in the tests: notes what happens.
final class CarrierNotes: CarrierHandler {
    struct State: Sendable {
        var isOpen = false
        var messages = 0
        var isClosed = false
        var error: GantryError?
    }

    let state = Watched(State())

    static func carrier(_ role: TLSEngine.Role, _ link: any Link) throws -> SecureCarrier {
        try SecureCarrier(
            link: link, identity: try Identity(),
            configuration: .init(
                role: role, alpn: "gantry/1", handshakeLimit: patience, phase: .session, threadName: "test-carrier")
        ) { _ in .trusted }
    }

    /// An access unit of that size.
    static func picture(_ size: Int) -> MediaPacket {
        let packet = MediaPacket(capacity: size)
        [UInt8](repeating: 0x5A, count: size).withUnsafeBytes { packet.append($0) }
        packet.codec = .h264
        packet.header = MediaHeader(
            sequence: 0, presentationTime: MonotonicClock.now(), captureTime: MonotonicClock.now(), epoch: 0,
            isKey: true)
        return packet
    }

    func carrierEstablished(_ peer: CarrierPeer) { state.change { $0.isOpen = true } }
    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        if chunk.endsMessage { state.change { $0.messages += 1 } }
    }
    func carrierBroken(_ error: GantryError) {}
    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? { nil }
    func carrierClosed(_ error: GantryError?) {
        state.change {
            $0.isClosed = true
            $0.error = error
        }
    }
}
