import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import GantryTrust

/// The connection of a session: performs what the session state machine decides, puts packets together and hands them
/// to decoders and packet outputs.
final class StudioConnection: CarrierHandler, SessionConnection, @unchecked Sendable {
    // `machine`, `clock`, counters, receivers, channels, wishes, `end` and `isRemoved` are guarded by `lock`; the rest:
    // I/O thread only.
    private static let keyFrameInterval = MediaDuration.seconds(2)
    /// How much earlier one that cannot go on without is asked for: half a second after the last time.
    private static let keyFrameSaving = MediaDuration.milliseconds(1500)
    /// Bytes of half a second of FEEDBACK, as TLS has them.
    private static let feedbackUnderWay = 2000

    private unowned let session: StudioSession
    private let dialer: SessionDialer
    private let carrier: SecureCarrier
    private let verdict: PeerVerdict
    private let lock = Lock()
    private var machine: StudioSessionStateMachine?
    private var counts = ReceptionCounts()
    private var video: VideoReceiver?
    private var audio: AudioReceiver?
    private var end: SessionEnd?
    private var closeError: GantryError?
    private var isRemoved = false
    private var acceptedAt: MediaTimestamp?
    private var videoChannel: UInt16?
    private var audioChannel: UInt16?
    private var toldWishes = ToldWishes()
    /// Packets of these are let go: they were on their way when the producer was told to stop.
    private var stopped: MediaSelection = []
    /// Something was stopped or goes on, here or at the producer, since the last packet.
    private var mayHavePaused = false
    /// Held while wishes are told, so that the producer hears them in order.
    private let wishOrder = Lock()

