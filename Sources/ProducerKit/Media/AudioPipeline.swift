import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport

/// Collects PCM into packets, encodes them as Opus and hands them to every receiver.
///
/// One thread, "audio-encode", from `start` to `stop`.
final class AudioPipeline: @unchecked Sendable {  // `sentCount` by `lock`; encoder state: encoding thread.
    /// About one second of 10 ms blocks; more means that the machine is stuck, and the oldest sound goes.
    private let queue = BoundedQueue<AudioBlock>(capacity: 100)
    /// More than the queues of all connections hold together: a studio that takes nothing never starves the others.
    private let packets = ReusePool<MediaPacket>(
        capacity: ProducerServer.maximumSessions * SecureCarrier.audioQueueCapacity + 16
    ) { MediaPacket(capacity: 1500) }
    private let subscribers = SubscriberList()
    private let pauseGate: PauseGate
    private let format: AudioStreamFormat
    private var thread: NamedThread?
    private let lock = Lock()
    private var sentCount = 0

    // Encoding thread only.
    private var encoder: OpusAudioEncoder
    private let packetizer: AudioPacketizer
    private var seenPauses = 0
    private var sequence: UInt32 = 0
    private let epoch: UInt16 = 1

    init(pauseGate: PauseGate) throws(GantryError) {
        self.pauseGate = pauseGate
        let encoder = try OpusAudioEncoder()
        format = encoder.format
        self.encoder = encoder
        packetizer = AudioPacketizer(samplesPerPacket: encoder.format.samplesPerPacket, lookahead: encoder.lookahead)
    }

    func start() throws(GantryError) {
        thread = try NamedThread("audio-encode", urgency: .sound) { [self] in run() }
    }

    func stop() {
        queue.close()
        thread?.join()
        thread = nil
    }

    // MARK: Any thread

    /// Sound from before the last resume is let go.
    func enqueue(_ block: AudioBlock) {
        if pauseGate.permits(block.presentationTime) { queue.pushDroppingOldest(block) }
    }

    func add(_ subscriber: any MediaSubscriber) {
        subscriber.formatChanged(.audio(format), epoch: epoch)
        subscribers.add(subscriber)
    }

    func remove(_ subscriber: any MediaSubscriber) { subscribers.remove(subscriber) }
    var isReceived: Bool { !subscribers.isEmpty }

    var packetsSent: Int { lock.withLock { sentCount } }
    var samplesPerPacket: Int { format.samplesPerPacket }

    // MARK: Encoding thread

    private func run() {
        while let block = queue.pop() {
            let receivers = subscribers.snapshot
            if receivers.isEmpty {
                packetizer.reset()
                continue
            }
            guard pauseGate.permits(block.presentationTime) else { continue }
            do throws(GantryError) {
                try beginAnewAfterPause()
                try packetizer.append(block) { samples, presentation, capture throws(GantryError) in
                    try send(samples, presentation: presentation, capture: capture, to: receivers)
                }
            } catch {
                Log.warning("sound is left out: \(error)")
                return
            }
        }
    }

    /// Packetizer and encoder hold sound from before the pause, which must not go out.
    private func beginAnewAfterPause() throws(GantryError) {
        let pauses = pauseGate.pauseCount
        guard pauses != seenPauses else { return }
        seenPauses = pauses
        packetizer.reset()
        encoder = try OpusAudioEncoder()
    }

    private func send(
        _ samples: UnsafeBufferPointer<Float>, presentation: MediaTimestamp, capture: MediaTimestamp,
        to receivers: [SubscriberList.Entry]
    ) throws(GantryError) {
        guard let packet = packets.take() else { return }
        try encoder.encode(samples, frames: format.samplesPerPacket, into: packet)
        packet.header.sequence = sequence
        packet.header.epoch = epoch
        packet.header.presentationTime = presentation
        packet.header.captureTime = capture
        sequence &+= 1
        let isSent = pauseGate.pass(capture) {
            for receiver in receivers { _ = receiver.subscriber.send(packet) }
        }
        if isSent { lock.withLock { sentCount += 1 } }
    }
}
