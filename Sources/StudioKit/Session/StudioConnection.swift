import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import GantryTrust

/// The connection of a session: performs what the session state machine decides, puts packets together and hands them
/// to decoders and packet outputs.
final class StudioConnection: CarrierHandler, @unchecked Sendable {
    // `machine`, `clock`, counters, receivers, `end` and `isRemoved` are guarded by `lock`; the rest: I/O thread only.
    private static let keyFrameInterval = MediaDuration.seconds(2)

    private unowned let session: StudioSession
    private let dialer: SessionDialer
    private let carrier: SecureCarrier
    private let verdict: PeerVerdict
    private let lock = Lock()
    private var machine: StudioSessionStateMachine?
    private var clock = ClockEstimator()
    private var videoCounter = StreamCounter()
    private var audioCounter = StreamCounter()
    private var producerStats = Stats()
    private var video: VideoReceiver?
    private var audio: AudioReceiver?
    private var end: SessionEnd?
    private var closeError: GantryError?
    private var isRemoved = false
    private var acceptedAt: MediaTimestamp?

    /// The peer has proved its key first: the session goes on here.
    private var isClaimed = false
    private var receiver = ControlReceiver()
    private var assemblers: [UInt16: MediaReassembler] = [:]
    private let videoPackets = ReusePool<MediaPacket>(capacity: 320) { MediaPacket() }
    private let audioPackets = ReusePool<MediaPacket>(capacity: 640) { MediaPacket(capacity: 1500) }
    private var nextKeyFrame: MediaTimestamp?
    /// Of the channels that we receive; empty when the producer takes no FEEDBACK.
    private var meters: [FeedbackMeter] = []
    private var nextFeedback = MediaTimestamp(microseconds: 0)
    private var peerAddress = ""
    private var publicKeyInfo: [UInt8] = []
    private var limit: MediaLimit?
    private var isPaused = false

    init(session: StudioSession, link: any Link, dialer: SessionDialer) throws(GantryError) {
        self.session = session
        self.dialer = dialer
        let verdict = PeerVerdict(
            store: session.context.store, expected: session.target.keyID, name: session.target.name,
            trusts: session.context.trusts, takesStrangers: session.target.usbSerial != nil)
        self.verdict = verdict
        carrier = try SecureCarrier(
            link: link, identity: session.context.identity,
            configuration: .init(
                role: .client, alpn: WireLimits.sessionProtocolName, phase: .beforeAcceptance, threadName: "studio-io")
        ) { verdict.decide($0) }
    }

    // MARK: Session thread

    func start() throws(GantryError) { try carrier.start(handler: self) }
    func join() { carrier.join() }

    /// How long ago the producer has let us in; nil: it has not.
    var stood: MediaDuration? { lock.withLock { acceptedAt }.map { MonotonicClock.now() - $0 } }

    /// Blocks until the connection has ended and all that came has been decoded. Returns why it ended.
    func run() -> ConnectionEnd {
        let removals = watchRemoval()
        carrier.join()
        removals?.stop()
        let (video, audio) = lock.withLock { (self.video, self.audio) }
        video?.stop()
        audio?.stop()
        let (end, closeError, isRemoved) = lock.withLock { (self.end, self.closeError, self.isRemoved) }
        if isRemoved {
            return .failed(
                GantryError(
                    .notPaired,
                    "\(session.target.name) has been removed from the paired devices here: the session ended."))
        }
        if let error = verdict.error ?? (end == nil ? closeError : end?.error) { return .failed(error) }
        return end?.isFromPeer == true ? .byProducer : .byUs
    }

    /// Another process may remove the producer: then it is told, and the session ends.
    private func watchRemoval() -> RemovalWatch? {
        let watch = RemovalWatch(
            session.context.store, threadName: "studio-trust",
            connected: { [verdict] in Set([verdict.provenKeyID].compactMap(\.self)) },
            removed: { [weak self] _ in self?.closeRemoved() })
        do throws(GantryError) {
            try watch.start()
            return watch
        } catch {
            Log.warning("\(error)")
            return nil
        }
    }

