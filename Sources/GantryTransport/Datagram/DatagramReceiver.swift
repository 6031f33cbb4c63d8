package import GantryCore
import GantryPlatform
import Glibc

/// The studio's end of media over UDP: answers probes, puts access units and sound together, asks again for what is missing, and
/// reports.
///
/// One thread, "studio-udp", from `start` to `stop`; the sinks are called on it.
package final class DatagramReceiver: @unchecked Sendable {
    // `isStopping`, `figures`, `counts`, `isInUse` and `feedback` are guarded by `lock`; the rest: its thread.
    package struct Stream {
        let channel: UInt16
        let isVideo: Bool
        let sink: any StreamSink

        package init(channel: UInt16, isVideo: Bool, sink: any StreamSink) {
            self.channel = channel
            self.isVideo = isVideo
            self.sink = sink
        }
    }

    private static let helloInterval = MediaDuration.milliseconds(20)
    /// Without anything from the producer for so long nothing more is said.
    private static let patience = MediaDuration.seconds(3)

    private let socket: DatagramSocket
    private let protection: SRTPContext
    private let opening: SRTPContext
    private let streams: [(receiver: StreamReceiver, sink: any StreamSink)]
    private let wake: EventDescriptor
    private let lock = Lock()
    private var isStopping = false
    private var figures = DatagramFigures()
    private var counts: [StreamStatistics]
    private var isInUse = false
    /// The newest of each channel, to be told.
    private var feedback: [Feedback] = []
    private var thread: NamedThread?

    private var began: MediaTimestamp?
    private var heardAt: MediaTimestamp?
    private var nextHello = MediaTimestamp(microseconds: 0)
    private var nextReport = MediaTimestamp(microseconds: 0)
    private var requests: [Int64] = []
    private var mediaAt: MediaTimestamp?
    /// What is being told; the memory changes places with that of `feedback`.
    private var telling: [Feedback] = []
    private let batch = DatagramBatch(size: 2048)
    private let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)

    /// - Throws: `general`, `tls`.
    package init(path: DatagramPath, keys: DatagramKeys, streams: [Stream]) throws(GantryError) {
        socket = try DatagramSocket(path)
        wake = try EventDescriptor()
        protection = try SRTPContext(.sending, keys: keys.studio, sources: [DatagramLimits.studioSource])
        opening = try SRTPContext(
            .receiving, keys: keys.producer,
            sources: streams.map { UInt32($0.channel) } + [DatagramLimits.producerSource])
        let code = ISALErasureCode()
        self.streams = streams.map {
            (StreamReceiver(source: UInt32($0.channel), isVideo: $0.isVideo, code: code), $0.sink)
        }
        counts = streams.map { _ in StreamStatistics() }
        requests.reserveCapacity(DatagramLimits.requestedPackets)
        feedback.reserveCapacity(streams.count)
        telling.reserveCapacity(streams.count)
    }

    deinit { scratch.deallocate() }

    package var port: UInt16 { socket.port }

    /// - Parameter port: the producer's.
    package func start(port: UInt16) throws(GantryError) {
        try socket.connect(port: port)
        thread = try NamedThread("studio-udp", urgency: .network) { [self] in run() }
    }

    /// Ends the thread. Any thread.
    package func stop() {
        lock.withLock { isStopping = true }
        wake.signal()
        thread?.join()
    }

    /// Something that a sink waits for has changed: it is asked again.
    package func wakeUp() { wake.signal() }

    /// Tells the producer beside the connection, too, while media comes this way: it must not wait for what TCP has lost. False: none
    /// comes. Any thread.
    package func tell(_ news: Feedback) -> Bool {
        let isTaken = lock.withLock {
            if let index = feedback.firstIndex(where: { $0.channel == news.channel }) {
                feedback[index] = news
            } else if feedback.count < streams.count {
                feedback.append(news)
            }
            return isInUse
        }
        wake.signal()
        return isTaken
    }

    /// When the producer was heard last.
    package var lastHeard: MediaTimestamp? { lock.withLock { figures.heardAt } }

    package var statistics: (DatagramFigures, [StreamStatistics]) { lock.withLock { (figures, counts) } }
}

// MARK: - Its thread

