public import GantryCore
import GantryMedia
import GantryPlatform
import GantryTransport
import GantryTrust

/// The sending side: takes pictures and sound from the application, encodes them, and serves every paired studio that
/// connects.
///
/// It opens no device by itself; before `start()` no thread runs and less than 1 MB is held. Every method may be called from
/// any thread, also from the delegate, from an observer of data or from a release callback; only `start` and `stop` may
/// block for a moment. Letting go of the controller stops it.
public final class ProducerController: @unchecked Sendable {  // What varies is guarded by `lock`.
    /// Where a run is. Whoever is in the middle of one change never waits for another: that one may be waited for by
    /// a thread of ours.
    private enum Phase {
        case stopped
        /// `start` is at work; true: `stop` was called meanwhile.
        case starting(isUnwanted: Bool)
        case running
        case stopping
    }

    let identity: Identity
    let store: DeviceStore
    let configured: SettingStore<ProducerConfiguration>
    let lock = Lock()
    private let eventStreams = EventStreams<ProducerEvent>(capacity: 64)
    private let delegateBox = DelegateBox()
    private let delegateQueue: DelegateQueue
    private var phase = Phase.stopped
    /// Held while the end of a run is told, so that the next one's events come after it.
    private let runOrder = Lock()
    /// From the middle of `start` on, until `stop` begins.
    private var server: ProducerServer?
    /// What the delegate was told last; nil: nothing.
    private var toldState: ProducerState?
    private var lastStatistics = ProducerStatistics()
    private let dataObservers = DataObservers<ProducerPeer>()
    /// Held while streams begin or end, so that studios hear it in order.
    let streamOrder = Lock()
    /// What `endStream` has taken away; guarded by `lock`.
    var endedStreams: Set<MediaKind> = []
    /// The attempt that runs.
    var pairing: ProducerPairing?
    let frames = FrameInput()
    let sound = PCMInput()
    /// Of the codec that came last.
    private var coded: CodedInput?

    /// Opens (or makes) identity and store of paired devices.
    ///
    /// - Throws: `invalidArgument` for settings that are out of range, and `stateFolder`, `identity`, `store`, each with what
    ///   mends it.
    public init(configuration: ProducerConfiguration = ProducerConfiguration()) throws(GantryError) {
        try configuration.validate()
        let folder = try StateFolder.open(configuration.stateDirectory)
        identity = try Identity.loadOrCreate(in: folder)
        store = try DeviceStore.open(in: folder)
        configured = SettingStore(configuration, ProducerSettings.table) { $0.logLevel }
        let box = delegateBox
        delegateQueue = DelegateQueue { box.controller?.tellDelegate($0) }
        box.controller = self
    }

    deinit {
        server?.stop()
        if server != nil { eventStreams.yield(.stopped) }
        delegateQueue.close()
        eventStreams.finish()
    }

    /// Who this installation is.
    public var keyID: KeyID { identity.keyID }

    /// What happens, from now on. Each call gives a stream of its own, which keeps the newest 64 events for a reader that is
    /// slow, and ends when the controller is let go of. Take it before `start()` to miss nothing.
    public var events: AsyncStream<ProducerEvent> { eventStreams.makeStream() }

    /// Is told what happens and decides who may receive; not kept alive.
    public var delegate: (any ProducerControllerDelegate)? {
        get { delegateBox.delegate }
        set {
            delegateBox.delegate = newValue
            lock.withLock { toldState = nil }
            if newValue != nil, isRunning { delegateQueue.post(nil) }
        }
    }

    // MARK: Running

    /// Begins to listen. Returns at once; studios connect from now on. May be called again after `stop()`.
    ///
    /// With `ProducerConfiguration.usb` it blocks while the gadget is made: some tenths of a second.
    ///
    /// - Throws: `invalidState` when running already or when a `stop()` has not returned yet, `cancelled` when `stop()` was
    ///   called meanwhile, `portInUse`, and for USB `usbFunction`, `usbNoController`, `usbControllerTaken`, `usbNotPermitted`,
    ///   `usbGadget`, `usbGadgetInUse`. Nothing runs then that did not before.
    public func start() throws(GantryError) {
        try beginStarting()
        do throws(GantryError) {
            let ended = lock.withLock { endedStreams }
            let new = try ProducerServer(
                configuration: configuration, endedStreams: ended, identity: identity, store: store, name: name,
                dataObservers: dataObservers, decide: { [delegateBox] in delegateBox.decide($0, answer: $1) },
                events: { [eventStreams, delegateBox, delegateQueue] event in
                    eventStreams.yield(event)
                    if delegateBox.delegate != nil { delegateQueue.post(event) }
                })
            delegateQueue.open()
            lock.withLock { server = new }
            applyStreams(to: new)
            do throws(GantryError) {
                try new.start()
            } catch {
                lock.withLock { server = nil }
                // What had begun by then.
                new.stop()
                throw error
            }
            // What was configured meanwhile.
            new.apply(configuration)
            new.events(.started(port: new.port))
        } catch {
            delegateQueue.close()
            lock.withLock { phase = .stopped }
            throw error
        }
        let isUnwanted = lock.withLock { () -> Bool in
            guard case .starting(let isUnwanted) = phase else { return false }
            phase = isUnwanted ? .stopping : .running
            return isUnwanted
        }
        guard isUnwanted else { return }
        finishRun()
        throw GantryError(.cancelled, "The producer was stopped while it started.")
    }

