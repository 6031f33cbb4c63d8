public import GantryCore
import GantryMedia
import GantryPlatform

/// Sends a session on to a media server, by RTMP, RTSP or SRT, so that it reaches more people than one studio serves. Pictures
/// go as they came; sound, too, but to RTMP, where it becomes AAC. Give it to `StudioSessionConfiguration.packetOutputs` of one
/// session.
///
/// It connects as soon as a session tells what comes, and outlives the session's connections and its own: when the server has
/// gone, it is tried again after half a second to 15 seconds, and gets a key frame first, which the producer is asked for. Stamps
/// go on meanwhile, and never turn back. A server that is too slow gets holes: two seconds wait for it at most. Nothing here
/// holds up the session. Thread: "relay".
public final class RelayOutput: PacketOutput, EndingOutput, @unchecked Sendable {
    // `thread` is set once, before anyone else has us.

    /// Scheme, host, port and path, without what is secret in the URL. Safe to print.
    public let address: String
    /// Name, password, passphrase or stream key stand in the URL: whoever reads it may send in our place.
    public let hasSecret: Bool

    private let queue = RelayQueue()
    private let worker: RelayWorker
    private let end = OutputEnd()
    private var thread: NamedThread?

    /// How long the server may take for what waits at the end.
    private static let patience = MediaDuration.seconds(3)

    /// - Parameters:
    ///   - url: rtmp://HOST/APPLICATION/KEY, rtmps://, rtsp://HOST:PORT/PATH, srt://HOST:PORT?streamid=NAME&passphrase=SECRET.
    ///     A name and password may stand before the host.
    ///   - waits: goes on when the server cannot be reached the first time; false: that is a failure.
    ///   - changed: told on the relay's thread.
    ///   - failed: told once, on the relay's thread, when it can never go on: the first connection failed, or the media are none
    ///     that servers take.
    /// - Throws: `invalidArgument` for a URL of another scheme, `general` when the system gives no thread.
    public init(
        url: String, waits: Bool = false, changed: @escaping @Sendable (RelayEvent) -> Void = { _ in },
        failed: @escaping @Sendable (GantryError) -> Void = { _ in }
    ) throws(GantryError) {
        let address = try RelayAddress(url)
        self.address = address.shown
        hasSecret = address.hasSecret
        let worker = RelayWorker(address, queue: queue, waits: waits, changed: changed)
        self.worker = worker
        let (queue, end) = (queue, end)
        thread = try NamedThread("relay") {
            defer { end.reach() }
            do throws(GantryError) {
                try worker.run()
            } catch {
                queue.close()
                queue.removeAll()
                // Ended by us while it connected: no failure, and it must not hide why.
                if error.code != .cancelled { failed(error) }
            }
        }
    }

    deinit { queue.close() }

    public var returnsAtOnce: Bool { true }
    public func expect(video: Bool, audio: Bool) { queue.expect(video: video, audio: audio) }
    public func formatChanged(_ format: StreamFormat, epoch: UInt16) { queue.formatChanged(format) }
    public func receive(_ packet: CodedPacket) { queue.push(packet.packet) }
    public var wantsRegularKeyFrames: Bool { true }
    public var awaitsKeyFrame: Bool { worker.awaitsKeyFrame || queue.awaitsKeyFrame }

    func beginEnd() {
        queue.close()
        end.begin()
    }

    /// Sends what waits, for three seconds at most, and says goodbye to the server.
    public func finish() {
        beginEnd()
        if !end.wait(until: end.begin().time + Self.patience) { worker.stop() }
        thread?.join()
    }

    /// Any thread.
    public var statistics: RelayStatistics {
        var result = worker.statistics
        result.packetsDropped += queue.droppedCount
        return result
    }
}
