import GantryCore
import GantryPlatform
import GantryTransport
import GantryTrust

/// One studio that has connected: performs what the session state machine decides, and takes packets from the
/// pipelines.
///
/// The carrier's I/O thread drives it; formats and packets come from the encoding threads.
final class ProducerConnection: CarrierHandler, MediaSubscriber, @unchecked Sendable {
    // `machine`, `peer`, `isActive`, `stranger`, `answer`, `question` and `verdict` are guarded by `lock`; the rest: I/O
    // thread only.
    private let server: ProducerServer
    private let carrier: SecureCarrier
    private let media: MediaDelivery
    private let id: UInt64
    private let lock = Lock()
    /// From the end of the TLS handshake on.
    private var machine: ProducerSessionStateMachine?
    private var peer: ProducerPeer?
    private var isActive = false
    /// On the cable, and not paired: nil once it is.
    private var stranger: Stranger?
    private var answer: StudioRequest.Answer?
    /// The application is being asked, and what it has said.
    private var question: AdmissionQuestion?
    private var verdict: Bool?
    private let isCable: Bool

    private var exporter: [UInt8] = []
    private var sessionID: UInt64 = 0
    private var receiver = ControlReceiver()
    /// Set in `init`.
    private var data: DataPort?
    private var end: SessionEnd?
    private var demand = ChannelDemand()
    private var preferred = VideoWish()
    private var nextStatistics = MediaTimestamp(microseconds: 0)

    /// A studio that is not paired.
    private struct Stranger {
        let publicKeyInfo: [UInt8]
        /// From its HELLO on, where somebody is asked about it.
        var request: StudioRequest?
    }

    /// - Parameter isCable: it came by USB: a studio that is not paired may ask.
    init(server: ProducerServer, link: any Link, id: UInt64, isCable: Bool) throws(GantryError) {
        self.server = server
        self.id = id
        self.isCable = isCable
        let store = server.store
        carrier = try SecureCarrier(
            link: link, identity: server.identity,
            configuration: .init(
                role: .server, alpn: WireLimits.sessionProtocolName, exporterLabel: DatagramLimits.exporterLabel,
                phase: .beforeAuthorisation, threadName: "producer-io")
        ) { [weak server] keyID in
            let trust = store.trust(of: keyID)
            guard isCable, trust != .trusted, let server else { return trust }
            return server.admitsStranger(keyID, wasRemoved: trust == .revoked) ? .trusted : trust
        }
        media = MediaDelivery(carrier: carrier)
        data = DataPort(
            .init(
                send: { [weak carrier] message, channel in carrier?.send(.data(message), channel: channel) ?? false },
                credit: { [weak self] credit in self?.offer(.dataCredit(credit)) },
                deliver: { [weak self] data in self?.deliver(data) }))
    }

    func start() throws(GantryError) { try carrier.start(handler: self) }
    func join() {
        carrier.join()
        data?.join()
    }

    /// Any thread: at once, without a goodbye.
    func abort() { carrier.close(afterSending: false) }

    /// Any thread: with a goodbye, after what waits has been sent.
    func close(_ reason: Bye.Reason) {
        media.drain()
        guard let actions = lock.withLock({ machine?.closeRequested(reason: reason) }) else { return abort() }
        perform(actions)
    }

    /// Any thread: tells a studio that receives, and throws away what waits to be sent.
    func pauseChanged(to isPaused: Bool) {
        if isPaused { media.discardWaiting() }
        let what = Pause(mask: server.channelMask, reason: .user)
        perform(
            lock.withLock { isActive ? machine?.messageOffered(isPaused ? .pause(what) : .resume(what)) : nil })
    }

    /// The paired device whose key TLS has proved; nil before that, and for a stranger.
    var provenKeyID: KeyID? { lock.withLock { stranger == nil ? peer?.keyID : nil } }

    /// The question that waits for an answer.
    var openRequest: StudioRequest? { lock.withLock { answer == nil ? stranger?.request : nil } }

