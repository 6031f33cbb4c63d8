import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import GantryTrust

/// All of a running producer: the listener, the connections, and the two encoding pipelines that they share.
final class ProducerServer: @unchecked Sendable {  // What varies is guarded by `lock`.
    /// Connected and accepted studios at one time.
    static let maximumSessions = 16
    static let version = GantryVersion.text

    /// What becomes of a paired studio that wants to come in; `asked`: the second argument is called once, later.
    enum Decision {
        case admit
        case busy
        case asked(AdmissionQuestion)
    }

    typealias Decider = @Sendable (ProducerPeer, @escaping @Sendable (Bool) -> Void) -> Decision

    let port: UInt16
    let identity: Identity
    let store: DeviceStore
    let name: DisplayName
    let transport: MediaTransport
    /// What the run began with.
    let videoSettings: ProducerConfiguration.VideoSettings?
    let events: @Sendable (ProducerEvent) -> Void
    /// Asks the application about a studio that is paired.
    let decide: Decider
    /// Differs after each start, so that a studio can tell a restart from a lost connection.
    let bootID = UInt64.random(in: 1 ... .max)

    private let listener: TCPListener
    private let video: VideoPipeline?
    private let audio: AudioPipeline?
    private let pauseGate: PauseGate
    let dataObservers: DataObservers<ProducerPeer>
    /// Held while studios are told of a pause or its end, so that each hears them in order.
    private let pauseOrder = Lock()
    /// Held while the application is told what is wanted, so that the last it hears is how it is.
    private let demandOrder = Lock()
    /// What it was told last; guarded by `demandOrder`.
    private var toldDemand = (video: false, audioSamples: 0)
    /// Held while studios are told of streams, and while they begin to receive some, so that each knows what it is sent.
    private let streamOrder = Lock()
    private let lock = Lock()
    private var admission = AdmissionControl()
    private var connections: [UInt64: ProducerConnection] = [:]
    /// The connections that were let in, also those that have not asked for media yet.
    private var sessions: Set<UInt64> = []
    private var nextID: UInt64 = 0
    private var isStopping = false
    private var field: FieldOfUse
    private var offer: StreamOffer
    /// Set once in `start`, before anyone connects.
    private var removals: RemovalWatch?
    private var cable: ProducerCable?
    private var strangers: StrangerPolicy
    private let advert: ProducerAdvert?

    init(
        configuration: ProducerConfiguration, endedStreams: Set<MediaKind>, identity: Identity, store: DeviceStore,
        name: DisplayName,
        dataObservers: DataObservers<ProducerPeer>, decide: @escaping Decider,
        events: @escaping @Sendable (ProducerEvent) -> Void
    ) throws(GantryError) {
        self.identity = identity
        self.store = store
        self.name = name
        self.dataObservers = dataObservers
        self.events = events
        self.decide = decide
        transport = configuration.transport
        field = configuration.fieldOfUse
        advert =
            configuration.isAdvertised
            ? ProducerAdvert(keyID: identity.keyID, fieldOfUse: configuration.fieldOfUse, events: events)
            : nil
        listener = try TCPListener(port: configuration.port)
        port = listener.port
        let pauseGate = PauseGate()
        self.pauseGate = pauseGate
        videoSettings = configuration.video
        video = configuration.video.map { VideoPipeline(settings: $0, pauseGate: pauseGate, events: events) }
        audio = configuration.audio == nil ? nil : try AudioPipeline(pauseGate: pauseGate)
        offer = StreamOffer(configuration, ended: endedStreams, now: MonotonicClock.now())
        strangers = StrangerPolicy(configuration.usb?.strangers ?? .refuse)
        cable = configuration.usb.map { usb in
            ProducerCable(
                usb, keyID: identity.keyID, changed: { events(.usb($0)) },
                accept: { [weak self] link in self?.accept(link, from: Self.cableHost, isCable: true) })
        }
    }

    /// What a studio that connects is told.
    var fieldOfUse: FieldOfUse { lock.withLock { field } }

