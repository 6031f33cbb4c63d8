import GantryCore
import GantryPlatform
import StudioKit

/// How much media has come, by the producer's stamps: ends `--duration`.
final class MediaClock: PacketOutput, @unchecked Sendable {  // Everything is guarded by `lock`.
    private let lock = Lock()
    private var first: MediaTimestamp?
    private var end = MediaTimestamp(microseconds: 0)
    private var countsVideo = false
    private var frameDuration = MediaDuration.zero

    let wantsRegularKeyFrames = false

    func expect(video: Bool, audio: Bool) { lock.withLock { countsVideo = video } }

    func formatChanged(_ format: StreamFormat, epoch: UInt16) {
        if case .video(let video) = format { lock.withLock { frameDuration = video.frameRate.frameDuration } }
    }

    func receive(_ packet: MediaPacket) {
        lock.withLock {
            guard packet.codec.isVideo == countsVideo else { return }
            if first == nil { first = packet.header.presentationTime }
            end = packet.header.presentationTime + (countsVideo ? frameDuration : .milliseconds(10))
        }
    }

    func finish() {}

    /// From the first packet to the end of the last; nil before the first.
    var received: MediaDuration? { lock.withLock { first.map { end - $0 } } }
}