    private func beginStarting() throws(GantryError) {
        let refusal = lock.withLock { () -> String? in
            switch phase {
            case .stopped:
                phase = .starting(isUnwanted: false)
                return nil
            case .starting, .running: return "The producer is running already."
            case .stopping: return "The producer is being stopped. Start it when `stop()` has returned."
            }
        }
        if let refusal { throw GantryError(.invalidState, refusal) }
        // Another thread may be telling the end of the run before.
        runOrder.withLock {}
    }

    /// Says goodbye to all studios after what was enqueued has been sent, and ends all threads. On return nothing of the
    /// application's memory is held any more, and nothing is called but what the delegate is still to be told.
    ///
    /// Does nothing when not running, or when another thread is stopping it already. A `start()` that has not returned yet
    /// is undone by its own thread.
    public func stop() {
        let isOurs = lock.withLock { () -> Bool in
            switch phase {
            case .running:
                phase = .stopping
                return true
            case .starting:
                phase = .starting(isUnwanted: true)
                return false
            case .stopped, .stopping: return false
            }
        }
        if isOurs { finishRun() }
    }

    private func finishRun() {
        let ended = lock.withLock { () -> ProducerServer? in
            defer { server = nil }
            return server
        }
        ended?.stop()
        let final = ended?.statistics
        // Before the next run can open it; what comes after it is told all the same.
        delegateQueue.close()
        runOrder.withLock {
            lock.withLock {
                if let final { lastStatistics = final }
                phase = .stopped
            }
            ended?.events(.stopped)
        }
    }

    /// From `start()` on, until `stop()` begins.
    public var isRunning: Bool { running != nil }

    /// For coded pictures; nil: whatever there is.
    func codedInput(_ codec: MediaCodec?) -> CodedInput? {
        lock.withLock {
            guard let codec, coded?.codec != codec else { return coded }
            let new = CodedInput(codec: codec)
            coded = new
            return new
        }
    }

    /// What runs.
    var running: ProducerServer? { lock.withLock { server } }

    /// Whether it runs, and who receives.
    public var state: ProducerState {
        guard let server = running else { return .notRunning }
        let peers = server.activePeers
        if server.isPaused { return .paused(peers) }
        return peers.isEmpty ? .notConnected : .active(peers)
    }

    /// After `configure`.
    func applyConfiguration() { lock.withLock { server }?.apply(configuration) }

    /// The name that studios show.
    public var displayedName: String { name.text }

    var name: DisplayName { DisplayName(configuration.name ?? HostName.current) }

    // MARK: Pausing

    /// Sends neither pictures nor sound until `resume()`. Studios stay connected and are told, also those that connect
    /// meanwhile. Does nothing when not running or paused already.
    ///
    /// On return nothing is encoded or handed to a connection any more, and what waited to be sent is thrown away; a
    /// packet that was half sent is completed. Nothing that was captured before `resume()` is sent afterwards.
    public func pause() { running?.setPaused(true) }

    /// Goes on after `pause()`; the first picture is a key frame.
    public func resume() { running?.setPaused(false) }

    /// False when not running: every `start()` begins without a pause.
    public var isPaused: Bool { running?.isPaused ?? false }

    /// The TCP port, once running.
    public var port: UInt16? { running?.port }

    /// Since `start`; after `stop`, of the run that has ended.
    public var statistics: ProducerStatistics {
        let (server, last) = lock.withLock { (self.server, lastStatistics) }
        return server?.statistics ?? last
    }

    /// Bytes of coded video since `start`; 0 when not running. For those who ask often: nothing is allocated.
    package var videoBytes: Int { running?.videoBytes ?? 0 }

    // MARK: Strangers on the cable

    /// Decides about `ProducerEvent.studioAsks`. Does nothing when that is over.
    public func answer(_ request: StudioRequest, _ answer: StudioRequest.Answer) {
        running?.answer(request, answer)
    }

    /// The studio that waits for an answer; at most one at a time.
    public var studioRequest: StudioRequest? { running?.studioRequest }

    // MARK: Data

    /// Sends bytes to a studio, or to all that receive. Does not block.
    ///
    /// - Parameters:
    ///   - data: the bytes, and what they are about.
    ///   - peer: the studio's key; nil: all.
    /// - Returns: how many it is on the way to. A studio that is left out is not connected, takes no data, or has not yet
    ///   taken 256 KiB that were sent before: try again then.
    @discardableResult
    public func sendData(_ data: LabeledData, to peer: KeyID? = nil) -> Int {
        running?.sendData(data, to: peer) ?? 0
    }

    /// Calls `observer` with what studios send, one message after the other for each studio, on a thread of its connection.
    /// While it does not return, that studio can send 256 KiB, and no more; media go on.
    ///
    /// - Parameters:
    ///   - label: only what has this label; nil: all.
    ///   - observer: gets each message, and who has sent it.
    @discardableResult
    public func observeData(
        _ label: String? = nil, _ observer: @escaping @Sendable (LabeledData, ProducerPeer) -> Void
    ) -> DataObservation {
        dataObservers.add(label, observer)
    }

    // MARK: The delegate's thread

    fileprivate func tellDelegate(_ event: ProducerEvent?) {
        guard let delegate else { return }
        let now = state
        let isNew = lock.withLock { () -> Bool in
            defer { toldState = now }
            return toldState != now
        }
        if isNew { delegate.producerController(self, stateDidChangeTo: now) }
        guard let event else { return }
        if case .demandChanged(_, let samples) = event {
            delegate.producerController(self, audioSamplesRequiredDidChangeTo: samples)
        }
        delegate.producerController(self, didReceive: event)
    }
}
