package import GantryCore
package import GantryPlatform
import Glibc

/// The producer's end of media over UDP: finds out whether the path takes it, then sends access units and sound as RTP in SRTP, paced
/// and with parity, and again what the studio asks for.
///
/// One thread, "producer-udp", from `start` to `stop`. Packets come from any thread and never block.
package final class DatagramSender: @unchecked Sendable {
    // `waiting`, `waitingVideo`, `isStopping`, `isBusy` and `figures` are guarded by `lock`; the rest: its thread.
    private struct Item {
        let packet: MediaPacket
        let channel: UInt16
    }

    private static let capacity = 64
    /// Packets in one call of the kernel: the studio works on them while the next ones are encrypted.
    private static let sentTogether = 6
    /// A way that is not used is kept open through firewalls.
    private static let keepAlive = MediaDuration.seconds(5)
    /// More than this is lost for a second: TLS has its own way of slowing down, and no parity helps.
    private static let tooMuchLoss = 0.3
    private static let lossPatience = MediaDuration.seconds(1)
    /// After the last packet of a unit, the studio is told what was sent.
    private static let tellAfter = MediaDuration.milliseconds(5)

    private let socket: DatagramSocket
    private let protection: SRTPContext
    private let opening: SRTPContext
    private let channels: [(channel: UInt16, isVideo: Bool)]
    private let sizes: [Int]
    private let code = ISALErasureCode()
    private let changed: @Sendable (DatagramEvent) -> Void
    private let feedback: @Sendable (Feedback) -> Void
    private let wake: EventDescriptor
    private let lock = Condition()
    private var waiting: [Item?] = Array(repeating: nil, count: capacity)
    private var waitingHead = 0
    private var waitingCount = 0
    private var waitingVideo = VideoBacklog()
    private var isStopping = false
    /// Takes packets in, or has some that are not sent yet.
    private var isBusy = false
    private var figures = DatagramFigures()
    private var thread: NamedThread?

    private var probe: PathProbe?
    private var probeSequence: UInt16 = 0
    private var nextKeepAlive = MediaTimestamp(microseconds: 0)
    private var streams: [StreamSender] = []
    private var payload = 0
    private var lossOf: [LossEstimate] = []
    private var lastReport: [ControlPacket.Report?] = []
    private var path = PathWatch(answer: .zero)
    private var sentAt: MediaTimestamp?
    private var lossySince: MediaTimestamp?
    private var tellAt: MediaTimestamp?
    private var pacer = Pacer()
    private let batch = DatagramBatch(size: 2048)
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)
    private var hasEnded = false

    /// - Parameters:
    ///   - changed: called on the sender's thread; after anything but `opened` nothing follows.
    ///   - feedback: called there as well: what the studio tells of a channel.
    /// - Throws: `general`, `tls`.
    package init(
        path: DatagramPath, keys: DatagramKeys, channels: [(channel: UInt16, isVideo: Bool)],
        changed: @escaping @Sendable (DatagramEvent) -> Void, feedback: @escaping @Sendable (Feedback) -> Void
    ) throws(GantryError) {
        socket = try DatagramSocket(path)
        wake = try EventDescriptor()
        protection = try SRTPContext(
            .sending, keys: keys.producer,
            sources: channels.map { UInt32($0.channel) } + [DatagramLimits.producerSource])
        opening = try SRTPContext(.receiving, keys: keys.studio, sources: [DatagramLimits.studioSource])
        self.channels = channels
        self.changed = changed
        self.feedback = feedback
        sizes = path.payloadSizes
    }

    deinit { scratch.deallocate() }

    package var port: UInt16 { socket.port }
    /// The largest payload that will be tried.
    package var largestPayload: Int { sizes.first ?? DatagramLimits.smallestPayload }

    /// Begins to probe.
    ///
    /// - Parameters:
    ///   - port: the studio's.
    ///   - payload: the largest that it takes.
    package func start(port: UInt16, payload: Int) throws(GantryError) {
        try socket.connect(port: port)
        let fitting = sizes.filter { $0 <= payload }
        guard !fitting.isEmpty else {
            throw GantryError(.protocolError, "The studio takes only datagrams that are too small: \(payload) bytes.")
        }
        probe = PathProbe(sizes: fitting, now: MonotonicClock.now())
        thread = try NamedThread("producer-udp", urgency: .network) { [self] in run() }
    }

    /// Ends the thread, whatever waits. Any thread.
    package func stop() {
        lock.withLock { isStopping = true }
        wake.signal()
        thread?.join()
    }

    /// Waits until everything has been sent, and where packets are lost a while longer, for what is asked for again. At most until
    /// `deadline`. Any thread but its own.
    package func drain(until deadline: MediaTimestamp) {
        let isLossy = lock.withLock { () -> Bool in
            while waitingCount > 0 || isBusy, !isStopping {
                if !lock.wait(until: deadline) { break }
            }
            return figures.loss > 0
        }
        guard isLossy else { return }
        let end = min(deadline, MonotonicClock.now() + .milliseconds(100))
        lock.withLock {
            while !isStopping, lock.wait(until: end) {}
        }
    }

    package var statistics: DatagramFigures { lock.withLock { figures } }
}

