import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport

/// Notes what a carrier tells, and can hold its I/O thread in a call, as a reader that does not read.
final class RecordingHandler: CarrierHandler, Sendable {
    struct Message: Sendable, Equatable {
        var type: MessageType
        var channel: UInt16
        var flags: FrameFlags
        var size: Int
        /// The whole payload, of small messages only.
        var bytes: [UInt8]
    }

    struct State: Sendable {
        var peer: CarrierPeer?
        /// In the order of their last piece.
        var messages: [Message] = []
        /// In the order of their first piece.
        var begun: [MessageType] = []
        var open: [UInt16: Message] = [:]
        var broken: GantryError?
        var isClosed = false
        var closedError: GantryError?
        var isHeld = false
        /// Whether the I/O thread has come to where it is held.
        var isWaiting = false
    }

    let state = Watched(State())
    /// Sent when the peer breaks the protocol, as a session does.
    private let onBroken: @Sendable (GantryError) -> Void

    init(onBroken: @escaping @Sendable (GantryError) -> Void = { _ in }) { self.onBroken = onBroken }

    /// The next piece of media that comes is not taken until `release`.
    func hold() { state.change { $0.isHeld = true } }
    func release() { state.change { $0.isHeld = false } }

    func carrierEstablished(_ peer: CarrierPeer) { state.change { $0.peer = peer } }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        if chunk.type.isMedia {
            state.change { $0.isWaiting = $0.isHeld }
            state.waitBlocking { !$0.isHeld }
        }
        state.change { state in
            if chunk.startsMessage {
                state.begun.append(chunk.type)
                state.open[chunk.channel] = Message(
                    type: chunk.type, channel: chunk.channel, flags: chunk.flags, size: 0, bytes: [])
            }
            state.open[chunk.channel]?.size += chunk.payload.count
            if !chunk.type.isMedia || (state.open[chunk.channel]?.size ?? 0) < 100_000 {
                state.open[chunk.channel]?.bytes += Array(chunk.payload)
            }
            if chunk.endsMessage, let message = state.open.removeValue(forKey: chunk.channel) {
                state.messages.append(message)
            }
        }
    }

    func carrierBroken(_ error: GantryError) {
        state.change { $0.broken = error }
        onBroken(error)
    }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? { nil }

    func carrierClosed(_ error: GantryError?) {
        state.change {
            $0.isClosed = true
            $0.closedError = error
        }
    }

    /// Waits for the end, and gives its error.
    func end() async throws -> GantryError? {
        let hasEnded = try await state.wait { $0.isClosed }
        guard hasEnded else { throw GantryError(.timeout, "The carrier did not end.") }
        return state.value.closedError
    }

    /// Waits for that many whole messages.
    func messages(_ count: Int) async throws -> [Message] {
        _ = try await state.wait { $0.messages.count >= count || $0.isClosed }
        return state.value.messages
    }
}

/// A packet of `size` bytes that can be told from others by its first byte and its number.
func packet(_ codec: MediaCodec, size: Int, sequence: UInt32 = 0, isKey: Bool = true, fill: UInt8 = 0x5A)
    -> MediaPacket
{
    let packet = MediaPacket(capacity: size)
    [UInt8](repeating: fill, count: size).withUnsafeBytes { packet.append($0) }
    packet.codec = codec
    packet.header = MediaHeader(
        sequence: sequence, presentationTime: MediaTimestamp(microseconds: 0x0102_0304_0506_0708),
        captureTime: MediaTimestamp(microseconds: -2), epoch: 0x0A0B, isKey: isKey)
    return packet
}