    /// Any thread: the first answer to `openRequest` counts.
    func answer(_ answer: StudioRequest.Answer) {
        lock.withLock {
            if stranger?.request != nil, self.answer == nil { self.answer = answer }
        }
        carrier.wakeUp()
    }

    /// Any thread: tells a studio that was let in which streams there are now.
    func streamsChanged(_ change: Streams) {
        if !change.removed.isEmpty { media.discardWaiting(of: ChannelDemand.mask(change.removed)) }
        if change.removed.contains(Channels.audio) { tell(media.started(hasSound: false)) }
        perform(lock.withLock { machine?.messageOffered(.streams(change)) })
    }

    private var transport: ConnectionTransport { isCable ? .usb : .network }

    /// Who receives; nil before START and after the end.
    var activePeer: ProducerPeer? { lock.withLock { isActive ? peer : nil } }

    /// Any thread: as in `ProducerStatistics`.
    var quality: (step: Int, loss: Double?) { media.quality }

    /// Any thread: what its pictures took in the last second.
    func stageTimes(
        now: MediaTimestamp
    ) -> (ready: PercentileWindow.Percentiles, queue: PercentileWindow.Percentiles) {
        media.stageTimes(now: now)
    }
}

// MARK: - The I/O thread

extension ProducerConnection {
    func carrierEstablished(_ peer: CarrierPeer) {
        server.proven(id)
        exporter = peer.exporter
        let device = try? server.store.device(keyID: peer.keyID)
        let known = ProducerPeer(
            keyID: peer.keyID, name: device?.displayedName ?? peer.keyID.short, address: peer.address,
            transport: transport)
        let fieldOfUse = server.fieldOfUse
        lock.withLock {
            self.peer = known
            if device == nil { stranger = Stranger(publicKeyInfo: peer.publicKeyInfo) }
            machine = ProducerSessionStateMachine(
                hello: Hello(
                    capabilities: takesDatagrams ? .all.union(.datagrams) : .all, name: server.name, model: "gantry",
                    version: ProducerServer.version, codecs: [.h264, .opus],
                    bootID: server.bootID, fieldOfUse: fieldOfUse),
                now: MonotonicClock.now())
        }
        guard device != nil else { return }
        do throws(GantryError) {
            _ = try server.store.noteSeen(keyID: peer.keyID, at: WallClock.now(), address: nil)
        } catch {
            Log.warning("\(error)")
        }
    }

    func carrierReceived(_ chunk: FrameChunk) throws(GantryError) {
        let now = MonotonicClock.now()
        lock.withLock { machine?.bytesReceived(now: now) }
        guard !chunk.type.isMedia else {
            throw GantryError(.protocolError, "The studio sends media, which only a producer does. Update both ends.")
        }
        if chunk.type == .feedback, chunk.startsMessage, chunk.endsMessage {
            return received(try Feedback(payload: chunk.payload), now: now)
        }
        try receiver.consume(chunk) { message, _ throws(GantryError) in
            let actions = lock.withLock { machine?.received(message, now: now) }
            try data?.perform(actions)
            perform(actions)
        }
    }

    func carrierBroken(_ error: GantryError) { perform(lock.withLock { machine?.failed(error) }) }

    func carrierDeadline(now: MediaTimestamp) -> MediaTimestamp? {
        performAnswer()
        performVerdict()
        let datagram = media.datagramHeardAt
        perform(
            lock.withLock {
                if let datagram { machine?.datagramReceived(at: datagram) }
                return machine?.timeAdvanced(now: now)
            })
        guard activePeer != nil else { return lock.withLock { machine?.nextDeadline } }
        let routeDeadline = media.routeDeadline(now: now)
        let (state, nextMeasure) = media.measureLink(now: now)
        tell(state)
        if now >= nextStatistics {
            nextStatistics = now + .seconds(1)
            // Asks every connection, this one too: not under the lock.
            var message = server.statisticsMessage
            let own = stageTimes(now: now)
            message.stages += [.init(.ready, own.ready), .init(.queue, own.queue)].compactMap(\.self)
            perform(lock.withLock { machine?.messageOffered(.stats(message)) })
        }
        return lock.withLock { machine?.nextDeadline }.map {
            min($0, nextStatistics, routeDeadline ?? $0, nextMeasure ?? $0)
        }
    }