    /// The peer has proved its key first: the session goes on here.
    private var isClaimed = false
    private let media = MediaReception()
    private var exporter: [UInt8] = []
    private var sessionID: UInt64 = 0
    /// By then media must have come over UDP, where nothing else will do.
    private var datagramLimit: MediaTimestamp?
    private var receiver = ControlReceiver()
    /// Set in `init`.
    private var data: DataPort?
    private var nextKeyFrame: MediaTimestamp?
    /// How many outputs wanted regular ones, when it was looked at last.
    private var keyFrameWishes = 0
    private var peerAddress = ""
    private var publicKeyInfo: [UInt8] = []
    private var limit: MediaLimit?
    private var isPaused = false
    /// Set once the producer has let us in.
    private var origin: StreamConnection?
    /// Channels that START has asked for.
    private var channels: [UInt16] = []
    private var hasStarted = false
    private var formats: [UInt16: Format] = [:]

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
                role: .client, alpn: WireLimits.sessionProtocolName, exporterLabel: DatagramLimits.exporterLabel,
                phase: .beforeAcceptance, threadName: "studio-io")
        ) { verdict.decide($0) }
        data = DataPort(
            .init(
                send: { [weak carrier] message, channel in carrier?.send(.data(message), channel: channel) ?? false },
                credit: { [weak self] credit in self?.offer(.dataCredit(credit)) },
                deliver: { [weak session] data in session?.dataObservers.deliver(data, from: ()) }))
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
        media.close()
        removals?.stop()
        let (video, audio) = lock.withLock { (self.video, self.audio) }
        video?.stop()
        audio?.stop()
        data?.join()
        let (end, closeError, isRemoved) = lock.withLock { (self.end, self.closeError, self.isRemoved) }
        if isRemoved { return .failed(verdict.removed) }
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

    func close(_ reason: Bye.Reason) {
        guard let actions = lock.withLock({ machine?.closeRequested(reason: reason) }) else { return abort() }
        perform(actions)
    }

    /// The producer has been removed here, by this process or another one.
    private func closeRemoved() {
        // After the end it was the producer that removed us, and we it.
        lock.withLock { if end == nil { isRemoved = true } }
        close(.unpaired)
    }

    func wakeUp() { carrier.wakeUp() }

    /// At once, without a goodbye.
    func abort() { carrier.close(afterSending: false) }

    /// Any thread. False when it is not possible now.
    func sendData(_ message: LabeledData) -> Bool { data?.send(message) ?? false }

    private func offer(_ message: ControlMessage) { perform(lock.withLock { machine?.messageOffered(message) }) }

    var address: String { carrier.peerAddress }
    var isOnCable: Bool { address.hasPrefix("usb:") }

    private func requestKeyFrame(_ reason: Keyframe.Reason) {
        perform(
            lock.withLock {
                guard let videoChannel else { return nil }
                return machine?.keyFrameNeeded(
                    Keyframe(channel: videoChannel, reason: reason), now: MonotonicClock.now())
            })
    }

    /// Tells the producer what the session's wishes are now, as far as it does not know.
    func applyWishes() {
        let mustWait = wishOrder.withLock { () -> Bool in
            let wishes = session.wishes
            let now = MonotonicClock.now()
            let (actions, mustWait) = lock.withLock { () -> ([SessionAction]?, Bool) in
                if stopped != wishes.stopped { mayHavePaused = true }
                stopped = wishes.stopped
                if stopped.contains(.video) { counts.video.interrupted() }
                if stopped.contains(.audio) { counts.audio.interrupted() }
                let (former, mustWait) = toldWishes.take(wishes, now: now)
                guard let former else { return (nil, mustWait) }
                let messages = wishes.messages(after: former, video: videoChannel, audio: audioChannel)
                    .flatMap { machine?.messageOffered($0) ?? [] }
                return (messages, false)
            }
            perform(actions)
            return mustWait
        }
        if mustWait { wakeUp() }
    }

    /// When the wishes that wait are due; nil: none wait. I/O thread.
    private func tellWaitingWishes(_ now: MediaTimestamp) -> MediaTimestamp? {
        let due = lock.withLock { toldWishes.due }
        guard let due, now >= due else { return due }
        applyWishes()
        return nil
    }

    /// Microseconds to add to a difference (our clock − producer's stamp): producer's clock minus ours.
    private var clockOffset: Int64 {
        lock.withLock { counts.clock.offset(at: MonotonicClock.now())?.microseconds ?? 0 }
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
        exporter = peer.exporter
        let now = MonotonicClock.now()
        let actions = lock.withLock { () -> [SessionAction] in
            var machine = StudioSessionStateMachine(
                hello: Hello(
                    capabilities: takesDatagrams ? .all.union(.datagrams) : .all, name: session.context.name,
                    model: "gantry", version: GantryVersion.text,
                    codecs: [.h264, .mjpeg, .opus]),
                fieldOfUse: session.context.fieldOfUse, now: now)
            defer { self.machine = machine }
            return machine.connected(now: now)
        }
        perform(actions)
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        let now = MonotonicClock.now()
        lock.withLock { machine?.bytesReceived(now: now) }
        if chunk.type.isMedia {
            return try media.receive(chunk) { received($0) }
        }
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            let actions = lock.withLock { machine?.received(message, now: now) }
            try data?.perform(actions)
            perform(actions)
        }
    }

    func carrierBroken(_ error: GantryError) { perform(lock.withLock { machine?.failed(error) }) }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        let datagram = media.datagramHeardAt
        perform(
            lock.withLock {
                if let datagram { machine?.datagramReceived(at: datagram) }
                return machine?.timeAdvanced(now: now)
            })
        if let limit = datagramLimit, now >= limit { insistOnDatagrams() }
        requestRegularKeyFrame(now)
        let deadline = lock.withLock { machine?.nextDeadline }
        let feedback = sendFeedback(now: now)
        let wishes = tellWaitingWishes(now)
        return MediaTimestamp.earlier(
            MediaTimestamp.earlier(
                MediaTimestamp.earlier(deadline, nextKeyFrame), MediaTimestamp.earlier(datagramLimit, feedback)), wishes
        )
    }

    /// For what is cut at key frames. At once where another output has begun to want them.
    private func requestRegularKeyFrame(_ now: MediaTimestamp) {
        let wishes = session.packetOutputs.count { $0.wantsRegularKeyFrames }
        if wishes > keyFrameWishes { nextKeyFrame = nil }
        keyFrameWishes = wishes
        let awaits = session.packetOutputs.contains { $0.awaitsKeyFrame }
        guard hasStarted, !lock.withLock({ stopped.contains(.video) }), awaits || wishes > 0 else {
            nextKeyFrame = nil
            return
        }
        guard now >= nextKeyFrame.map({ awaits ? $0 - Self.keyFrameSaving : $0 }) ?? now else { return }
        nextKeyFrame = now + Self.keyFrameInterval
        requestKeyFrame(.recording)
    }

    private func sendFeedback(now: MediaTimestamp) -> MediaTimestamp? {
        let (offset, video, audio) = lock.withLock { (counts.clock.offset(at: now), self.video, self.audio) }
        return media.report(offset: offset, now: now) { isVideo in
            (isVideo ? video?.droppedCount : audio?.droppedCount) ?? 0
        } send: { feedback, isTold in
            // While the connection stands still: what comes all at once later is more than a second may bring.
            if isTold, carrier.videoBacklog.unconfirmed > Self.feedbackUnderWay { return }
            carrier.send(feedback)
        }
    }

    func carrierClosed(_ error: GantryError?) {
        data?.close()
        guard isClaimed else { return dialer.ended(self, verdict.error ?? error) }
        let actions = lock.withLock { () -> [SessionAction]? in
            closeError = error
            if let error { return machine?.failed(error) }
            return machine?.transportClosed()
        }
        perform(actions)
    }

    /// On the I/O thread or "studio-udp", while `media` holds the order still.
    private func received(_ packet: MediaPacket) {
        notePause()
        if limit?.admits(packet.header, isVideo: packet.codec.isVideo) == false {
            if limit?.isReached == true { close() }
            return
        }
        let (isWanted, video, audio) = lock.withLock { (count(packet), self.video, self.audio) }
        guard isWanted else { return }
        // These first: who follows a packet hears of it before it is decoded.
        let coded = CodedPacket(packet)
        for output in session.packetOutputs { output.receive(coded) }
        if packet.codec.isVideo { video?.enqueue(packet) } else { audio?.enqueue(packet) }
    }

    /// What is held or limited by time leaves pauses out.
    private func notePause() {
        let mayHavePaused = lock.withLock {
            defer { self.mayHavePaused = false }
            if self.mayHavePaused {
                counts.video.paused()
                counts.audio.paused()
            }
            return self.mayHavePaused
        }
        guard mayHavePaused else { return }
        limit?.paused()
        session.replay.paused()
    }

    /// False for what is stopped here. Under the lock.
    private func count(_ packet: MediaPacket) -> Bool {
        guard !stopped.contains(packet.codec.isVideo ? .video : .audio) else { return false }
        if packet.codec.isVideo {
            counts.video.add(packet.header, bytes: packet.count, arrived: packet.arrivalTime)
        } else {
            counts.audio.add(packet.header, bytes: packet.count, arrived: packet.arrivalTime)
        }
        return true
    }

    private func perform(_ actions: [SessionAction]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let message): carrier.send(message)
            case .established(let accept, let peer): established(accept, peer)
            case .format(let format): formatChanged(format)
            case .stats(let stats):
                lock.withLock {
                    counts.producer = stats
                    counts.first = counts.first ?? stats
                }
            case .clock(let sent, let received, let answered, let returned):
                lock.withLock {
                    counts.clock.add(sent: sent, received: received, answered: answered, returned: returned)
                }
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
                lock.withLock { counts.qualityStep = Int(rate.step) }
                session.report(
                    .rate(
                        VideoRate(bitrate: Int(rate.bitrate), frameRate: rate.frameRate, step: Int(rate.step))))
            case .videoState(let state): if let status = VideoStatus(state) { session.report(.videoState(status)) }
            case .carrierOffer(let offer): offered(offer)
            case .streams(let streams): streamsChanged(streams)
            // Not offered in HELLO yet, or performed before.
            case .data, .dataCredit, .carrierBind: break
            // For the producer's side only.
            case .decide, .authorise, .start, .keyFrame, .prefer, .feedback: break
            }
        }
    }

    private func established(_ accept: Accept, _ peer: Hello) {
        carrier.permitAllMessages()
        sessionID = accept.sessionID
        if session.configuration.transport == .udp { datagramLimit = MonotonicClock.now() + Self.datagramTime }
        lock.withLock { acceptedAt = MonotonicClock.now() }
        do throws(GantryError) {
            if let name = try verdict.pairStranger(publicKeyInfo, named: peer.name) {
                session.report(.paired(name: name))
            }
            try receive(accept.streams)
        } catch {
            perform(lock.withLock { machine?.failed(error) })
            return
        }
        limit = session.remainingDuration.map { MediaLimit($0, video: video != nil, audio: audio != nil) }
        // A cable is no address to dial.
        let device = verdict.seen(at: isOnCable ? nil : peerAddress)
        let origin = StreamConnection(
            producer: device ?? peer.name.text, address: peerAddress, keyID: verdict.provenKeyID)
        self.origin = origin
        let streams = accept.streams.map { StreamInfo($0, connection: origin) }
        session.report(.connected(name: origin.producer, address: peerAddress, streams: streams))
        session.streamsChanged(added: streams)
        tellStreams()
        // START brings one.
        keyFrameWishes = session.packetOutputs.count { $0.wantsRegularKeyFrames }
        nextKeyFrame = MonotonicClock.now() + Self.keyFrameInterval
        hasStarted = true
        if lock.withLock({ machine?.features.contains(.rateControl) }) == true {
            media.startFeedback(channels)
        }
        start(channels)
    }

    /// Prepares for those of the streams that are wanted, and not received yet.
    private func receive(_ streams: [StreamDescription]) throws(GantryError) {
        for stream in streams {
            guard media.codec(of: stream.channel) == nil, !channels.contains(stream.channel) else { continue }
            switch stream.kind {
            case .video where session.configuration.wantsVideo && video == nil:
                guard let codec = stream.codec, codec.isVideo else { continue }
                try addVideo(stream.channel, codec)
            case .audio where session.configuration.wantsAudio && audio == nil:
                guard let codec = stream.codec, codec == .opus else { continue }
                try addAudio(stream.channel, codec)
            case .data where session.configuration.wantsData && takesData:
                data?.open(channel: stream.channel)
            case .video, .audio, .data: continue
            }
            channels.append(stream.channel)
        }
    }

    /// The producer has added or removed streams. What was received and has gone stops; what is wanted and new is asked for.
    private func streamsChanged(_ streams: Streams) {
        guard let origin else { return }
        let gone = Set(streams.removed).union(streams.added.map(\.channel))
        let lost = session.streams.filter {
            gone.contains(UInt16(clamping: $0.channel)) && media.codec(of: UInt16(clamping: $0.channel)) != nil
        }
        let former = channels
        for stream in lost { stopReceiving(UInt16(clamping: stream.channel)) }
        session.streamsChanged(
            added: streams.added.map { StreamInfo($0, connection: origin) }, removed: Set(streams.removed.map(Int.init))
        )
        do throws(GantryError) {
            try receive(streams.added)
        } catch {
            return perform(lock.withLock { machine?.failed(error) })
        }
        for stream in lost where (stream.kind == .video ? video == nil : audio == nil) {
            session.report(.playbackStopped(stream))
        }
        guard channels != former, !channels.isEmpty else { return }
        tellStreams()
        if lock.withLock({ machine?.features.contains(.rateControl) }) == true { media.startFeedback(channels) }
        start(channels)
    }

    /// Tells the outputs which streams will come.
    private func tellStreams() {
        media.tell {
            for output in session.packetOutputs { output.expect(video: video != nil, audio: audio != nil) }
        }
    }

    private func stopReceiving(_ channel: UInt16) {
        let (oldVideo, oldAudio) = lock.withLock {
            let old = (videoChannel == channel ? video : nil, audioChannel == channel ? audio : nil)
            if old.0 != nil { (video, videoChannel) = (nil, nil) }
            if old.1 != nil { (audio, audioChannel) = (nil, nil) }
            return old
        }
        oldVideo?.stop()
        oldAudio?.stop()
        if oldVideo != nil { session.outputs.streamStopped(isVideo: true) }
        if oldAudio != nil { session.outputs.streamStopped(isVideo: false) }
        media.remove(channel)
        formats[channel] = nil
        channels.removeAll { $0 == channel }
    }

    private func start(_ channels: [UInt16]) {
        let picture = session.wishes.preferred
        let wish = picture.message
        perform(
            lock.withLock {
                var told = ReceptionWishes()
                told.preferred = picture
                toldWishes.started(told)
                return machine?.startRequested(
                    Start(
                        channels: channels, size: wish.size, frameRate: wish.frameRate,
                        maximumBitrate: wish.maximumBitrate))
            })
        applyWishes()
    }

    private func addVideo(_ channel: UInt16, _ codec: MediaCodec) throws(GantryError) {
        let session = session
        let receiver = VideoReceiver(
            codec: codec, outputs: session.outputs, decodes: session.configuration.decodedMedia.contains(.video),
            clockOffset: { [weak self] in self?.clockOffset ?? 0 },
            needsKeyFrame: { [weak self] in self?.requestKeyFrame(.loss) },
            came: { [weak session] in session?.pictureCame() },
            failed: { [weak session] in session?.report(.decodingFailed($0)) })
        try receiver.start()
        lock.withLock {
            video = receiver
            videoChannel = channel
        }
        media.add(channel, codec)
    }

    private func addAudio(_ channel: UInt16, _ codec: MediaCodec) throws(GantryError) {
        let session = session
        let receiver = AudioReceiver(
            outputs: session.outputs, decodes: session.configuration.decodedMedia.contains(.audio),
            clockOffset: { [weak self] in self?.clockOffset ?? 0 },
            failed: { [weak session] in session?.report(.decodingFailed($0)) })
        try receiver.start()
        lock.withLock {
            audio = receiver
            audioChannel = channel
        }
        media.add(channel, codec)
    }

    /// Told once, however often the producer says it; what is about other channels is not ours.
    private func pauseChanged(to new: Bool, _ what: Pause) {
        guard isPaused != new, media.receives(what.mask) else { return }
        isPaused = new
        lock.withLock { mayHavePaused = true }
        session.report(new ? .paused : .resumed)
    }

    private var takesData: Bool { lock.withLock { machine?.features.contains(.data) } == true }

    private func formatChanged(_ format: Format) {
        let codec =
            switch format.format {
            case .video(let video): video.codec
            case .audio(let audio): audio.codec
            }
        // What was not asked for is not received: outputs must not wait for it.
        guard media.codec(of: format.channel) == codec else { return }
        // Said again after RESUME.
        guard formats.updateValue(format, forKey: format.channel) != format else { return }
        if case .video(let video) = format.format { self.video?.formatChanged(video) }
        media.tell {
            for output in session.packetOutputs { output.formatChanged(format.format, epoch: format.epoch) }
        }
        // Behind the outputs.
        media.formatChanged(format.channel, epoch: format.epoch)
        session.formatChanged(format.format, channel: Int(format.channel))
    }
}