    // MARK: Any thread

    func close(_ reason: Bye.Reason = .normal) {
        guard let actions = lock.withLock({ machine?.closeRequested(reason: reason) }) else { return abort() }
        perform(actions)
    }

    /// The producer has been removed here, by this process or another one.
    private func closeRemoved() {
        // After the end it was the producer that removed us, and we it.
        lock.withLock { if end == nil { isRemoved = true } }
        close(.unpaired)
    }

    /// At once, without a goodbye.
    func abort() { carrier.close(afterSending: false) }

    var address: String { carrier.peerAddress }
    var isOnCable: Bool { address.hasPrefix("usb:") }

    private func requestKeyFrame(_ reason: Keyframe.Reason) {
        let request = Keyframe(channel: lock.withLock { videoChannel }, reason: reason)
        perform(lock.withLock { machine?.keyFrameNeeded(request, now: MonotonicClock.now()) })
    }

    private var videoChannel: UInt16 = 0

    /// Microseconds to add to a difference (our clock − producer's stamp): producer's clock minus ours.
    private var clockOffset: Int64 {
        lock.withLock { clock.offset(at: MonotonicClock.now())?.microseconds ?? 0 }
    }
}

// MARK: - The I/O thread

extension StudioConnection {
    func carrierEstablished(_ peer: CarrierPeer) {
        isClaimed = dialer.claim(self)
        guard isClaimed else { return abort() }
        session.adopt(self)
        peerAddress = peer.address
        publicKeyInfo = peer.publicKeyInfo
        let now = MonotonicClock.now()
        let actions = lock.withLock { () -> [SessionAction] in
            var machine = StudioSessionStateMachine(
                hello: Hello(
                    name: session.context.name, model: "gantry", version: GantryVersion.text,
                    codecs: [.h264, .mjpeg, .opus]),
                now: now)
            defer { self.machine = machine }
            return machine.connected(now: now)
        }
        perform(actions)
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        let now = MonotonicClock.now()
        lock.withLock { machine?.bytesReceived(now: now) }
        if chunk.type.isMedia {
            let meter = meters.firstIndex { $0.channel == chunk.channel }
            if let meter { meters[meter].add(bytes: chunk.payload.count) }
            guard let packet = try assemblers[chunk.channel]?.consume(chunk) else { return }
            if let meter { meters[meter].add(packet.header, arrived: packet.arrivalTime) }
            received(packet)
            return
        }
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            perform(lock.withLock { machine?.received(message, now: now) })
        }
    }

    func carrierBroken(_ error: GantryError) { perform(lock.withLock { machine?.failed(error) }) }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        perform(lock.withLock { machine?.timeAdvanced(now: now) })
        if let due = nextKeyFrame, now >= due {
            nextKeyFrame = now + Self.keyFrameInterval
            requestKeyFrame(.recording)
        }
        guard var deadline = lock.withLock({ machine?.nextDeadline }) else { return nil }
        if let nextKeyFrame { deadline = min(deadline, nextKeyFrame) }
        if !meters.isEmpty {
            sendFeedback(now: now)
            deadline = min(deadline, nextFeedback)
        }
        return deadline
    }

    private func sendFeedback(now: MediaTimestamp) {
        guard now >= nextFeedback else { return }
        nextFeedback = now + FeedbackMeter.interval
        let (offset, video, audio) = lock.withLock { (clock.offset(at: now), self.video, self.audio) }
        for index in meters.indices {
            let isVideo = assemblers[meters[index].channel]?.codec.isVideo == true
            let dropped = (isVideo ? video?.droppedCount : audio?.droppedCount) ?? 0
            if let feedback = meters[index].report(offset: offset, dropped: dropped, now: now) {
                carrier.send(feedback)
            }
        }
    }

    func carrierClosed(_ error: GantryError?) {
        guard isClaimed else { return dialer.ended(self, verdict.error ?? error) }
        let actions = lock.withLock { () -> [SessionAction]? in
            closeError = error
            if let error { return machine?.failed(error) }
            return machine?.transportClosed()
        }
        perform(actions)
    }

    private func received(_ packet: MediaPacket) {
        if limit?.admits(packet.header, isVideo: packet.codec.isVideo) == false {
            if limit?.isReached == true { close() }
            return
        }
        if packet.codec.isVideo {
            lock.withLock { videoCounter.add(packet.header, bytes: packet.count, arrived: packet.arrivalTime) }
            video?.enqueue(packet)
        } else {
            lock.withLock { audioCounter.add(packet.header, bytes: packet.count, arrived: packet.arrivalTime) }
            audio?.enqueue(packet)
        }
        for output in session.configuration.packetOutputs { output.receive(packet) }
    }

    private func perform(_ actions: [SessionAction]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let message): carrier.send(message)
            case .established(let accept, let peer): established(accept, peer)
            case .format(let format): formatChanged(format)
            case .stats(let stats): lock.withLock { producerStats = stats }
            case .clock(let sent, let received, let answered, let returned):
                lock.withLock { clock.add(sent: sent, received: received, answered: answered, returned: returned) }
            case .close: carrier.close()
            case .finish(let end):
                lock.withLock { self.end = end }
                if end.reason == .unpaired && end.isFromPeer {
                    // Where we have removed it, it has only answered that.
                    if !verdict.forget() { lock.withLock { isRemoved = true } }
                } else if end.error?.code == .unpairedByPeer {
                    verdict.markRejected()
                }
            case .peerFailed(let failure): Log.info("the producer reports: \(DisplayName(failure.text).text)")
            case .pause(let what): pauseChanged(to: true, what)
            case .resume(let what): pauseChanged(to: false, what)
            case .rate(let rate):
                session.report(
                    .rate(
                        VideoRate(bitrate: Int(rate.bitrate), frameRate: rate.frameRate, step: Int(rate.step))))
            case .videoState(let state): if let status = VideoStatus(state) { session.report(.videoState(status)) }
            // Not offered in HELLO yet, or told by the statistics.
            case .streams, .data, .carrierOffer, .carrierBind: break
            // For the producer's side only.
            case .decide, .authorise, .start, .keyFrame, .prefer, .feedback: break
            }
        }
    }

    private func established(_ accept: Accept, _ peer: Hello) {
        carrier.permitAllMessages()
        lock.withLock { acceptedAt = MonotonicClock.now() }
        var channels: [UInt16] = []
        do throws(GantryError) {
            if let name = try verdict.pairStranger(publicKeyInfo, named: peer.name) {
                session.report(.paired(name: name))
            }
            for stream in accept.streams {
                guard let codec = stream.codec, !assemblers.keys.contains(stream.channel) else { continue }
                switch stream.kind {
                case .video where session.configuration.wantsVideo && codec.isVideo && video == nil:
                    try addVideo(stream.channel, codec)
                case .audio where session.configuration.wantsAudio && codec == .opus && audio == nil:
                    try addAudio(stream.channel, codec)
                case .video, .audio, .data: continue
                }
                channels.append(stream.channel)
            }
        } catch {
            perform(lock.withLock { machine?.failed(error) })
            return
        }
        limit = session.remainingDuration.map { MediaLimit($0, video: video != nil, audio: audio != nil) }
        // A cable is no address to dial.
        let device = verdict.seen(at: isOnCable ? nil : peerAddress)
        session.report(
            .connected(
                name: device ?? peer.name.text, address: peerAddress,
                streams: accept.streams.map {
                    StreamInfo(
                        channel: Int($0.channel), kind: $0.kind, codec: $0.codec, name: DisplayName($0.name).text)
                }))
        for output in session.configuration.packetOutputs {
            output.expect(video: video != nil, audio: audio != nil)
            if output.wantsRegularKeyFrames && video != nil {
                nextKeyFrame = MonotonicClock.now() + Self.keyFrameInterval
            }
        }
        if lock.withLock({ machine?.features.contains(.rateControl) }) == true {
            meters = channels.map { FeedbackMeter(channel: $0) }
        }
        perform(lock.withLock { machine?.startRequested(Start(channels: channels)) })
    }

    private func addVideo(_ channel: UInt16, _ codec: MediaCodec) throws(GantryError) {
        let session = session
        let receiver = VideoReceiver(
            codec: codec, outputs: session.configuration.videoOutputs,
            clockOffset: { [weak self] in self?.clockOffset ?? 0 },
            needsKeyFrame: { [weak self] in self?.requestKeyFrame(.loss) },
            decoded: { [weak session] in session?.pictureDecoded() },
            failed: { [weak session] in session?.report(.decodingFailed($0)) })
        try receiver.start()
        lock.withLock {
            video = receiver
            videoChannel = channel
        }
        assemblers[channel] = MediaReassembler(codec: codec, pool: videoPackets)
    }

    private func addAudio(_ channel: UInt16, _ codec: MediaCodec) throws(GantryError) {
        let session = session
        let receiver = AudioReceiver(
            outputs: session.configuration.audioOutputs, clockOffset: { [weak self] in self?.clockOffset ?? 0 },
            failed: { [weak session] in session?.report(.decodingFailed($0)) })
        try receiver.start()
        lock.withLock { audio = receiver }
        assemblers[channel] = MediaReassembler(codec: codec, pool: audioPackets)
    }

    /// Told once, however often the producer says it; what is about other channels is not ours.
    private func pauseChanged(to new: Bool, _ what: Pause) {
        guard isPaused != new, assemblers.keys.contains(where: { $0 < 16 && what.mask & 1 << $0 != 0 }) else { return }
        isPaused = new
        session.report(new ? .paused : .resumed)
    }

    private func formatChanged(_ format: Format) {
        let codec =
            switch format.format {
            case .video(let video): video.codec
            case .audio(let audio): audio.codec
            }
        // What was not asked for is not received: outputs must not wait for it.
        guard assemblers[format.channel]?.codec == codec else { return }
        if case .video(let video) = format.format { self.video?.formatChanged(video) }
        for output in session.configuration.packetOutputs {
            output.formatChanged(format.format, epoch: format.epoch)
        }
        session.report(.format(format.format))
    }
}

