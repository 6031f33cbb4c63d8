import CAvahi
import GantryCore
import GantryPlatform
import Glibc

/// The thread "discovery". It owns the Avahi client and everything that hangs on it; other threads hand it commands.
///
/// The callbacks of the Avahi library only note what happened. One turn of the loop then carries out commands, makes
/// what is missing, tells what has changed, and sleeps in `poll` until the daemon, a command or a retry is due. The
/// library asks the daemon and waits for the answer: that is why no other thread may do it.
///
/// A client whose daemon or bus has gone is dead (Avahi 0.8, also with AVAHI_CLIENT_NO_FAIL). It is freed and another
/// one made: at once, then after 0.5 s, growing to 5 s. That one waits by itself for a daemon that is absent.
final class DiscoveryLoop: @unchecked Sendable {  // `condition` guards the first group; the thread owns the rest.
    enum Command: Sendable {
        case advertise(Int, ServiceAdvertisement, CallbackGate, @Sendable (String) -> Void)
        case update(Int, [String: String])
        case withdraw(Int)
        case browse(Int, ServiceType, CallbackGate, @Sendable ([DiscoveredService]) -> Void)
        case endBrowse(Int)
    }

    private enum Told { case nothing, running, unavailable, notPublished }

    private static let firstRetryDelay = MediaDuration.milliseconds(500)
    private static let longestRetryDelay = MediaDuration.seconds(5)
    /// How long `stop` waits for a daemon that does not answer.
    private static let stopLimit = MediaDuration.seconds(3)

    // Guarded by `condition`.
    private let condition = Condition()
    private var commands: [Command] = []
    private var lastNumber = 0
    private var isStopping = false
    private var hasEnded = false
    private var thread: NamedThread?
    private var wakeUp: EventDescriptor?
    private var threadID: pthread_t?

    // Of the thread.
    private let stateChanged: @Sendable (DiscoveryState) -> Void
    private var client: OpaquePointer?
    private var clientState = AVAHI_CLIENT_CONNECTING
    private var hostNameChanged = false
    private var retryAt = MediaTimestamp(microseconds: 0)
    private var retryDelay = MediaDuration.zero
    private var publications: [Int: Publication] = [:]
    private var searches: [Int: Search] = [:]
    private var told = Told.nothing
    private var problem: GantryError?

    init(stateChanged: @escaping @Sendable (DiscoveryState) -> Void) { self.stateChanged = stateChanged }

    // MARK: Any thread

    func start() throws(GantryError) {
        try condition.withLock { () throws(GantryError) in
            guard thread == nil, !isStopping else {
                throw GantryError(.invalidState, "Discovery was started before. Make another one.")
            }
            let event = try EventDescriptor()
            wakeUp = event
            thread = try NamedThread("discovery") { self.run(event) }
        }
    }

    func stop() {
        let thread = condition.withLock { () -> NamedThread? in
            isStopping = true
            commands.removeAll()
            wakeUp?.signal()
            // On the thread itself (the last owner was let go in a callback) there is nothing to wait for.
            if let threadID, pthread_equal(threadID, pthread_self()) != 0 { return nil }
            return self.thread
        }
        guard let thread else { return }
        let deadline = MonotonicClock.now() + Self.stopLimit
        let ended = condition.withLock {
            while !hasEnded { if !condition.wait(until: deadline) { break } }
            return hasEnded
        }
        if ended { thread.join() }
    }

    func nextNumber() -> Int {
        condition.withLock {
            lastNumber &+= 1
            return lastNumber
        }
    }

    func post(_ command: Command) {
        condition.withLock {
            if isStopping { return }
            commands.append(command)
            wakeUp?.signal()
        }
    }

    // MARK: The thread

    private func run(_ event: EventDescriptor) {
        condition.withLock { threadID = pthread_self() }
        defer {
            condition.withLock {
                hasEnded = true
                condition.broadcast()
            }
        }
        guard let poll = avahi_simple_poll_new() else {
            return stateChanged(.unavailable(AvahiFailure.connecting(CInt(AVAHI_ERR_NO_MEMORY))))
        }
        defer { avahi_simple_poll_free(poll) }
        let api = avahi_simple_poll_get(poll)
        let watch = api?.pointee.watch_new?(
            api, event.rawValue, AVAHI_WATCH_IN, wokenUp, Unmanaged.passUnretained(event).toOpaque())
        defer { if let watch { api?.pointee.watch_free?(watch) } }
        while turn(poll) {}
        for search in searches.values { search.end() }
        for publication in publications.values { publication.withdraw() }
        dropClient()
        searches.removeAll()
        publications.removeAll()
    }