    /// Takes over what can change while it runs.
    func apply(_ configuration: ProducerConfiguration) {
        video?.want(bitrate: configuration.video?.bitrate)
        lock.withLock { field = configuration.fieldOfUse }
        advert?.update(configuration.fieldOfUse)
    }

    /// What admission counts connections on the cable by.
    private static let cableHost = "usb"

    func start() throws(GantryError) {
        try video?.start()
        try audio?.start()
        let removals = RemovalWatch(
            store, threadName: "producer-trust", connected: { [weak self] in self?.provenKeyIDs ?? [] },
            removed: { [weak self] in self?.disconnect($0) })
        try removals.start()
        self.removals = removals
        try cable?.start()
        try listener.start(threadName: "producer-listen") { [self] link, host in accept(link, from: host) }
        do throws(GantryError) {
            try advert?.start(name: name, port: port)
        } catch {
            // Whoever knows the address still finds us.
            events(.discoveryUnavailable(error))
        }
    }

    func stop() {
        lock.withLock { isStopping = true }
        advert?.stop()
        listener.stop()
        removals?.stop()
        // Pipelines first: what they still have goes out before the goodbye.
        video?.stop()
        audio?.stop()
        let open = lock.withLock { Array(connections.values) }
        for connection in open { connection.close(.shutdown) }
        for connection in open { connection.join() }
        // After the goodbyes on it.
        cable?.stop()
    }

    // MARK: Media, any thread

    func enqueue(_ input: VideoInput) -> Bool { offers(.video) && video?.enqueue(input) ?? false }

    /// Whether the device that codes the pictures shall make a key frame.
    var takesKeyFrameRequest: Bool { video?.takesKeyFrameRequest ?? false }

    /// Nothing goes out before a key frame comes from that device.
    var wantsDeviceKeyFrame: Bool { video?.wantsDeviceKeyFrame ?? false }

    func isReceived(_ kind: MediaKind) -> Bool {
        switch kind {
        case .video: video?.isReceived ?? false
        case .audio: audio?.isReceived ?? false
        case .data: false
        }
    }

    /// Samples of each channel in a packet of sound while somebody receives it, else 0.
    var audioSamplesRequired: Int { audio.map { $0.isReceived ? $0.samplesPerPacket : 0 } ?? 0 }

    /// After each change of who receives what.
    private func tellDemand() {
        demandOrder.withLock {
            let now = (video: isReceived(.video), audioSamples: audioSamplesRequired)
            guard now != toldDemand else { return }
            toldDemand = now
            events(.demandChanged(video: now.video, audioSamples: now.audioSamples))
        }
    }

    func enqueue(_ block: AudioBlock) { if offers(.audio) { audio?.enqueue(block) } }
    func waitForVideoRoom(until deadline: MediaTimestamp) -> Bool { video?.waitForRoom(until: deadline) ?? true }

    // MARK: Pausing, any thread

    var isPaused: Bool { pauseGate.isPaused }

    func setPaused(_ paused: Bool) {
        pauseOrder.withLock {
            guard pauseGate.set(paused: paused, now: MonotonicClock.now()) else { return }
            if !paused { requestKeyFrame() }
            let open = lock.withLock { Array(connections.values) }
            for connection in open { connection.pauseChanged(to: paused) }
            events(paused ? .paused : .resumed)
        }
        updateAdvert()
    }

    /// For a connection that begins to receive.
    func tellIfPaused(_ connection: ProducerConnection) {
        pauseOrder.withLock {
            if pauseGate.isPaused { connection.pauseChanged(to: true) }
        }
    }

    // MARK: Streams that begin and end, any thread

    /// What studios are offered now.
    var streams: [StreamDescription] { lock.withLock { offer.streams } }
    func offers(_ kind: MediaKind) -> Bool { lock.withLock { offer.offers(kind) } }

    /// Calls `body` with what is offered, and tells `body`'s studio of changes from then on only.
    func withStreams(_ body: ([StreamDescription]) -> Void) { streamOrder.withLock { body(streams) } }