// MARK: - Statistics, any thread

extension StudioConnection {
    var statistics: StudioStatistics {
        let (videoReceiver, audioReceiver) = lock.withLock { (video, audio) }
        var result = StudioStatistics()
        if let counters = videoReceiver?.statistics {
            result.framesDecoded = counters.decoded
            result.framesDropped = counters.dropped
            result.latency = .init(counters.latency)
            result.decodeTime = .init(counters.decodeTime)
            result.width = counters.width
            result.height = counters.height
        }
        if let counters = audioReceiver?.statistics { result.audioLatency = .init(counters.latency) }
        lock.withLock {
            result.framesReceived = videoCounter.received
            result.framesLost = videoCounter.lost
            result.videoBytes = videoCounter.bytes
            result.framesPerSecond = videoCounter.packetsPerSecond
            result.videoBitrate = videoCounter.bitrate
            result.mediaSeconds = (videoCounter.received > 0 ? videoCounter : audioCounter).seconds
            result.jitter = Int(clamping: videoCounter.jitter.microseconds)
            result.audioPacketsReceived = audioCounter.received
            result.audioPacketsLost = audioCounter.lost
            result.audioBytes = audioCounter.bytes
            result.producerFramesSent = Int(clamping: producerStats.framesSent)
            result.producerFramesDropped = Int(clamping: producerStats.framesDropped)
            result.roundTrip = Int(clamping: clock.roundTrip?.microseconds ?? 0)
        }
        return result
    }
}

extension StudioStatistics.Percentiles {
    init(_ values: PercentileWindow.Percentiles) {
        count = values.count
        p50 = Int(values.p50)
        p95 = Int(values.p95)
        p99 = Int(values.p99)
        maximum = Int(values.maximum)
    }
}
