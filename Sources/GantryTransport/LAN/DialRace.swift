package import GantryCore
package import GantryPlatform
import Glibc

/// Opens TCP connections to many addresses at once; more may be added while it runs. Whoever owns it decides which
/// connection is the right one: an address proves nothing.
package final class DialRace: @unchecked Sendable {  // `waiting`, `known` and `isComplete` are guarded by `lock`.
    /// Connections that may be in the making at one time; the others wait for their turn.
    package static let maximumAttempts = 64
    /// How long an address that does not answer may keep others waiting: a second packet after the first (RFC 6298
    /// section 2.1) and its answer. Without this, whoever advertises addresses where nobody is would hold all places.
    static let turn = MediaDuration.milliseconds(1500)
    /// Addresses that are remembered; more are not tried.
    package static let maximumAddresses = 512

    private struct Attempt {
        let endpoint: Endpoint
        let socket: FileDescriptor
        let address: SocketAddress
        let began: MediaTimestamp
        let deadline: MediaTimestamp
    }

    private let lock = Lock()
    private let wake: EventDescriptor
    private var waiting: [Endpoint] = []
    private var known: Set<Endpoint> = []
    private var isComplete = false

    /// Only on the thread of `run`.
    private var attempts: [Attempt] = []

    /// - Throws: `general` when there are no more descriptors.
    package init() throws(GantryError) { wake = try EventDescriptor() }

    // MARK: Any thread

    /// Addresses to try: numbers, or host names. One that was added before is tried only once.
    package func add(_ endpoints: [Endpoint]) {
        lock.withLock {
            for endpoint in endpoints where known.count < Self.maximumAddresses && known.insert(endpoint).inserted {
                waiting.append(endpoint)
            }
        }
        wake.signal()
    }

    /// Tries an address once more, when it is added again.
    package func forget(_ endpoint: Endpoint) { lock.withLock { _ = known.remove(endpoint) } }

    /// No more addresses come: `run` ends when all have been tried.
    package func complete() {
        lock.withLock { isComplete = true }
        wake.signal()
    }

    // MARK: The owner's thread

    /// What became of an address.
    package enum Outcome {
        case connected(SocketLink)
        case failed(GantryError)
    }

    /// Blocks until `deadline`, until `cancel` is signalled, until all addresses have been tried after `complete`, or
    /// until `outcome` returns false.
    ///
    /// - Parameters:
    ///   - limit: how long one address may take; 1.5 s where others have to wait for it.
    ///   - outcome: called on this thread, once for each address.
    ///   - everySecond: called on this thread too, for what the owner does by the clock.
    package func run(
        until deadline: MediaTimestamp, limit: MediaDuration, cancel: EventDescriptor,
        outcome: (Endpoint, Outcome) -> Bool, everySecond: (MediaTimestamp) -> Void = { _ in }
    ) {
        defer { attempts = [] }
        while true {
            let now = MonotonicClock.now()
            guard now < deadline, begin(now: now, limit: limit, outcome) else { return }
            let isOver = lock.withLock { isComplete && waiting.isEmpty } && attempts.isEmpty
            if isOver { return }
            everySecond(now)
            let next = min(nextExpiry ?? deadline, min(deadline, now + .seconds(1)))
            let ready = wait(until: next, cancel: cancel)
            if ready.isCancelled { return }
            // In the order in which they began.
            let done = ready.attempts.map { attempts[$0] }
            for index in ready.attempts.reversed() { attempts.remove(at: index) }
            for attempt in done {
                guard outcome(attempt.endpoint, finish(attempt)) else { return }
            }
            guard expire(now: MonotonicClock.now(), outcome) else { return }
        }
    }

    /// Starts what waits. False when the owner has enough.
    private func begin(now: MediaTimestamp, limit: MediaDuration, _ outcome: (Endpoint, Outcome) -> Bool) -> Bool {
        while attempts.count < Self.maximumAttempts {
            guard let endpoint = lock.withLock({ waiting.isEmpty ? nil : waiting.removeFirst() }) else { return true }
            guard begin(endpoint, now, limit, outcome) else { return false }
        }
        return true
    }

    private func begin(
        _ endpoint: Endpoint, _ now: MediaTimestamp, _ limit: MediaDuration, _ outcome: (Endpoint, Outcome) -> Bool
    ) -> Bool {
        let addresses: [SocketAddress]
        do throws(GantryError) {
            addresses = try TCPDialer.resolve(endpoint)
        } catch {
            return outcome(endpoint, .failed(error))
        }
        for address in addresses {
            do throws(GantryError) {
                let socket = try TCPDialer.begin(address, of: endpoint)
                attempts.append(
                    Attempt(endpoint: endpoint, socket: socket, address: address, began: now, deadline: now + limit))
            } catch {
                guard outcome(endpoint, .failed(error)) else { return false }
            }
        }
        return true
    }

    private func wait(until deadline: MediaTimestamp, cancel: EventDescriptor) -> (
        isCancelled: Bool, attempts: [Int]
    ) {
        var polled = attempts.map { pollfd(fd: $0.socket.rawValue, events: Int16(POLLOUT), revents: 0) }
        polled.append(pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0))
        polled.append(pollfd(fd: cancel.rawValue, events: Int16(POLLIN), revents: 0))
        let left = (deadline - MonotonicClock.now()).microseconds
        _ = polled.withUnsafeMutableBufferPointer {
            poll($0.baseAddress, nfds_t($0.count), CInt(clamping: max(0, left) / 1000 + 1))
        }
        wake.clear()
        return (polled.last?.revents != 0, attempts.indices.filter { polled[$0].revents != 0 })
    }

    private func finish(_ attempt: Attempt) -> Outcome {
        do throws(GantryError) {
            return .connected(try TCPDialer.finish(attempt.socket, attempt.address, of: attempt.endpoint))
        } catch {
            return .failed(error)
        }
    }

    /// With others waiting, when the oldest attempt has had its turn; else when one is too late.
    private var nextExpiry: MediaTimestamp? {
        let othersWait = lock.withLock { !waiting.isEmpty }
        return attempts.map { othersWait ? min($0.deadline, $0.began + Self.turn) : $0.deadline }.min()
    }

    private func expire(now: MediaTimestamp, _ outcome: (Endpoint, Outcome) -> Bool) -> Bool {
        var wanted = lock.withLock { waiting.count }
        var index = 0
        // In the order in which they began.
        while index < attempts.count {
            let givesWay = wanted > 0 && now >= attempts[index].began + Self.turn
            guard givesWay || now >= attempts[index].deadline else {
                index += 1
                continue
            }
            wanted -= 1
            let attempt = attempts.remove(at: index)
            guard outcome(attempt.endpoint, .failed(TCPDialer.noAnswer(attempt.endpoint))) else { return false }
        }
        return true
    }
}
