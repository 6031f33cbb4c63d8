public import GantryCore
import GantryPlatform
import GantryTrust

/// Watches whether paired producers can be received here: network, discovery, cables, and the quality of the sessions.
/// `StudioController.service`. Any thread.
///
/// It costs nothing until `start()`. Threads then: "network-watch", and those of a `ProducerBrowser`.
public final class StudioService: @unchecked Sendable {  // What varies is guarded by `lock`.
    private let makeBrowser: @Sendable () -> ProducerBrowser
    private let lock = Lock()
    private var judgement = ServiceJudgement()
    private var last: ServiceStatus
    private let streams = EventStreams<ServiceStatus>(capacity: 16)
    private var browser: ProducerBrowser?
    private var network: NetworkWatch?

    init(makeBrowser: @escaping @Sendable () -> ProducerBrowser) {
        self.makeBrowser = makeBrowser
        last = ServiceJudgement().status
    }

    deinit {
        streams.finish()
        // One of their own threads may be the last to let go; it is not waited for.
        browser?.stop()
        network?.stop()
    }

    /// What holds now.
    public var status: ServiceStatus { lock.withLock { last } }

    /// Whether a paired producer can be received now, and why not.
    public var state: ServiceState { status.state }

    /// Whether a paired producer says that it is on this network, or on a cable.
    public var isInVenue: Bool { status.isInVenue }

    /// What holds now, and each change from now on. Every reader has a stream of its own; it ends when the reader lets go of
    /// it, or with the service. The newest 16 are kept for a reader that is slow.
    public var updates: AsyncStream<ServiceStatus> {
        lock.withLock { streams.makeStream(after: [last]) }
    }

    /// Calls `observer` with what holds now and with each change, one after the other, on a task. It stays until
    /// `DataObservation.cancel`, or until the service is gone.
    @discardableResult
    public func observe(_ observer: @escaping @Sendable (ServiceStatus) -> Void) -> DataObservation {
        let updates = updates
        let task = Task.detached {
            for await status in updates { observer(status) }
        }
        return DataObservation { task.cancel() }
    }

    /// Begins to watch. What is on the network is known a second later, usually; until then `noProducers` holds.
    ///
    /// - Throws: `invalidState` when it runs already, `cancelled` when `stop` was called meanwhile, `general` when the system gives no thread.
    public func start() throws(GantryError) {
        let browser = makeBrowser()
        let network = try NetworkWatch { [weak self] information in
            self?.change { $0.isNetworkUp = information.isConnected }
        }
        let isFirst = lock.withLock {
            guard self.browser == nil else { return false }
            self.browser = browser
            self.network = network
            return true
        }
        guard isFirst else { throw GantryError(.invalidState, "The service is running already.") }
        do throws(GantryError) {
            try network.start()
            try browser.start()
        } catch {
            stop()
            throw error
        }
        let isCurrent = lock.withLock { self.browser === browser }
        guard isCurrent else {
            // `stop` came before there was anything to stop.
            network.stop()
            browser.stop()
            throw GantryError(.cancelled, "The service was stopped while it started.")
        }
        change { $0.isRunning = true }
        Task.detached { [weak self] in
            for await event in browser.events { self?.note(event, of: browser) }
        }
    }

    /// Ends it; `notRunning` holds then. Sessions go on. Does nothing when it does not run. Blocks until its threads have
    /// ended: not on the cooperative pool.
    public func stop() {
        let (browser, network) = lock.withLock { () -> (ProducerBrowser?, NetworkWatch?) in
            defer { (self.browser, self.network) = (nil, nil) }
            return (self.browser, self.network)
        }
        network?.stop()
        browser?.stop()
        change {
            $0.isRunning = false
            $0.isNetworkUp = false
            $0.canSearch = true
            $0.producers = []
        }
    }

    // MARK: What happens

    func note(_ event: StudioEvent, of session: StudioSession) {
        // A URL is no paired producer.
        guard session.target.url == nil else { return }
        change { $0.note(event, of: ObjectIdentifier(session)) }
    }

    private func note(_ event: ProducerBrowser.Event, of browser: ProducerBrowser) {
        // What an earlier browser still says is over.
        guard lock.withLock({ self.browser === browser }) else { return }
        change {
            switch event {
            case .producers(let found):
                $0.producers = found.compactMap(\.device).filter { $0.state == .active }
            case .available: $0.canSearch = true
            case .unavailable: $0.canSearch = false
            }
        }
    }

    private func change(_ change: (inout ServiceJudgement) -> Void) {
        lock.withLock {
            change(&judgement)
            let status = judgement.status
            guard status != last else { return }
            last = status
            // Under the lock: two threads tell what they know in turn.
            streams.yield(status)
        }
    }
}
