import GantryCore
import GantryPlatform
import GantryTransport

/// Finds the producer of a session: first on USB, then at every address where it may be, at once. Keeps the first connection
/// on which TLS has proved its key; nothing is said on the others.
///
/// `run` belongs to the session's thread; connections report from their I/O threads.
final class SessionDialer: @unchecked Sendable {  // What varies is guarded by `state`.
    /// How long it may take until a producer has proved who it is.
    private static let limit = MediaDuration.seconds(10)
    private static let limitOfOne = MediaDuration.seconds(8)

    private unowned let session: StudioSession
    private let target: ProducerTarget
    /// Wakes the dialling: decided, or cancelled.
    private let ending: EventDescriptor
    private let state = Condition()
    private var candidates: [ObjectIdentifier: StudioConnection] = [:]
    private var winner: StudioConnection?
    /// There has been a winner, or it is too late for one.
    private var isDecided = false
    private var isCancelled = false
    private var failure: GantryError?
    /// The addresses that were tried, for people.
    private var tried: [String] = []

    init(_ session: StudioSession) throws(GantryError) {
        self.session = session
        target = session.target
        ending = try EventDescriptor()
    }

    /// Blocks until a producer has proved its key. Nil when cancelled.
    ///
    /// - Throws: why there is none.
    func run() throws(GantryError) -> StudioConnection? {
        if try tryCable() || target.usbSerial != nil { return try decide(until: MonotonicClock.now()) }
        let start = MonotonicClock.now()
        let race = try DialRace()
        let search = try ProducerSearch(
            target, lastAddress: session.lastAddress, race: race,
            unavailable: { [session] in session.report(.discoveryUnavailable($0)) })
        race.run(until: start + Self.limit, limit: Self.limitOfOne, cancel: ending) { endpoint, outcome in
            switch outcome {
            case .connected(let link): connected(link, at: endpoint.description)
            case .failed(let error): failed(error, at: endpoint.description)
            }
            return true
        } everySecond: { now in
            if now >= start + ProducerSearch.patience { race.complete() }
        }
        search.stop()
        return try decide(until: start + Self.limit)
    }

    /// True when the producer has proved its key on a USB cable, or the session was cancelled.
    private func tryCable() throws(GantryError) -> Bool {
        for device in try USBCandidates.of(target) {
            if state.withLock({ isCancelled || winner != nil }) { break }
            do throws(GantryError) {
                connected(try USBHost.open(device, openLimit: USBCandidates.openLimit), at: device.description)
            } catch {
                if target.usbSerial == nil { Log.warning("\(error)") } else { failed(error, at: device.description) }
            }
            settle(until: MonotonicClock.now() + USBCandidates.proofLimit)
        }
        return state.withLock { isCancelled || winner != nil }
    }

    /// Waits until one of the connections that stand has proved its key, or all have ended.
    private func settle(until deadline: MediaTimestamp) {
        state.withLock {
            while winner == nil, !isCancelled, !candidates.isEmpty {
                if !state.wait(until: deadline) { break }
            }
        }
    }

    private func decide(until deadline: MediaTimestamp) throws(GantryError) -> StudioConnection? {
        settle(until: deadline)
        let (winner, isCancelled, others, failure) = state.withLock {
            // Connections hold the dialler: it lets go of them. Who comes later comes too late.
            defer {
                isDecided = true
                candidates = [:]
                self.winner = nil
            }
            return (self.winner, self.isCancelled, candidates.values.filter { $0 !== self.winner }, self.failure)
        }
        for other in others { other.abort() }
        for other in others { other.join() }
        if let winner {
            // Cancelled between its claim and the moment when the session knew of it: nobody else closes it.
            if isCancelled { winner.close() }
            return winner
        }
        if isCancelled { return nil }
        throw notFound(failure)
    }

    private func notFound(_ failure: GantryError?) -> GantryError {
        let tried = state.withLock { self.tried }
        guard let failure else {
            if target.usbSerial != nil {
                return GantryError(
                    .timeout, "\(target.name) does not prove who it is. Unplug the cable, and plug it in again.")
            }
            return GantryError(
                .cannotConnect,
                "\(target.name) was not found on this network. Start it there (gantry-producer run), see who is here with "
                    + "`gantry-studio list`, or give its address, as in HOST:\(Endpoint.defaultPort).")
        }
        // What one address has said, or a peer that answered, says more than a list.
        let isSilence = failure.code == .cannotConnect || failure.code == .timeout
        guard tried.count > 1, isSilence else { return failure }
        return GantryError(
            failure.code,
            "\(target.name) cannot be reached (tried \(tried.prefix(4).joined(separator: ", "))). Start it there "
                + "(gantry-producer run), or see who is here with `gantry-studio list`.",
            cause: failure.cause ?? failure.message)
    }

    // MARK: Any thread

    func cancel() {
        state.withLock {
            isCancelled = true
            state.broadcast()
        }
        ending.signal()
    }

    // MARK: The session's thread

    private func connected(_ link: any Link, at address: String) {
        do throws(GantryError) {
            let connection = try StudioConnection(session: session, link: link, dialer: self)
            let isWanted = state.withLock {
                if isDecided || isCancelled { return false }
                candidates[ObjectIdentifier(connection)] = connection
                return true
            }
            guard isWanted else { return }
            do throws(GantryError) {
                try connection.start()
            } catch {
                state.withLock { candidates[ObjectIdentifier(connection)] = nil }
                throw error
            }
        } catch {
            failed(error, at: address)
        }
    }

    private func failed(_ error: GantryError, at address: String) {
        state.withLock {
            tried.append(address)
            // A wrong key says more than an address where nobody is.
            if failure?.code != .wrongPeer && failure?.code != .notPaired { failure = error }
        }
    }

    // MARK: I/O threads of the connections

    /// The peer has proved its key. True for the first one: the session goes on there.
    func claim(_ connection: StudioConnection) -> Bool {
        let isFirst = state.withLock {
            guard !isDecided, !isCancelled else { return false }
            isDecided = true
            winner = connection
            state.broadcast()
            return true
        }
        if isFirst { ending.signal() }
        return isFirst
    }

    /// A connection ended before its peer was taken.
    func ended(_ connection: StudioConnection, _ error: GantryError?) {
        // Somebody else's cable says nothing about a producer that is looked for everywhere.
        let isGuess = target.usbSerial == nil && connection.isOnCable
        if let error, !isGuess { failed(error, at: connection.address) }
        state.withLock {
            candidates[ObjectIdentifier(connection)] = nil
            state.broadcast()
        }
    }
}
