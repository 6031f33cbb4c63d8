public import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import GantryTrust

/// One session with a producer: connects, decodes, and feeds the outputs until either side ends it. With
/// `StudioSessionConfiguration.reconnection` it outlives its connections: the outputs go on with the next one.
///
/// Threads: "studio-session" (dials, later finishes the outputs), "studio-io", "video-decode", "audio-decode", and while the
/// replay is armed "replay".
public final class StudioSession: @unchecked Sendable {  // What varies is guarded by `lock`.
    struct Context {
        let identity: Identity
        let store: DeviceStore
        let name: DisplayName
        /// What the producer's must match.
        var fieldOfUse = FieldOfUse()
        /// Learns how the sessions go.
        var service: StudioService?
        /// A key that may answer although it is not in the store any more.
        var trusts: KeyID?
        /// Where the session is listed while it is open; nil: nowhere.
        var open: OpenSessions?
    }

    /// The producer that was asked for.
    public let target: ProducerTarget

    let dataObservers = DataObservers<Void>()
    /// The last seconds, to be shown again or saved.
    public let replay: Replay

    let context: Context
    let configuration: StudioSessionConfiguration
    let outputs: OutputSwitch
    private let lanes: OutputLanes
    /// What gets every packet.
    let packetOutputs: [any PacketOutput]
    private let news: SessionNews
    private let lock = Condition()
    private var dialer: SessionDialer?
    private weak var storedDelegate: (any StudioSessionDelegate)?
    private var isClosing = false
    /// Of the connections that have ended.
    private var past = StudioStatistics()
    private var thread: NamedThread?
    private var connection: (any SessionConnection)?
    private var hasStarted = false
    private var startTime = MediaTimestamp(microseconds: 0)
    private var sawFrame = false
    private var hasArrived = false
    private var receptionWishes = ReceptionWishes()
    /// The session's thread only: while there is no connection, from the first wait on.
    private var arrivals: ArrivalWatch?

    /// A connection that has stood this long is made again without a pause.
    private static let steadyAfter = MediaDuration.seconds(2)

    init(context: Context, target: ProducerTarget, configuration: StudioSessionConfiguration) {
        self.context = context
        self.target = target
        self.configuration = configuration
        let news = SessionNews(wanted: configuration.wantedMedia)
        self.news = news
        lanes = OutputLanes(configuration)
        outputs = OutputSwitch(video: lanes.video, audio: lanes.audio) { news.mediaCame() }
        replay = Replay(outputs: outputs) { news.tell($0) }
        packetOutputs = lanes.packets + [replay]
        replay.session = self
    }

    /// What happens, from the beginning to `ended`. Each time it is asked for it is a stream of its own; the newest 64 events
    /// are kept for a reader that is slow, or comes late.
    public var events: AsyncStream<StudioEvent> { news.events() }