// MARK: - Media beside the connection, the I/O thread

extension StudioConnection {
    private static let datagramTime = MediaDuration.seconds(4)

    private var takesDatagrams: Bool { session.configuration.transport != .tcp && carrier.datagramPath != nil }

    private func offered(_ offer: CarrierOffer) {
        let isAgreed = lock.withLock { machine?.features.contains(.datagrams) == true }
        guard isAgreed, takesDatagrams, let path = carrier.datagramPath else { return }
        let bind = media.answer(
            offer, sessionID: sessionID, exporter: exporter, path: path,
            isWantedAtOnce: session.configuration.transport == .udp,
            deliver: { [weak self] in self?.received($0) },
            needsKeyFrame: { [weak self] in self?.requestKeyFrame(.loss) })
        if let bind { perform(lock.withLock { machine?.messageOffered(.carrierBind(bind)) }) }
    }

    /// `--transport udp`: nothing else will do.
    private func insistOnDatagrams() {
        datagramLimit = nil
        guard !media.hasDatagrams else { return }
        perform(lock.withLock { machine?.failed(DatagramIntake.blocked) })
    }
}

// MARK: - Statistics, any thread

extension StudioConnection {
    var statistics: StudioStatistics {
        let (videoReceiver, audioReceiver) = lock.withLock { (video, audio) }
        var result = StudioStatistics()
        result.udp = media.datagramCounts
        if let counters = videoReceiver?.statistics {
            result.framesDecoded = counters.decoded
            result.framesDropped = counters.dropped
            result.latency = .init(counters.latency)
            result.decodeTime = .init(counters.decodeTime)
            result.width = counters.width
            result.height = counters.height
        }
        if let counters = audioReceiver?.statistics { result.audioLatency = .init(counters.latency) }
        lock.withLock { counts.fill(&result) }
        return result
    }
}
