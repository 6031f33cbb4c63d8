package import GantryCore
import GantryPlatform
import Glibc

/// A client of the control socket. One thread calls; `post` and `close` may come from any other.
package final class ControlClient: @unchecked Sendable {
    // `lock` guards nextID; `sending` is held while a line is written; `buffer` belongs to the thread that calls.
    private let socket: FileDescriptor
    private let role: ControlRole
    private let lock = Lock()
    private let sending = Lock()
    private var nextID: Int64 = 0
    private var buffer: [UInt8] = []

    private init(_ socket: FileDescriptor, _ role: ControlRole) {
        self.socket = socket
        self.role = role
    }

    /// Nil when nothing runs there.
    ///
    /// - Throws: `controlSocket` for a folder or socket that is not ours.
    package static func connect(to address: ControlAddress) throws(GantryError) -> ControlClient? {
        for place in address.places {
            guard let folder = try ControlFolder(place, creating: false) else { continue }
            do throws(SystemError) {
                guard let socket = try ControlSocket.connect(to: address.name, in: folder) else { continue }
                guard ControlSocket.isTrusted(socket) else {
                    throw SystemError(errno: EPERM, during: "look who listens")
                }
                return ControlClient(socket, address.role)
            } catch {
                throw ControlFolder.error(
                    "The control socket \(folder.path)/\(address.name) cannot be used. Restart the \(address.role.noun).",
                    error.errno, error.operation)
            }
        }
        return nil
    }

    /// Asks, and waits for the answer.
    ///
    /// - Parameters:
    ///   - limit: how long the answer may take.
    ///   - event: called for each event of this call, in order, with the whole message.
    /// - Throws: what the other end answered; `peerLost`, `timeout`.
    package func call(
        _ method: String, _ parameters: JSONValue = [:], limit: MediaDuration = ControlClient.patience,
        event: (_ name: String, _ message: JSONValue) -> Void = { _, _ in }
    ) throws(GantryError) -> JSONValue {
        let deadline = MonotonicClock.now() + limit
        let id = post(method, parameters)
        while true {
            let message = try JSONValue(reading: try line(until: deadline))
            // An error without an id is about the connection.
            guard message["id"] == .integer(id) || (message["id"] == .null && message["error"] != nil) else { continue }
            if let name = message["event"]?.string {
                event(name, message)
            } else if let error = message["error"] {
                throw self.error(error)
            } else {
                return message["result"] ?? .null
            }
        }
    }

    package static let patience = ControlLimits.patience

    /// Asks without waiting for the answer. Any thread. What cannot be sent shows in the next `call`.
    @discardableResult
    package func post(_ method: String, _ parameters: JSONValue = [:]) -> Int64 {
        let id = lock.withLock {
            nextID &+= 1
            return nextID
        }
        let request = JSONValue.object([
            .init("id", .integer(id)), .init("method", .string(method)), .init("params", parameters),
        ])
        sending.withLock {
            _ = ControlSocket.send(
                Array((request.text + "\n").utf8), to: socket, until: MonotonicClock.now() + ControlLimits.answerTime)
        }
        return id
    }

    /// Any thread: a call that waits ends with `peerLost`.
    package func close() { shutdown(socket.rawValue, CInt(SHUT_RDWR)) }

    private func line(until deadline: MediaTimestamp) throws(GantryError) -> [UInt8] {
        var searched = 0
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(buffer[..<end])
                buffer.removeFirst(end + 1)
                return line
            }
            searched = buffer.count
            guard searched <= ControlLimits.answer else {
                throw GantryError(
                    .protocolError, "The running \(role.noun) answers too much. Use the same version of both.")
            }
            guard ControlSocket.wait(socket, for: CInt(POLLIN), until: deadline) else {
                throw GantryError(
                    .timeout, "The running \(role.noun) does not answer. End it and start it again: \(role.command)")
            }
            var piece = [UInt8](repeating: 0, count: 65536)
            let got = recv(socket.rawValue, &piece, piece.count, 0)
            if got > 0 {
                buffer += piece[..<got]
            } else if got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
                throw GantryError(.peerLost, "The running \(role.noun) has ended before it answered. Try again.")
            }
        }
    }

    private func error(_ value: JSONValue) -> GantryError {
        let code = value["code"]?.integer.flatMap { Int(exactly: $0) } ?? GantryError.Code.general.rawValue
        return GantryError(
            GantryError.Code(rawValue: code), value["message"]?.string ?? "The running \(role.noun) refused.",
            cause: value["cause"]?.string)
    }
}
