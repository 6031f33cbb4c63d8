import GantryCore
import GantryPlatform

/// One receiver of the encoded streams: a connection. Called from the encoding threads; nothing here may block.
protocol MediaSubscriber: AnyObject, Sendable {
    /// Comes before the first packet of `epoch`.
    func formatChanged(_ format: StreamFormat, epoch: UInt16)
    /// Video that waits to be sent to this receiver.
    var videoBacklog: VideoBacklog { get }
    /// Bits a second of video that its link takes; nil where nothing is known of that.
    var videoRate: Int? { get }
    /// False while its link is too poor for a picture, or it does not read.
    var takesVideo: Bool { get }
    /// Video is wanted at that many bits a second at most, from now on.
    func videoBegins(maximum: Int)
    /// A picture was left out because too much waits for it.
    func videoHeldUp()
    /// The encode that it receives has another rate from now on.
    func rateChanged(_ rate: Rate)
    /// False when the packet did not fit: it is lost to this receiver.
    func send(_ packet: MediaPacket) -> Bool
}

/// The receivers of one stream. Any thread adds and removes; the encoding thread sends.
final class SubscriberList: @unchecked Sendable {  // `entries` by `lock`; an entry's fields by the encoding thread.
    final class Entry {
        let subscriber: any MediaSubscriber
        /// Gets nothing before the next key frame.
        var awaitsKeyFrame = true
        /// Knows which rate is wanted at most.
        var hasBegun = false
        /// Takes the next packet.
        var isReady = false
        /// So much slower than the others that it gets key frames only, and those not before this time.
        var isHopeless = false
        var nextKeyFrame = MediaTimestamp(microseconds: 0)

        init(_ subscriber: any MediaSubscriber) { self.subscriber = subscriber }
    }

    private let lock = Lock()
    private var entries: [Entry] = []

    func add(_ subscriber: any MediaSubscriber) {
        lock.withLock {
            if !entries.contains(where: { $0.subscriber === subscriber }) { entries.append(Entry(subscriber)) }
        }
    }

    func remove(_ subscriber: any MediaSubscriber) {
        lock.withLock { entries.removeAll { $0.subscriber === subscriber } }
    }

    /// A shared copy: no allocation.
    var snapshot: [Entry] { lock.withLock { entries } }
    var isEmpty: Bool { lock.withLock { entries.isEmpty } }
}