    /// False when it is time to end.
    private func turn(_ poll: OpaquePointer) -> Bool {
        guard let commands = takeCommands() else { return false }
        for command in commands { perform(command) }
        let now = MonotonicClock.now()
        if client != nil, clientState == AVAHI_CLIENT_FAILURE {
            problem = AvahiFailure.noDaemon
            dropClient()
            scheduleRetry(now)
        }
        if client == nil, now >= retryAt { connect(poll, now) }
        workAll(now)
        tellAll()
        guard avahi_simple_poll_iterate(poll, sleepTime()) == 0 else {
            // The kernel refuses to wait: begin anew, slowly.
            dropClient()
            scheduleRetry(now)
            MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
            return true
        }
        return true
    }

    private func takeCommands() -> [Command]? {
        condition.withLock {
            if isStopping { return nil }
            defer { commands.removeAll() }
            return commands
        }
    }

    private func perform(_ command: Command) {
        switch command {
        case .advertise(let number, let advertisement, let gate, let named):
            publications[number] = Publication(advertisement, gate: gate, named: named)
        case .update(let number, let text): publications[number]?.update(text: text)
        case .withdraw(let number): publications.removeValue(forKey: number)?.withdraw()
        case .browse(let number, let type, let gate, let changed):
            searches[number] = Search(type, gate: gate, changed: changed)
        case .endBrowse(let number): searches.removeValue(forKey: number)?.end()
        }
    }

    /// Milliseconds until something is due by itself; -1 for ever.
    private func sleepTime() -> CInt {
        var times = publications.values.compactMap(\.due) + searches.values.compactMap(\.due)
        if client == nil { times.append(retryAt) }
        if client != nil, clientState == AVAHI_CLIENT_FAILURE { return 0 }
        guard let first = times.min() else { return -1 }
        let wait = (first - MonotonicClock.now()).microseconds
        return CInt(clamping: max(0, wait / 1000 &+ 1))
    }

    // MARK: The client

    private func connect(_ poll: OpaquePointer, _ now: MediaTimestamp) {
        clientState = AVAHI_CLIENT_CONNECTING
        var code: CInt = 0
        client = avahi_client_new(
            avahi_simple_poll_get(poll), AVAHI_CLIENT_NO_FAIL, avahiClientChanged,
            Unmanaged.passUnretained(self).toOpaque(),
            &code)
        if client == nil {
            problem = AvahiFailure.connecting(code)
            scheduleRetry(now)
        }
    }

    /// What hangs on the client is freed with it.
    private func dropClient() {
        guard let client else { return }
        avahi_client_free(client)
        self.client = nil
        for publication in publications.values { publication.forget() }
        for search in searches.values { search.forget() }
    }

    private func scheduleRetry(_ now: MediaTimestamp) {
        retryAt = now + retryDelay
        retryDelay = min(max(retryDelay + retryDelay, Self.firstRetryDelay), Self.longestRetryDelay)
    }

    fileprivate func clientChanged(_ state: AvahiClientState) {
        clientState = state
        if state == AVAHI_CLIENT_S_REGISTERING || state == AVAHI_CLIENT_S_COLLISION { hostNameChanged = true }
    }

    // MARK: What hangs on it

    private func workAll(_ now: MediaTimestamp) {
        guard let client else { return }
        switch clientState {
        case AVAHI_CLIENT_S_RUNNING, AVAHI_CLIENT_S_REGISTERING, AVAHI_CLIENT_S_COLLISION: break
        default: return
        }
        for search in searches.values { search.work(client, now: now) }
        if hostNameChanged {
            hostNameChanged = false
            for publication in publications.values { publication.reset() }
        }
        guard clientState == AVAHI_CLIENT_S_RUNNING else { return }
        retryDelay = .zero
        for publication in publications.values { publication.work(client, now: now) }
    }

    private func tellAll() {
        if condition.withLock({ isStopping }) { return }
        tellState()
        for publication in publications.values { publication.tell() }
        for search in searches.values { search.tell() }
    }

    private func tellState() {
        if client != nil, clientState == AVAHI_CLIENT_S_RUNNING {
            if let refusal = publications.values.lazy.compactMap(\.problem).first {
                tell(.notPublished, .unavailable(refusal))
            } else {
                tell(.running, .running)
            }
        } else if client == nil {
            // A client that has just gone is replaced at once; the next one says what is wrong.
            if let problem { tell(.unavailable, .unavailable(problem)) }
        } else if clientState == AVAHI_CLIENT_CONNECTING {
            tell(.unavailable, .unavailable(AvahiFailure.noDaemon))
        }
    }

    private func tell(_ kind: Told, _ state: DiscoveryState) {
        guard told != kind else { return }
        told = kind
        stateChanged(state)
    }
}

private func avahiClientChanged(
    _ client: OpaquePointer?, _ state: AvahiClientState, _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    Unmanaged<DiscoveryLoop>.fromOpaque(context).takeUnretainedValue().clientChanged(state)
}

private func wokenUp(
    _ watch: OpaquePointer?, _ file: CInt, _ event: AvahiWatchEvent, _ context: UnsafeMutableRawPointer?
) {
    guard let context else { return }
    Unmanaged<EventDescriptor>.fromOpaque(context).takeUnretainedValue().clear()
}
