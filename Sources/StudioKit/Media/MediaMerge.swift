import GantryCore
import GantryPlatform

/// Brings packets that come over the connection and beside it into one order, for all channels of a session: what is older than
/// what was handed on last is left out. Any thread; whoever hands on a packet holds the lock meanwhile.
final class MediaMerge: @unchecked Sendable {  // All state is guarded by `lock`.
    private struct Channel {
        var last: UInt32?
        var cameByDatagram = false
        var epoch: UInt16?
        /// Of the packet that was handed on last: FORMAT may be ahead of its like.
        var handedEpoch: UInt16?
        /// Since when the next datagram waits for something.
        var held: MediaTimestamp?
    }

    /// The connection's packets from before a change of the way may be so much later than the first datagram.
    private static let gapPatience = MediaDuration.milliseconds(60)
    /// FORMAT, which comes over the connection.
    private static let formatPatience = MediaDuration.milliseconds(400)

    private let lock = Lock()
    private var channels: [Channel] = Array(repeating: Channel(), count: WireLimits.maximumChannels + 1)

    func formatChanged(_ channel: UInt16, epoch: UInt16) {
        lock.withLock {
            if channels.indices.contains(Int(channel)) { channels[Int(channel)].epoch = epoch }
        }
    }

    /// Whether a unit that has come by datagrams may be handed on now.
    func isReady(_ header: MediaHeader, channel: UInt16, now: MediaTimestamp) -> Bool {
        lock.withLock {
            guard channels.indices.contains(Int(channel)) else { return false }
            let state = channels[Int(channel)]
            var patience: MediaDuration?
            if state.epoch != header.epoch, state.handedEpoch != header.epoch {
                patience = Self.formatPatience
            } else if !state.cameByDatagram, let last = state.last, header.sequence &- last > 1,
                header.sequence &- last < 1 << 16
            {
                patience = Self.gapPatience
            }
            guard let patience else {
                channels[Int(channel)].held = nil
                return true
            }
            let since = state.held ?? now
            channels[Int(channel)].held = since
            return now - since >= patience
        }
    }

    /// Calls `body` while no packet is handed on.
    func betweenPackets(_ body: () -> Void) { lock.withLock { body() } }

    /// Hands on a packet with `body`, unless a later one has been.
    func pass(_ packet: MediaPacket, channel: UInt16, isDatagram: Bool, _ body: (MediaPacket) -> Void) {
        lock.withLock {
            guard channels.indices.contains(Int(channel)) else { return }
            let sequence = packet.header.sequence
            // The connection alone keeps its order. A step of more than 2^16 is a new beginning, as in `StreamCounter`.
            if isDatagram || channels[Int(channel)].cameByDatagram, let last = channels[Int(channel)].last,
                last &- sequence < 1 << 16
            {
                return
            }
            channels[Int(channel)].last = sequence
            channels[Int(channel)].handedEpoch = packet.header.epoch
            channels[Int(channel)].cameByDatagram = isDatagram
            channels[Int(channel)].held = nil
            body(packet)
        }
    }
}