    /// Hears what happens from when it is set on; set it before `start()`. Not held.
    public var delegate: (any StudioSessionDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            lock.withLock { storedDelegate = newValue }
            do throws(GantryError) {
                news.deliver(
                    to: try newValue.map { value throws(GantryError) in try DelegateDelivery(self, to: value) })
            } catch {
                Log.warning("The delegate of a session hears nothing: \(error)")
            }
        }
    }

    /// Where the session is in its life.
    public var state: SessionState { news.state }
    /// What is done with its media just now.
    public var playerState: PlayerState { news.player }
    /// The streams that the producer offers now, by channel; empty without a connection.
    public var streams: [StreamInfo] { news.streams }

    /// Begins to connect; what follows comes as events. Once only, unless it has thrown: then nothing has begun, and it may be
    /// called again. From now on until it has ended the session stays, whoever holds it: `StudioController.sessions` lists it.
    /// After `close()` it ends at once.
    ///
    /// - Throws: `invalidState` once it has been started, `invalidArgument` for a replay that cannot be, `general` when the system
    ///   gives no thread.
    public func start() throws(GantryError) {
        let isFirst = lock.withLock {
            defer { hasStarted = true }
            guard !hasStarted else { return false }
            startTime = MonotonicClock.now()
            return true
        }
        guard isFirst else {
            throw GantryError(
                .invalidState,
                "The session has been started already. Another one is made by `StudioController.subscribe`.")
        }
        do throws(GantryError) {
            if let settings = configuration.replay { try replay.arm(settings) }
            try lanes.start()
            try startThread()
        } catch {
            if configuration.replay != nil { replay.disarm() }
            lock.withLock { hasStarted = false }
            throw error
        }
    }

    private func startThread() throws(GantryError) {
        context.open?.add(self)
        news.started(true)
        do throws(GantryError) {
            let thread = try NamedThread("studio-session") { [self] in run() }
            lock.withLock { self.thread = thread }
        } catch {
            news.started(false)
            context.open?.remove(self)
            throw error
        }
    }

    /// Says goodbye and finishes all outputs; `ended` follows. Returns at once.
    public func close() { close(.normal) }

    func close(_ reason: Bye.Reason) {
        let (connection, dialer) = lock.withLock {
            isClosing = true
            lock.broadcast()
            return (self.connection, self.dialer)
        }
        // This first: the dialler says a plain goodbye for a connection that the session does not know of yet.
        connection?.close(reason)
        dialer?.cancel()
    }

    var wishes: ReceptionWishes { lock.withLock { receptionWishes } }

    func changeWishes(_ change: (inout ReceptionWishes) -> Void) {
        let (connection, stopped) = lock.withLock { () -> ((any SessionConnection)?, MediaSelection?) in
            let former = receptionWishes.stopped
            change(&receptionWishes)
            return (self.connection, receptionWishes.stopped == former ? nil : receptionWishes.stopped)
        }
        connection?.applyWishes()
        if let stopped { news.tell(.stoppedHere(stopped)) }
    }

    /// Blocks until the session has ended and all outputs are finished. Not on the cooperative pool, and not from an
    /// output or an observer of data: the session waits for these.
    public func waitUntilEnded() { lock.withLock { thread }?.join() }

    /// Of all connections so far; what is a state or a percentile is of the last one.
    public var statistics: StudioStatistics {
        let (connection, past) = lock.withLock { (self.connection, self.past) }
        var result = connection?.statistics.adding(past) ?? past
        result.framesDropped += lanes.framesDropped
        return result
    }

    // MARK: Data

    /// Sends bytes to the producer. Does not block.
    ///
    /// - Returns: false when not connected, when the producer takes no data, or has not yet taken 256 KiB that were sent
    ///   before: try again then.
    public func sendData(_ data: LabeledData) -> Bool { lock.withLock { connection }?.sendData(data) ?? false }

    /// Calls `observer` with what the producer sends, one message after the other, on a thread of the connection. While it
    /// does not return, the producer can send 256 KiB, and no more; media go on. It must return before the session can end.
    ///
    /// - Parameters:
    ///   - label: only what has this label; nil: all.
    ///   - observer: gets each message.
    @discardableResult
    public func observeData(
        _ label: String? = nil, _ observer: @escaping @Sendable (LabeledData) -> Void
    ) -> DataObservation {
        dataObservers.add(label) { data, _ in observer(data) }
    }

    // MARK: Session thread

    private func run() {
        var delay = ReconnectDelay()
        var admission = AdmissionDelay()
        var failure: GantryError?
        var hasStood = false
        // What goes on while the producer is away is told once.
        var isAway = false
        var isNews = true
        while true {
            let (end, stood) = connectOnce(isNews: isNews)
            failure = end.error
            isNews = stood != nil
            if let pause = admissionPause(after: end, stood: stood, &admission) {
                // Also when an arrival is seen: all others see it, too.
                guard rest(until: MonotonicClock.now() + pause) else { continue }
                failure = nil
                break
            }
            if isNews {
                delay.succeeded()
                isAway = false
            }
            hasStood = hasStood || stood != nil
            guard configuration.reconnection.goesOn(after: end, stood: hasStood), !closing else { break }
            outputs.interrupted()
            if !isAway { report(.disconnected(failure)) }
            isAway = true
            // At once, when it had stood for a while: there may be another path.
            let pause = (stood ?? .seconds(0)) < Self.steadyAfter ? delay.next() : .seconds(0)
            if waitForClose(until: MonotonicClock.now() + pause) {
                failure = nil
                break
            }
        }
        stopArrivals()
        replay.finish()
        lanes.beginEnd()
        outputs.ended()
        for output in lanes.packets { output.finish() }
        context.open?.remove(self)
        report(.ended(failure))
        news.finish(self)
    }

    /// One connection, from dialling to its end, and for how long the producer had let us in; nil: it did not.
    private func connectOnce(isNews: Bool) -> (end: ConnectionEnd, stood: MediaDuration?) {
        if isNews { news.tell(.connecting(target.name)) }
        if let url = target.url { return playOnce(url) }
        do throws(GantryError) {
            let dialer = try SessionDialer(self)
            let isWanted = lock.withLock {
                self.dialer = dialer
                return !isClosing
            }
            guard isWanted, let connection = try dialer.run() else { return (.byUs, nil) }
            stopArrivals()
            let end = connection.run()
            leave(connection)
            return (end, connection.stood)
        } catch {
            return (.failed(error), nil)
        }
    }

    /// How long to wait for another try; nil: the connection's end was none of being turned away. TLS 1.3 lets a studio finish
    /// before the producer has looked at its key, and ACCEPT alone says that it has.
    private func admissionPause(
        after end: ConnectionEnd, stood: MediaDuration?, _ delay: inout AdmissionDelay
    ) -> MediaDuration? {
        if stood != nil { delay = AdmissionDelay() }
        guard stood == nil, end.error?.code == .peerLost, let pause = delay.next() else { return nil }
        Log.info("\(target.name) has turned us away: trying again")
        return pause
    }

    private func playOnce(_ url: String) -> (end: ConnectionEnd, stood: MediaDuration?) {
        let connection = URLConnection(self, url: url)
        adopt(connection)
        // Closed before anyone could tell the connection.
        if closing { connection.close(.normal) }
        let end = connection.run()
        leave(connection)
        return (end, connection.stood)
    }

    private func leave(_ connection: any SessionConnection) {
        news.streamsChanged { $0.removeAll() }
        let statistics = connection.statistics
        lock.withLock {
            past = statistics.adding(past)
            self.connection = nil
        }
    }

    private var closing: Bool { lock.withLock { isClosing } }

    /// True when the session is to end; false at `deadline`, or as soon as a producer appears that may be the one.
    private func waitForClose(until deadline: MediaTimestamp) -> Bool {
        if target.url == nil { startArrivals() }
        return lock.withLock {
            while !isClosing, !hasArrived {
                if !lock.wait(until: deadline) { break }
            }
            hasArrived = false
            return isClosing
        }
    }

    /// True when the session is to end; false at `deadline`.
    private func rest(until deadline: MediaTimestamp) -> Bool {
        lock.withLock {
            while !isClosing, lock.wait(until: deadline) {}
            return isClosing
        }
    }

    private func startArrivals() {
        guard arrivals == nil else { return }
        do throws(GantryError) {
            arrivals = try ArrivalWatch(target) { [weak self] in self?.arrived() }
        } catch {
            // It takes as long as the delay, then.
            Log.warning("\(error)")
        }
    }

    private func stopArrivals() {
        arrivals?.stop()
        arrivals = nil
        lock.withLock { hasArrived = false }
    }

    private func arrived() {
        lock.withLock {
            hasArrived = true
            lock.broadcast()
        }
    }

    /// What is left of `duration`.
    var remainingDuration: MediaDuration? {
        configuration.duration.map { duration in
            // The producer's stamps make it: they may be anything.
            let past = min(max(0, lock.withLock { self.past.mediaSeconds }), max(0, duration.seconds))
            let used = Int64(exactly: (past * 1e6).rounded()) ?? .max
            return MediaDuration(microseconds: max(1, duration.microseconds &- used))
        }
    }

    /// Where the producer was met last.
    var lastAddress: String? {
        guard let keyID = target.keyID else { return nil }
        return (try? context.store.device(keyID: keyID))?.lastAddress
    }

    // MARK: From the connection's threads

    /// The connection whose peer has proved its key: `close` and `statistics` are for it from now on.
    func adopt(_ connection: any SessionConnection) { lock.withLock { self.connection = connection } }

    func report(_ event: StudioEvent) {
        context.service?.note(event, of: self)
        news.tell(event)
    }

    func streamsChanged(added: [StreamInfo], removed: Set<Int> = []) {
        news.streamsChanged { $0.change(added: added, removed: removed) }
    }

    func formatChanged(_ format: StreamFormat, channel: Int) {
        report(.format(format))
        news.streamsChanged { $0.formatChanged(format, channel: channel) }
    }

    /// Whether key frames are wanted has changed.
    func keyFramesChanged() { lock.withLock { connection }?.wakeUp() }

    /// The first picture is told once.
    func pictureCame() {
        let elapsed = lock.withLock { () -> Int64? in
            if sawFrame { return nil }
            sawFrame = true
            return (MonotonicClock.now() - startTime).microseconds
        }
        if let elapsed { news.tell(.firstFrame(afterMicroseconds: Int(elapsed))) }
    }
}