    func carrierClosed(_ error: GantryError?) {
        let actions = lock.withLock {
            if let error { return machine?.failed(error) }
            return machine?.transportClosed()
        }
        perform(actions)
        server.unsubscribe(self)
        data?.close()
        media.close()
        if let request = lock.withLock({ stranger?.request }) { server.strangerEnded(request, isYes: false) }
        lock.withLock({ question })?.cancel()
        let (peer, wasActive) = lock.withLock {
            defer { isActive = false }
            return (self.peer, isActive)
        }
        server.ended(id)
        let failure = end?.error ?? (end == nil ? error : nil)
        if wasActive, let peer {
            server.events(.disconnected(peer, failure))
        } else if let failure {
            server.events(.refused(address: carrier.peerAddress, failure))
        }
    }

    private func perform(_ actions: [SessionAction]?) {
        for action in actions ?? [] {
            switch action {
            case .send(let message): carrier.send(message)
            case .decide(let peer): decide(peer)
            case .authorise: carrier.permitAllMessages()
            case .start(let start): begin(start)
            // It costs all studios: not for one that does not look.
            case .keyFrame(let request):
                if demand.received & ChannelDemand.mask([request.channel]) != 0 { server.requestKeyFrame(for: self) }
            case .close: carrier.close()
            case .finish(let end):
                self.end = end
                if end.reason == .unpaired && end.isFromPeer { forgetPeer() }
            case .peerFailed(let failure): Log.info("the studio reports: \(DisplayName(failure.text).text)")
            case .pause(let what): pause(what)
            case .resume(let what): resume(what)
            case .prefer(let wish):
                preferred.merge(wish)
                server.prefer(preferred, self)
            case .carrierBind(let bind): media.bound(bind)
            // In pieces, or as it comes from elsewhere.
            case .feedback(let feedback): tell(media.received(feedback, now: MonotonicClock.now()))
            // Data was performed before.
            case .stats, .data, .dataCredit, .carrierOffer, .clock: break
            // For the studio's side only.
            case .established, .format, .rate, .videoState, .streams: break
            }
        }
    }

    /// The studio says on the session that it removes this producer: we remove it too.
    private func forgetPeer() {
        guard let keyID = provenKeyID else { return }
        do throws(GantryError) {
            _ = try server.store.remove(keyID: keyID, now: WallClock.now())
        } catch {
            Log.warning("\(error)")
        }
    }

    private func decide(_ hello: Hello) {
        guard server.canBeDecoded(by: hello) else {
            return perform(lock.withLock { machine?.rejected(reason: .unsupported, text: "codec") })
        }
        if lock.withLock({ stranger != nil }) { decideStranger(hello) } else { consult() }
    }

    /// The application may take its time: the state machine says no after 30 seconds.
    private func consult() {
        guard let peer = lock.withLock({ peer }) else { return }
        let decision = server.decide(peer) { [weak self] isYes in
            guard let self else { return }
            lock.withLock { self.verdict = isYes }
            carrier.wakeUp()
        }
        switch decision {
        case .admit: admit()
        case .busy: perform(lock.withLock { machine?.rejected(reason: .busy, retryAfter: 5000) })
        case .asked(let question): lock.withLock { self.question = question }
        }
    }

    private func performVerdict() {
        let verdict = lock.withLock { () -> Bool? in
            guard let given = self.verdict else { return nil }
            self.verdict = nil
            question = nil
            return given
        }
        guard let verdict else { return }
        if verdict { return admit() }
        perform(lock.withLock { machine?.rejected(reason: .declined, text: "the application there said no") })
        server.events(
            .refused(address: carrier.peerAddress, GantryError(.rejected, "\(peerName) was declined here.")))
    }

