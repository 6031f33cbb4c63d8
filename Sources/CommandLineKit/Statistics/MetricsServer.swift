package import GantryCore
import GantryPlatform
import Glibc

/// Answers `GET /metrics` with what Prometheus reads. One thread, "metrics"; anybody who can reach the address may ask.
///
/// Whoever asks slowly, too much or not at all is let go: a head has 4 KiB at most, all of it takes 5 seconds at most, and
/// of 8 clients at once the one that came first goes when another comes.
package final class MetricsServer: @unchecked Sendable {  // `thread` is set once in `start`; the rest: the thread.
    private static let mostClients = 8
    private static let patience = MediaDuration.seconds(5)

    private struct Client {
        let socket: FileDescriptor
        let deadline: MediaTimestamp
        var request: [UInt8] = []
        /// Nil: it has not asked yet.
        var answer: [UInt8]?
        /// Bytes of the answer.
        var sent = 0
    }

    /// Where it listens.
    package let endpoint: Endpoint
    private let listener: FileDescriptor
    private let wake: EventDescriptor
    private let metrics: @Sendable () -> String
    private var clients: [Client] = []
    private var thread: NamedThread?

    /// - Parameters:
    ///   - endpoint: an address (no name but localhost), and a port; 0: any.
    ///   - metrics: on the server's thread.
    /// - Throws: `portInUse`, or `invalidArgument` for what is no address of this machine.
    package init(_ endpoint: Endpoint, metrics: @escaping @Sendable () -> String) throws(GantryError) {
        self.metrics = metrics
        wake = try EventDescriptor()
        do throws(SystemError) {
            (listener, self.endpoint) = try MetricsSocket.listen(endpoint)
        } catch {
            guard error.errno == EADDRINUSE else {
                throw GantryError(
                    .invalidArgument,
                    "--metrics cannot listen at \(endpoint). It takes an address of this machine, as in 127.0.0.1:9750.",
                    cause: error.description)
            }
            // Not the one after it: that is the other tool's.
            let other = Endpoint(host: endpoint.host, port: endpoint.port < .max - 1 ? endpoint.port + 2 : 9752)
            throw GantryError(
                .portInUse, "Another program listens at \(endpoint). Choose another port: --metrics=\(other)")
        }
    }

    package func start() throws(GantryError) {
        thread = try NamedThread("metrics") { [self] in run() }
    }

    /// Lets all clients go. Blocks until the thread has ended.
    package func stop() {
        wake.signal()
        thread?.join()
    }

    // MARK: The thread

    private func run() {
        while true {
            var waiting = [
                pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: listener.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            for client in clients {
                let events = client.answer == nil ? POLLIN : POLLOUT
                waiting.append(pollfd(fd: client.socket.rawValue, events: Int16(events), revents: 0))
            }
            let next = clients.map(\.deadline).min()
            let limit = next.map { max(0, ($0 - MonotonicClock.now()).microseconds) / 1000 + 1 }
            _ = poll(&waiting, nfds_t(waiting.count), limit.map { CInt(clamping: $0) } ?? -1)
            if waiting[0].revents != 0 { return clients.removeAll() }
            let now = MonotonicClock.now()
            var left: [Client] = []
            for (client, place) in zip(clients, waiting.dropFirst(2)) where client.deadline > now {
                var client = client
                if place.revents == 0 || serve(&client) { left.append(client) }
            }
            clients = left
            if waiting[1].revents != 0 { admit() }
        }
    }

    private func admit() {
        guard let socket = MetricsSocket.accept(listener) else {
            // Out of descriptors, or whatever else: do not spin on it.
            if errno != EAGAIN && errno != EINTR && errno != ECONNABORTED {
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
            }
            return
        }
        if clients.count >= Self.mostClients { clients.removeFirst() }
        clients.append(Client(socket: socket, deadline: MonotonicClock.now() + Self.patience))
    }

    /// False when nothing is left to do for it.
    private func serve(_ client: inout Client) -> Bool {
        do throws(SystemError) {
            if client.answer == nil {
                guard try receive(&client) else { return false }
            }
            return try send(&client)
        } catch {
            return false
        }
    }

    private func receive(_ client: inout Client) throws(SystemError) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1024)
        let transfer = try buffer.withUnsafeMutableBufferPointer { bytes throws(SystemError) in
            try client.socket.read(into: UnsafeMutableRawBufferPointer(bytes))
        }
        switch transfer {
        case .wouldBlock: return true
        case .endOfFile: return false
        case .bytes(let count): client.request += buffer.prefix(count)
        }
        switch HTTPRequest.read(client.request) {
        case .incomplete: break
        case .refused(let status): client.answer = HTTPResponse(status).bytes
        case .request(let request): client.answer = HTTPResponse.answer(request, metrics: metrics).bytes
        }
        return true
    }

    private func send(_ client: inout Client) throws(SystemError) -> Bool {
        guard let answer = client.answer else { return true }
        let transfer = try answer.withUnsafeBufferPointer { bytes throws(SystemError) in
            try client.socket.write(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[client.sent...])))
        }
        guard case .bytes(let count) = transfer else { return transfer == .wouldBlock }
        client.sent += count
        guard client.sent == answer.count else { return true }
        shutdown(client.socket.rawValue, CInt(SHUT_WR))
        return false
    }
}