// MARK: - Sending, any thread

extension DatagramSender {
    /// False when there is no room: the packet is not sent, and for video a key frame must follow.
    package func send(_ packet: MediaPacket, channel: UInt16) -> Bool {
        let isTaken = lock.withLock { () -> Bool in
            guard !isStopping, waitingCount < waiting.count else { return false }
            waiting[(waitingHead + waitingCount) % waiting.count] = Item(packet: packet, channel: channel)
            waitingCount += 1
            if packet.codec.isVideo {
                waitingVideo.bytes += packet.count
                waitingVideo.count += 1
            }
            return true
        }
        if isTaken { wake.signal() }
        return isTaken
    }

    /// Lets go of what is not being sent yet.
    package func discardWaiting() {
        lock.withLock {
            while waitingCount > 0 { _ = takeFirst() }
        }
    }

    package var videoBacklog: VideoBacklog {
        lock.withLock {
            var backlog = waitingVideo
            backlog.bytes += figures.backlog
            if figures.backlog > 0 { backlog.count += 1 }
            backlog.isBlocked = figures.backlog > 0
            return backlog
        }
    }

    /// Only with `lock`.
    private func takeFirst() -> Item? {
        guard waitingCount > 0, let item = waiting[waitingHead] else { return nil }
        waiting[waitingHead] = nil
        waitingHead = (waitingHead + 1) % waiting.count
        waitingCount -= 1
        if item.packet.codec.isVideo {
            waitingVideo.bytes -= item.packet.count
            waitingVideo.count -= 1
        }
        return item
    }
}

// MARK: - Its thread

extension DatagramSender {
    private func run() {
        while !lock.withLock({ isStopping }), !hasEnded {
            let now = MonotonicClock.now()
            receive(now: now)
            if probe == nil { sendMedia(now: now) } else { sendProbes(now: now) }
            watch(now: now)
            keepOpen(now: now)
            if hasEnded { return }
            wait(now: now)
        }
    }

    private func end(_ event: DatagramEvent) {
        guard !hasEnded else { return }
        hasEnded = true
        lock.withLock {
            isStopping = true
            while waitingCount > 0 { _ = takeFirst() }
            figures.backlog = 0
            isBusy = false
            lock.broadcast()
        }
        changed(event)
    }

    private func wait(now: MediaTimestamp) {
        let isResting = probe == nil && sentAt.map { now - $0 > .seconds(1) } ?? true
        var deadline = now + (isResting ? .seconds(1) : .milliseconds(50))
        if let probe { deadline = min(deadline, probe.nextTime) }
        if let due = path.deadline { deadline = min(deadline, due) }
        if let tellAt { deadline = min(deadline, tellAt) }
        if streams.contains(where: \.hasMore), let next = pacer.nextTime { deadline = min(deadline, next) }
        socket.wait(until: deadline, or: wake)
    }

    private func receive(now: MediaTimestamp) {
        // Bounded: whoever floods this port must not keep media from going out.
        for _ in 0..<4 {
            let count = batch.receive(on: socket.rawValue) { datagram in
                guard SRTPContext.isControl(UnsafeRawBufferPointer(datagram)), let size = opening.openControl(datagram)
                else {
                    lock.withLock { figures.refused += 1 }
                    return
                }
                lock.withLock { figures.heardAt = now }
                ControlPacket.read(UnsafeRawBufferPointer(rebasing: datagram[..<size])) { heard($0, now: now) }
            }
            guard let count, count == DatagramBatch.capacity else { return }
        }
    }

    private func heard(_ item: ControlPacket.Item, now: MediaTimestamp) {
        switch item {
        case .missing(let source, let sequence): stream(source).map { streams[$0].requested(sequence) }
        case .report(let report): if let index = stream(report.source) { reported(report, index, now: now) }
        case .probed(let number, let size):
            path.arrived(now: now)
            probe?.answered(number: number, size: size, now: now)
        case .feedback(let news): feedback(news)
        case .hello, .sent: break
        }
    }

    private func stream(_ source: UInt32) -> Int? { streams.firstIndex { $0.source == source } }

    private func reported(_ report: ControlPacket.Report, _ index: Int, now: MediaTimestamp) {
        if let last = lastReport[index] {
            // 24 bits with sign: a packet that came late takes a loss back.
            let missing = Int32(bitPattern: (report.lost &- last.lost) << 8) >> 8
            let expected = Int32(bitPattern: report.highest &- last.highest)
            if expected > 0 { path.arrived(now: now) }
            lossOf[index].reported(expected: Int(expected), missing: Int(max(0, missing)), now: now)
        }
        if lastReport[index] == nil { path.arrived(now: now) }
        lastReport[index] = report
        let loss = self.loss(now: now)
        lock.withLock { figures.loss = loss }
    }