extension DatagramReceiver {
    private func run() {
        while !lock.withLock({ isStopping }) {
            let now = MonotonicClock.now()
            receive(now: now)
            for stream in streams { stream.receiver.timeAdvanced(now: now, sink: stream.sink) }
            speak(now: now)
            wait(now: now)
        }
        // What had come before the end is still handed on.
        let now = MonotonicClock.now()
        receive(now: now)
        for stream in streams { stream.receiver.timeAdvanced(now: now, sink: stream.sink) }
    }

    private func wait(now: MediaTimestamp) {
        var deadline = heardAt == nil ? nextHello : nextReport
        if streams.contains(where: \.receiver.isWaiting) { deadline = now + .milliseconds(1) }
        if let heardAt, now - heardAt > Self.patience { deadline = now + .seconds(1) }
        socket.wait(until: deadline, or: wake)
    }

    private func receive(now: MediaTimestamp) {
        // Bounded: a flood must not keep reports from going out.
        for _ in 0..<8 {
            let count = batch.receive(on: socket.rawValue) { take($0, now: now) }
            guard let count, count == DatagramBatch.capacity else { break }
        }
        lock.withLock {
            isInUse = mediaAt.map { now - $0 < Self.patience } ?? false
            for index in streams.indices { counts[index] = streams[index].receiver.statistics }
        }
    }

    private func take(_ datagram: UnsafeMutableRawBufferPointer, now: MediaTimestamp) {
        let isControl = SRTPContext.isControl(UnsafeRawBufferPointer(datagram))
        guard let size = isControl ? opening.openControl(datagram) : opening.open(datagram) else {
            lock.withLock { figures.refused += 1 }
            return
        }
        heardAt = now
        lock.withLock {
            figures.accepted += 1
            figures.heardAt = now
        }
        let plain = UnsafeRawBufferPointer(rebasing: datagram[..<size])
        if isControl {
            ControlPacket.read(plain) { item in
                guard case .sent(let source, let highest) = item else { return }
                for stream in streams where stream.receiver.source == source {
                    stream.receiver.told(highest: highest, now: now)
                }
            }
            return
        }
        guard let header = RTPHeader(plain) else { return }
        if header.source == DatagramLimits.producerSource { return answer(header, size: datagram.count, now: now) }
        mediaAt = now
        for stream in streams where stream.receiver.source == header.source {
            stream.receiver.receive(plain, now: now, sink: stream.sink)
        }
    }

    /// `size`: of the whole datagram.
    private func answer(_ header: RTPHeader, size: Int, now: MediaTimestamp) {
        guard header.payloadType == DatagramLimits.probePayloadType else { return }
        say { $0.probed(number: header.timestamp, size: size) }
    }

    private func speak(now: MediaTimestamp) {
        guard let heardAt else {
            // Opens the way for the producer's probes through a firewall on this side.
            guard now >= nextHello else { return }
            let began = self.began ?? now
            self.began = began
            nextHello = now + (now - began < Self.patience ? Self.helloInterval : .seconds(1))
            return say { $0.hello() }
        }
        guard now - heardAt < Self.patience else { return }
        tellFeedback(now: now)
        let isDue = now >= nextReport
        if isDue { nextReport = now + DatagramLimits.reportInterval }
        for stream in streams {
            let receiver = stream.receiver
            requests.removeAll(keepingCapacity: true)
            receiver.collectRequests(into: &requests, now: now)
            if isDue { receiver.calmDown() }
            guard isDue || !requests.isEmpty else { continue }
            say { writer in
                if isDue { writer.report(receiver.report()) }
                writer.request(requests, of: receiver.source)
            }
        }
    }

    private func tellFeedback(now: MediaTimestamp) {
        lock.withLock { swap(&feedback, &telling) }
        defer { telling.removeAll(keepingCapacity: true) }
        guard let mediaAt, now - mediaAt < Self.patience, !telling.isEmpty else { return }
        say { writer in
            for feedback in telling { writer.feedback(feedback) }
        }
    }

    private func say(_ body: (inout ControlWriter) -> Void) {
        var writer = ControlWriter(
            UnsafeMutableRawBufferPointer(rebasing: scratch[..<DatagramLimits.smallestPayload]),
            source: DatagramLimits.studioSource)
        body(&writer)
        guard writer.count > 0, let size = protection.protectControl(scratch, count: writer.count) else { return }
        // Not the batch: its memory holds what is being received.
        _ = send(socket.rawValue, scratch.baseAddress, size, CInt(MSG_NOSIGNAL))
    }
}
