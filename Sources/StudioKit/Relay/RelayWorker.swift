import GantryCore
import GantryMedia
import GantryPlatform

/// The thread of a relay: connects, sends, and connects again.
final class RelayWorker: @unchecked Sendable {
    // `counts` and `isWaitingForKey` are guarded by `lock`; the rest belongs to the relay's thread.
    private let queue: RelayQueue
    private let writer: RelayWriter
    private let guardian: InputGuardian
    private let waits: Bool
    private let changed: @Sendable (RelayEvent) -> Void
    private let lock = Lock()
    private var counts = RelayStatistics()
    private var isWaitingForKey = false

    private var formats = ExpectedFormats()
    private var delay = ReconnectDelay()
    private var nextAttempt: MediaTimestamp?
    private var hasStood = false
    private var knownOverruns = 0
    private var hasToldSlow = false

    init(
        _ address: RelayAddress, queue: RelayQueue, waits: Bool, changed: @escaping @Sendable (RelayEvent) -> Void
    ) {
        self.queue = queue
        self.waits = waits
        self.changed = changed
        guardian = InputGuardian()
        writer = RelayWriter(address, guardian: guardian)
    }

    // MARK: Any thread

    var statistics: RelayStatistics { lock.withLock { counts } }
    /// A connection may be made, as soon as there is a key frame to begin with.
    var awaitsKeyFrame: Bool { lock.withLock { isWaitingForKey } }
    /// What blocks ends at once.
    func stop() { guardian.stop() }

    // MARK: The relay's thread

    /// Until the queue is closed.
    ///
    /// - Throws: what can never be mended by trying again.
    func run() throws(GantryError) {
        defer { ended() }
        while let item = queue.pop() {
            switch item {
            case .expect(let video, let audio): formats.expect(video: video, audio: audio)
            case .format(let format):
                formats.set(format)
                guard formats.areComplete else { break }
                try writer.setFormats(
                    video: formats.expectedVideo, audio: formats.expectedAudio, isNewPicture: format.isVideo)
            case .packet(let packet, _):
                tellWhenSlow()
                try relay(packet)
            }
        }
    }

    private func relay(_ packet: MediaPacket) throws(GantryError) {
        let isOpen = writer.isOpen ? true : try open(with: packet)
        guard isOpen else { return lock.withLock { counts.packetsDropped += 1 } }
        do throws(GantryError) {
            let isSent = try writer.write(packet)
            note(packet, isSent: isSent)
        } catch {
            guard error.code != .encoder else { throw error }
            lock.withLock { counts.packetsDropped += 1 }
            lost(error)
        }
    }

    private func note(_ packet: MediaPacket, isSent: Bool) {
        lock.withLock {
            counts.bytesSent = writer.byteCount
            if !isSent {
                counts.packetsDropped += 1
            } else if packet.codec.isVideo {
                counts.framesSent += 1
            } else {
                counts.audioPacketsSent += 1
            }
        }
    }

    /// False: not yet, or it failed.
    private func open(with packet: MediaPacket) throws(GantryError) -> Bool {
        guard formats.areComplete, MonotonicClock.now() >= nextAttempt ?? MonotonicClock.now() else { return false }
        guard writer.canOpen(with: packet) else {
            lock.withLock { isWaitingForKey = formats.expectedVideo != nil }
            return false
        }
        lock.withLock { isWaitingForKey = false }
        do throws(GantryError) {
            try writer.open(with: packet)
        } catch {
            let isFinal = error.code == .unsupportedCodec || error.code == .general
            guard error.code != .cancelled, !isFinal, waits || hasStood else { throw error }
            lost(error)
            return false
        }
        hasStood = true
        hasToldSlow = false
        delay.succeeded()
        lock.withLock {
            counts.connections += 1
            counts.isConnected = true
        }
        changed(.connected)
        return true
    }

    private func lost(_ error: GantryError) {
        lock.withLock { counts.isConnected = false }
        guard error.code != .cancelled else { return }
        let pause = delay.next()
        nextAttempt = MonotonicClock.now() + pause
        changed(.lost(error, retryAfter: pause))
    }

    private func tellWhenSlow() {
        let overruns = queue.overrunCount
        guard overruns > knownOverruns else { return }
        knownOverruns = overruns
        guard writer.isOpen, !hasToldSlow else { return }
        hasToldSlow = true
        changed(.tooSlow)
    }

    private func ended() {
        writer.close()
        lock.withLock {
            counts.isConnected = false
            isWaitingForKey = false
        }
    }
}