    /// False when it was so already, or cannot be.
    func setOffered(_ kind: MediaKind, _ isOffered: Bool) -> Bool {
        let isNew = streamOrder.withLock {
            let (change, open) = lock.withLock {
                (offer.set(kind, isOffered: isOffered, now: MonotonicClock.now()), Array(connections.values))
            }
            guard let change else { return false }
            for connection in open {
                // A new one is asked for with START.
                if !isOffered { setMembership(connection, ChannelDemand.mask(change.removed), false) }
                connection.streamsChanged(change)
            }
            events(isOffered ? .streamBegan(kind) : .streamEnded(kind))
            return true
        }
        if isNew { tellDemand() }
        return isNew
    }

    private func setMembership(_ connection: ProducerConnection, _ channels: UInt16, _ receives: Bool) {
        if channels & 1 << Channels.audio != 0 {
            if receives { audio?.add(connection) } else { audio?.remove(connection) }
        }
        if channels & 1 << Channels.video != 0 {
            if receives { video?.add(connection) } else { video?.remove(connection) }
        }
    }

    /// What PAUSE and RESUME are about: all channels there are.
    var channelMask: UInt16 { streams.reduce(0) { $0 | 1 << $1.channel } }

    var statistics: ProducerStatistics {
        var result = video?.statistics ?? ProducerStatistics()
        result.audioPacketsSent = audio?.packetsSent ?? 0
        let now = MonotonicClock.now()
        // Not through arrays: it is read often.
        var slowest: Int32?
        for connection in lock.withLock({ connections }).values {
            if connection.activePeer != nil {
                let (step, loss) = connection.quality
                result.connections += 1
                result.qualityStep = max(result.qualityStep, step)
                if let loss { result.udpLoss = max(result.udpLoss ?? 0, loss) }
            }
            let (ready, queue) = connection.stageTimes(now: now)
            if slowest.map({ queue.p95 < $0 }) ?? false { continue }
            slowest = queue.p95
            result.readyTime = .init(ready)
            result.queueTime = .init(queue)
        }
        return result
    }

    /// As `ProducerStatistics.videoBytes`.
    var videoBytes: Int { video?.videoBytes ?? 0 }

    var activePeers: [ProducerPeer] {
        lock.withLock { connections.values.compactMap(\.activePeer) }.sorted { $0.name < $1.name }
    }

    // MARK: Connections

    /// The devices that TLS has let in, also those that have not asked for media yet.
    private var provenKeyIDs: Set<KeyID> { lock.withLock { Set(connections.values.compactMap(\.provenKeyID)) } }

    private func accept(_ link: any Link, from host: String, isCable: Bool = false) {
        let (id, decision) = lock.withLock { () -> (UInt64, AdmissionControl.Decision) in
            nextID &+= 1
            return (nextID, admission.connected(nextID, from: host, now: MonotonicClock.now()))
        }
        guard case .admit(let evicted) = decision else { return link.close() }
        if let evicted { lock.withLock { connections[evicted] }?.abort() }
        do throws(GantryError) {
            let connection = try ProducerConnection(server: self, link: link, id: id, isCable: isCable)
            let isAdded = lock.withLock {
                if isStopping { return false }
                connections[id] = connection
                return true
            }
            if isAdded { try connection.start() }
        } catch {
            ended(id)
        }
    }

    /// TLS has let the peer in: it no longer counts against the unproven.
    func proven(_ id: UInt64) { lock.withLock { admission.settled(id) } }

    func ended(_ id: UInt64) {
        lock.withLock {
            connections[id] = nil
            sessions.remove(id)
            admission.settled(id)
        }
        updateAdvert()
    }

    /// Tells those who look for us what we do. Any thread, after each change.
    func updateAdvert() {
        guard let advert else { return }
        let isFull = lock.withLock { sessions.count >= Self.maximumSessions }
        advert.update(isPaused ? .paused : isFull ? .full : activePeers.isEmpty ? .free : .active)
    }

    // MARK: Strangers on the cable, any thread

    /// Whether TLS shall let this key through although it is not paired.
    func admitsStranger(_ keyID: KeyID, wasRemoved: Bool) -> Bool {
        lock.withLock { strangers.admits(keyID, wasRemoved: wasRemoved) }
    }