    /// Of the whole path: one stream alone may have too few packets to tell.
    private func loss(now: MediaTimestamp) -> Double { lossOf.reduce(0) { max($0, $1.value(now: now)) } }
}

// MARK: - Probing

extension DatagramSender {
    private func sendProbes(now: MediaTimestamp) {
        while let next = probe?.due(now: now) { sendProbe(next.number, size: next.size) }
        switch probe?.result(now: now) {
        case .open(let payload): open(payload, now: now)
        case .blocked: end(.blocked)
        case .running, nil: break
        }
    }

    private func sendProbe(_ number: UInt32, size: Int) {
        probeSequence &+= 1
        let header = RTPHeader(
            payloadType: DatagramLimits.probePayloadType, sequence: probeSequence, timestamp: number,
            source: DatagramLimits.producerSource)
        scratch.initializeMemory(as: UInt8.self, repeating: 0)
        header.write(to: scratch)
        guard let size = protection.protect(scratch, count: size - DatagramLimits.protection) else { return }
        batch.set(0, UnsafeRawBufferPointer(rebasing: scratch[..<size]))
        _ = batch.send(1, on: socket.rawValue)
    }

    private func keepOpen(now: MediaTimestamp) {
        guard probe == nil, now >= nextKeepAlive else { return }
        nextKeepAlive = now + Self.keepAlive
        sendProbe(0, size: 64)
    }

    private func open(_ payload: Int, now: MediaTimestamp) {
        path = PathWatch(answer: probe?.answerTime ?? .zero)
        probe = nil
        self.payload = payload
        streams = channels.map {
            StreamSender(
                source: UInt32($0.channel), isVideo: $0.isVideo, payload: payload, code: code, protection: protection)
        }
        // Sound first: it is small, and a gap in it is heard.
        streams.sort { !isVideo($0) && isVideo($1) }
        lossOf = streams.map { _ in LossEstimate() }
        lastReport = streams.map { _ in nil }
        nextKeepAlive = now + Self.keepAlive
        changed(.opened(payload: payload))
    }

    private func isVideo(_ stream: StreamSender) -> Bool {
        channels.contains { $0.channel == stream.source && $0.isVideo }
    }
}

// MARK: - Media

extension DatagramSender {
    private func sendMedia(now: MediaTimestamp) {
        while let item = lock.withLock({ takeForSending() }) {
            guard let index = stream(UInt32(item.channel)) else { continue }
            // A unit that cannot be sent shows at the studio as a gap in the sequence: it asks for a key frame.
            _ = streams[index].push(item.packet.bytes, item.packet.header, loss: loss(now: now))
            tellAt = now + Self.tellAfter
        }
        pump(now: now)
        tell(now: now)
        let backlog = streams.reduce(0) { $0 + $1.backlog }
        let sent = streams.reduce(0) { $0 + $1.packetsSent }
        let again = streams.reduce(0) { $0 + $1.packetsSentAgain }
        lock.withLock {
            figures.backlog = backlog
            figures.packetsSent = sent
            figures.packetsSentAgain = again
            isBusy = backlog > 0
            if !isBusy { lock.broadcast() }
        }
    }

    /// Only with `lock`.
    private func takeForSending() -> Item? {
        let item = takeFirst()
        if item != nil { isBusy = true }
        return item
    }

    private func pump(now: MediaTimestamp) {
        while pacer.takes(0, now: now) {
            var count = 0
            for stream in streams {
                while count < Self.sentTogether, pacer.takes(0, now: now), let packet = stream.next() {
                    _ = pacer.takes(packet.count, now: now)
                    batch.set(count, packet)
                    count += 1
                }
            }
            guard count > 0 else { return }
            path.sent(now: now)
            sentAt = now
            flush(count)
        }
    }

    /// What the kernel has no room for is lost, as on the network, and will be asked for.
    private func flush(_ count: Int) {
        guard let sent = batch.send(count, on: socket.rawValue), sent < count else { return }
        lock.withLock { figures.unsent += count - sent }
    }

    private func tell(now: MediaTimestamp) {
        guard let due = tellAt, now >= due else { return }
        tellAt = nil
        guard loss(now: now) > 0 else { return }
        var writer = ControlWriter(scratch, source: DatagramLimits.producerSource)
        for stream in streams where stream.hasSent { writer.sent(stream.source, highest: stream.highest) }
        guard writer.count > 0, let size = protection.protectControl(scratch, count: writer.count) else { return }
        batch.set(0, UnsafeRawBufferPointer(rebasing: scratch[..<size]))
        _ = batch.send(1, on: socket.rawValue)
    }

    /// Gives up a path that has stopped working.
    private func watch(now: MediaTimestamp) {
        guard probe == nil else { return }
        if path.isDead(now: now) { return end(.silent) }
        if path.isQuestionDue(now: now) { sendProbe(0, size: 64) }
        if loss(now: now) > Self.tooMuchLoss {
            let since = lossySince ?? now
            lossySince = since
            if now - since > Self.lossPatience { end(.lossy) }
        } else {
            lossySince = nil
        }
    }
}