    /// The answer may come at any time in the next 30 seconds; the state machine says no then.
    private func decideStranger(_ hello: Hello) {
        switch server.strangerGreeted(id) {
        case .busy: perform(lock.withLock { machine?.rejected(reason: .busy, retryAfter: 30_000) })
        case .pair: if pairStranger(named: hello.name) { consult() }
        case .ask:
            let request = lock.withLock { () -> StudioRequest? in
                guard let peer else { return nil }
                let request = StudioRequest(id: id, keyID: peer.keyID, name: hello.name.text)
                stranger?.request = request
                self.peer = ProducerPeer(
                    keyID: peer.keyID, name: hello.name.text, address: peer.address, transport: transport)
                return request
            }
            if let request { server.events(.studioAsks(request)) }
        }
    }

    private func performAnswer() {
        let (answer, request) = lock.withLock { () -> (StudioRequest.Answer?, StudioRequest?) in
            guard let given = self.answer, let request = stranger?.request else { return (nil, nil) }
            self.answer = nil
            stranger?.request = nil
            return (given, request)
        }
        guard let answer, let request else { return }
        server.strangerEnded(request, isYes: answer != .no)
        switch answer {
        case .no: perform(lock.withLock { machine?.rejected(reason: .declined) })
        case .once: admit()
        case .always: if pairStranger(named: DisplayName(request.name)) { admit() }
        }
    }

    /// False when it could not be stored: then it is turned away.
    private func pairStranger(named name: DisplayName) -> Bool {
        guard let (peer, stranger) = lock.withLock({ peer.flatMap { peer in stranger.map { (peer, $0) } } }) else {
            return false
        }
        do throws(GantryError) {
            let saved = try server.store.save(
                PairedDevice(
                    keyID: peer.keyID, publicKeyInfo: stranger.publicKeyInfo, kind: .studio, name: name.text, via: .usb,
                    pairedAt: WallClock.now(), lastSeen: WallClock.now()))
            lock.withLock {
                self.stranger = nil
                self.peer = ProducerPeer(
                    keyID: peer.keyID, name: saved.displayedName, address: peer.address, transport: transport)
            }
            return true
        } catch {
            Log.error("\(error)")
            perform(lock.withLock { machine?.rejected(reason: .notReady) })
            return false
        }
    }

    private func admit() {
        guard server.takesSession(id) else {
            return perform(lock.withLock { machine?.rejected(reason: .busy, retryAfter: 5000) })
        }
        sessionID = .random(in: 1 ... .max)
        server.withStreams { streams in
            perform(
                lock.withLock {
                    machine?.accepted(sessionID: sessionID, streams: streams, now: MonotonicClock.now())
                })
        }
    }

    private func begin(_ start: Start) {
        let peer = lock.withLock { () -> ProducerPeer? in
            // A studio that takes no channel looks whether the connection works; it receives nothing.
            let isFirst = !isActive && !start.channels.isEmpty
            isActive = isActive || isFirst
            return isFirst ? self.peer : nil
        }
        tell(media.started(hasSound: start.channels.contains(Channels.audio) && server.offers(.audio)))
        demand.started(start.channels)
        preferred = VideoWish()
        preferred.merge(Prefer(size: start.size, frameRate: start.frameRate, maximumBitrate: start.maximumBitrate))
        server.prefer(preferred, self)
        if !start.channels.isEmpty { beginDatagrams() }
        server.subscribe(self, to: start.channels)
        if start.channels.contains(Channels.data) { data?.open(channel: Channels.data) }
        if let peer { server.events(.connected(peer)) }
        server.updateAdvert()
        server.tellIfPaused(self)
    }

    /// For this studio alone; the others are not told. What is half sent is completed.
    private func pause(_ what: Pause) {
        let stopped = demand.paused(what.mask)
        guard stopped != 0 else { return }
        server.setReceives(self, stopped, false)
        media.discardWaiting(of: stopped)
        Log.debug("\(peerName) has paused channels \(stopped) (reason \(what.reason.rawValue))")
    }