    /// A stranger says hello: what to do with it.
    func strangerGreeted(_ id: UInt64) -> StrangerPolicy.Step { lock.withLock { strangers.greeted(id) } }

    /// Its question is over, by an answer or because it has gone.
    func strangerEnded(_ request: StudioRequest, isYes: Bool) {
        let wasAsked = lock.withLock { strangers.ended(request.id, request.keyID, isYes: isYes) }
        if wasAsked { events(.requestEnded(request)) }
    }

    func answer(_ request: StudioRequest, _ answer: StudioRequest.Answer) {
        lock.withLock { connections[request.id] }?.answer(answer)
    }

    var studioRequest: StudioRequest? {
        lock.withLock { Array(connections.values) }.lazy.compactMap(\.openRequest).first
    }

    /// What studios are told each second.
    var statisticsMessage: Stats {
        let now = statistics
        return Stats(
            framesSent: UInt64(clamping: now.framesSent),
            framesDropped: UInt64(clamping: now.framesReplaced + now.framesSkipped),
            bytesSent: UInt64(clamping: now.videoBytes), audioPacketsSent: UInt64(clamping: now.audioPacketsSent),
            stages: [
                .init(
                    stage: .encode, p50: UInt32(clamping: now.encodeMicrosecondsP50),
                    p95: UInt32(clamping: now.encodeMicrosecondsP95))
            ] + [Stats.StageTime(.capture, now.captureTime)].compactMap(\.self))
    }

    /// Whether a studio can decode every stream; one that lists nothing is trusted to.
    func canBeDecoded(by peer: Hello) -> Bool {
        let all = lock.withLock { offer.all }
        return peer.codecs.isEmpty || all.allSatisfy { stream in stream.codec.map(peer.codecs.contains) ?? true }
    }

    /// Whether there is room for one more session; then it counts until `ended`.
    func takesSession(_ id: UInt64) -> Bool {
        defer { updateAdvert() }
        return lock.withLock {
            guard sessions.count < Self.maximumSessions else { return false }
            sessions.insert(id)
            return true
        }
    }

    /// START: the channels replace those of the one before.
    func subscribe(_ connection: ProducerConnection, to channels: [UInt16]) {
        withStreams { streams in
            let offered = channels.filter { channel in streams.contains { $0.channel == channel } }
            let mask = ChannelDemand.mask(offered)
            setMembership(connection, ~mask, false)
            setMembership(connection, mask, true)
        }
        tellDemand()
    }

    /// PAUSE and RESUME of a studio, for it alone. What nobody receives is not encoded.
    ///
    /// - Parameter channels: a mask, bit n is channel n.
    func setReceives(_ connection: ProducerConnection, _ channels: UInt16, _ receives: Bool) {
        withStreams { streams in
            let offered = ChannelDemand.mask(streams.map(\.channel))
            setMembership(connection, receives ? channels & offered : channels, receives)
        }
        tellDemand()
    }

    /// What a studio wishes for, by START or PREFER.
    func prefer(_ wish: VideoWish, _ connection: ProducerConnection) { video?.prefer(wish, connection) }

    func unsubscribe(_ connection: ProducerConnection) {
        audio?.remove(connection)
        video?.forget(connection)
        tellDemand()
    }

    /// - Parameter connection: nil: for all.
    func requestKeyFrame(for connection: ProducerConnection? = nil) { video?.requestKeyFrame(for: connection) }

    /// To one studio, or all; does not block. How many it was sent to.
    func sendData(_ data: LabeledData, to peer: KeyID?) -> Int {
        let open = lock.withLock { Array(connections.values) }
        return open.count { $0.sendData(data, to: peer) }
    }

    /// Ends the connections of a device that was removed, also those that have not asked for media yet.
    func disconnect(_ keyID: KeyID) {
        let open = lock.withLock { connections.values.filter { $0.provenKeyID == keyID } }
        for connection in open { connection.close(.unpaired) }
    }
}

/// The channels of a session.
enum Channels {
    static let video: UInt16 = 1
    static let audio: UInt16 = 2
    static let data: UInt16 = 3
}
