import GantryCore
import GantryPlatform
import Glibc

/// One client of the control socket, with a thread of its own that reads its requests and performs them.
final class ControlConnection: @unchecked Sendable {
    // `lock` guards isClosed, openCalls and lastRequest; `sending` is held while a line is written; `buffer` and `count`
    // belong to the thread.
    let id: UInt64
    private let socket: FileDescriptor
    private let handler: any ControlHandler
    private let lock = Lock()
    private let sending = Lock()
    private var isClosed = false
    private var openCalls = 0
    private var lastRequest = MonotonicClock.now()
    private var thread: NamedThread?

    private var buffer = [UInt8](repeating: 0, count: ControlLimits.request + 1)
    private var count = 0

    init(id: UInt64, socket: FileDescriptor, handler: any ControlHandler) {
        self.id = id
        self.socket = socket
        self.handler = handler
    }

    /// - Parameter ended: called at the end of the thread, which lives until then.
    func start(ended: @escaping @Sendable () -> Void) throws(GantryError) {
        let thread = try NamedThread("control-client") { [self] in
            run()
            ended()
        }
        lock.withLock { self.thread = thread }
    }

    /// Any thread: at once.
    func close() {
        lock.withLock { isClosed = true }
        shutdown(socket.rawValue, CInt(SHUT_RDWR))
    }

    func join() { lock.withLock { thread }?.join() }

    var isOpen: Bool { lock.withLock { !isClosed } }

    /// When the last request came; nil while one is being performed.
    var idleSince: MediaTimestamp? { lock.withLock { openCalls > 0 ? nil : lastRequest } }

    /// Any thread. A client that does not read is closed.
    func send(_ message: JSONValue) {
        var line = Array((message.text + "\n").utf8)
        if line.count > ControlLimits.answer {
            let error = GantryError(.general, "The answer is too long for the control socket.")
            let id = message["id"] ?? .null
            line = Array(
                (JSONValue.object([.init("id", id), .init("error", ControlCall.json(error))]).text + "\n").utf8)
        }
        // Held while it waits: a second line must not get between the parts of the first.
        let isSent = sending.withLock {
            isOpen && ControlSocket.send(line, to: socket, until: MonotonicClock.now() + ControlLimits.answerTime)
        }
        if !isSent { close() }
    }

    func answered() { lock.withLock { openCalls -= 1 } }

    // MARK: The thread

    private func run() {
        while isOpen, readMore(), performLines() {}
        close()
        buffer.withUnsafeMutableBytes { if let base = $0.baseAddress { explicit_bzero(base, $0.count) } }
        handler.connectionEnded(id)
    }

    /// False at the end, or when the rest of a request does not come.
    private func readMore() -> Bool {
        let deadline = count == 0 ? nil : lock.withLock { lastRequest } + ControlLimits.requestTime
        guard ControlSocket.wait(socket, for: CInt(POLLIN), until: deadline) else { return false }
        if count == 0 { lock.withLock { lastRequest = MonotonicClock.now() } }
        let start = count
        let got = buffer.withUnsafeMutableBytes { bytes in
            recv(socket.rawValue, bytes.baseAddress.map { $0 + start }, bytes.count - start, 0)
        }
        if got < 0 { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR }
        count += got
        return got > 0
    }

    /// False when the client broke the rules.
    private func performLines() -> Bool {
        while let end = buffer[..<count].firstIndex(of: UInt8(ascii: "\n")) {
            perform(buffer[..<end])
            let rest = count - end - 1
            for index in 0..<rest { buffer[index] = buffer[end + 1 + index] }
            // A pairing code may have been in it.
            for index in rest..<count { buffer[index] = 0 }
            count = rest
            lock.withLock { lastRequest = MonotonicClock.now() }
            if !isOpen { return false }
        }
        guard count <= ControlLimits.request else {
            refuse(GantryError(.invalidArgument, "A request has \(ControlLimits.request) bytes at most."))
            return false
        }
        return true
    }

    private func perform(_ line: ArraySlice<UInt8>) {
        let request: JSONValue
        do throws(GantryError) {
            request = try JSONValue(reading: line)
        } catch {
            return refuse(error)
        }
        let id = request["id"] ?? .null
        guard let method = request["method"]?.string, Self.isIdentifier(id) else {
            return refuse(
                GantryError(
                    .invalidArgument, "A request is an object with a number or text as \"id\", and a \"method\"."))
        }
        let parameters = request["params"] ?? [:]
        let call = ControlCall(method: method, parameters: parameters, id: id, line: self)
        let isTaken = lock.withLock {
            openCalls += 1
            return openCalls <= ControlLimits.openCalls
        }
        guard isTaken else {
            return call.finish(.failure(GantryError(.busy, "Too many requests wait. Read their answers first.")))
        }
        guard parameters.members != nil else {
            return call.finish(.failure(GantryError(.invalidArgument, "\"params\" is not an object.")))
        }
        do throws(GantryError) {
            if let result = try handler.perform(call) { call.finish(.success(result)) }
        } catch {
            call.finish(.failure(error))
        }
    }

    private static func isIdentifier(_ id: JSONValue) -> Bool {
        switch id {
        case .null, .integer: true
        case .string(let text): text.utf8.count <= 64
        default: false
        }
    }

    private func refuse(_ error: GantryError) {
        send(.object([.init("id", .null), .init("error", ControlCall.json(error))]))
    }
}