    /// The picture goes on with a key frame.
    private func resume(_ what: Pause) {
        let goingOn = demand.resumed(what.mask)
        guard goingOn != 0 else { return }
        server.setReceives(self, goingOn, true)
        Log.debug("\(peerName) goes on with channels \(goingOn)")
    }

    private var peerName: String { lock.withLock { peer?.name } ?? "a studio" }
}

// MARK: - Data

extension ProducerConnection {
    /// Any thread. False when it is not for this studio, or not possible now.
    func sendData(_ message: LabeledData, to keyID: KeyID?) -> Bool {
        guard let peer = activePeer, keyID == nil || keyID == peer.keyID else { return false }
        return data?.send(message) ?? false
    }

    private func offer(_ message: ControlMessage) { perform(lock.withLock { machine?.messageOffered(message) }) }

    private func deliver(_ data: LabeledData) {
        guard let peer = lock.withLock({ peer }) else { return }
        server.dataObservers.deliver(data, from: peer)
    }
}

// MARK: - Media beside the connection

extension ProducerConnection {
    private var takesDatagrams: Bool { server.transport != .tcp && carrier.datagramPath != nil }

    /// On the I/O thread, at START.
    private func beginDatagrams() {
        let isAgreed = lock.withLock { machine?.features.contains(.datagrams) == true }
        guard isAgreed, takesDatagrams, let path = carrier.datagramPath else { return }
        let streams = server.streams
        // Another one, for streams that have begun since.
        guard !media.covers(streams) else { return }
        let route = DatagramRoute(
            path: path, exporter: exporter, sessionID: sessionID, streams: streams, isNext: media.hasRoute,
            offer: { [weak self] offer in self?.offer(offer) }, wakeUp: { [carrier] in carrier.wakeUp() },
            needsKeyFrame: { [weak self] in
                if let self { server.requestKeyFrame(for: self) }
            },
            // From the keys of this very session: nothing but the studio can have sent it.
            feedback: { [weak self] feedback in
                if let self { tell(media.received(feedback, now: MonotonicClock.now())) }
            },
            sample: { [weak carrier] in carrier?.lossSample })
        if media.take(route) { server.requestKeyFrame(for: self) }
    }

    private func offer(_ offer: CarrierOffer) {
        perform(lock.withLock { machine?.messageOffered(.carrierOffer(offer)) })
    }
}

// MARK: - Adaptation, the I/O thread

extension ProducerConnection {
    /// Forty times a second: nothing is allocated.
    private func received(_ feedback: Feedback, now: MediaTimestamp) {
        if let failure = lock.withLock({ machine?.feedbackReceived(now: now) }) { return perform(failure) }
        tell(media.received(feedback, now: now))
    }

    private func tell(_ state: VideoState.State?) {
        guard let state else { return }
        let message = VideoState(channel: Channels.video, state: state, reason: .quality)
        perform(lock.withLock { machine?.messageOffered(.videoState(message)) })
    }
}

// MARK: - The encoding threads

extension ProducerConnection {
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {
        let channel =
            switch format {
            case .video: Channels.video
            case .audio: Channels.audio
            }
        perform(
            lock.withLock { machine?.formatChanged(Format(channel: channel, epoch: epoch, format: format)) })
    }

    var videoBacklog: VideoBacklog { media.videoBacklog }
    var videoRate: Int? { media.videoRate }
    var takesVideo: Bool { media.takesVideo }

    func videoBegins(maximum: Int) {
        guard lock.withLock({ machine?.features.contains(.rateControl) }) == true else { return }
        media.videoBegins(maximum: maximum)
    }

    func videoHeldUp() { media.videoHeldUp() }

    func rateChanged(_ rate: Rate) {
        guard lock.withLock({ machine?.features.contains(.rateControl) }) == true else { return }
        media.rateChanged(rate)
        perform(lock.withLock { machine?.messageOffered(.rate(rate)) })
    }

    func send(_ packet: MediaPacket) -> Bool { media.send(packet) }
}
