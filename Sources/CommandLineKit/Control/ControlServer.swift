package import GantryCore
import GantryPlatform
import Glibc

/// The control socket of a running tool: JSON lines for clients of the same user, see `docs/control-socket.md`.
///
/// A thread "control" accepts, and each client has its own, so that none of them can hold up another or the tool.
package final class ControlServer: @unchecked Sendable {  // `lock` guards connections, nextID and isStopping.
    private let handler: any ControlHandler
    private let folder: ControlFolder
    private let name: String
    private let socket: FileDescriptor
    /// Device and inode of our socket file: at the end another one may be in its place.
    private let file: (dev_t, ino_t)
    private let wake: EventDescriptor
    private let lock = Lock()
    private var connections: [UInt64: ControlConnection] = [:]
    private var nextID: UInt64 = 0
    private var isStopping = false
    private var thread: NamedThread?

    /// The socket's path.
    package var path: String { folder.path + "/" + name }

    /// Makes the socket, in place of one that a dead process has left.
    ///
    /// - Throws: `busy` when another process answers there; `controlSocket` for a folder or file that is not ours, with
    ///   what mends it.
    package init(_ address: ControlAddress, handler: any ControlHandler) throws(GantryError) {
        guard let place = address.places.first, let folder = try ControlFolder(place, creating: true) else {
            throw GantryError(.controlSocket, "There is no folder for the control socket \(address.path).")
        }
        self.handler = handler
        self.folder = folder
        let name = address.name
        self.name = name
        wake = try EventDescriptor()
        (socket, file) = try folder.withExclusiveAccess { () throws(GantryError) in
            try Self.bind(name, in: folder, address.role)
        }
    }

    private static func bind(
        _ name: String, in folder: ControlFolder, _ role: ControlRole
    ) throws(GantryError) -> (FileDescriptor, (dev_t, ino_t)) {
        let path = folder.path + "/" + name
        do throws(SystemError) {
            if let former = folder.status(of: name) {
                guard former.st_mode & S_IFMT == S_IFSOCK, former.st_uid == geteuid() else {
                    throw SystemError(errno: EEXIST, during: "bind")
                }
                if try ControlSocket.connect(to: name, in: folder) != nil {
                    throw SystemError(errno: EADDRINUSE, during: "bind")
                }
                folder.remove(name)
            }
            let socket = try ControlSocket.make()
            try ControlSocket.bind(socket, to: name, in: folder)
            // The folder is closed to others already; this is for those who look.
            try syscall("chmod") { fchmodat(folder.descriptor.rawValue, name, 0o600, 0) }
            try syscall("listen") { listen(socket.rawValue, 16) }
            let made = folder.status(of: name)
            return (socket, (made?.st_dev ?? 0, made?.st_ino ?? 0))
        } catch {
            switch error.errno {
            // EAGAIN: its queue of newcomers is full.
            case EADDRINUSE, EAGAIN:
                throw GantryError(.busy, "Another \(role.noun) of this installation answers at \(path).")
            case EEXIST:
                throw GantryError(
                    .controlSocket,
                    "\(path) is no socket of ours. Move it away: mv \(SecureFile.quoted(path)) "
                        + "\(SecureFile.quoted(path)).old")
            default:
                throw ControlFolder.error("The control socket \(path) cannot be made.", error.errno, error.operation)
            }
        }
    }

    package func start() throws(GantryError) {
        thread = try NamedThread("control") { [self] in run() }
    }

    /// Ends all clients and threads, and removes the socket, if it still is ours. Blocks until then. Again: nothing.
    package func stop() {
        let isFirst = lock.withLock {
            defer { isStopping = true }
            return !isStopping
        }
        guard isFirst else { return }
        wake.signal()
        thread?.join()
        // Under the lock of the folder: nobody puts another one there between the look and the removal.
        _ = try? folder.withExclusiveAccess { () throws(GantryError) in
            if let now = folder.status(of: name), (now.st_dev, now.st_ino) == file { folder.remove(name) }
        }
        shutdown(socket.rawValue, CInt(SHUT_RDWR))
        let open = lock.withLock { Array(connections.values) }
        for connection in open { connection.close() }
        for connection in open { connection.join() }
    }

    // MARK: The thread

    private func run() {
        while true {
            var waiting = [
                pollfd(fd: socket.rawValue, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0),
            ]
            _ = poll(&waiting, nfds_t(waiting.count), -1)
            if lock.withLock({ isStopping }) { return }
            guard waiting[0].revents != 0 else { continue }
            let accepted = accept(socket.rawValue, nil, nil)
            guard accepted >= 0 else {
                // Out of descriptors, or whatever else: do not spin on it.
                if errno != EAGAIN && errno != EINTR && errno != ECONNABORTED {
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(50))
                }
                continue
            }
            admit(FileDescriptor(takingOwnership: accepted))
        }
    }

    private func admit(_ client: FileDescriptor) {
        _ = fcntl(client.rawValue, F_SETFD, FD_CLOEXEC)
        _ = fcntl(client.rawValue, F_SETFL, O_NONBLOCK)
        guard ControlSocket.isTrusted(client) else {
            return Log.warning("another user tried to use the control socket and was refused")
        }
        guard makeRoom() else {
            let error = GantryError(.busy, "Too many programs use the control socket. Close one of them.")
            let line = JSONValue.object([.init("id", .null), .init("error", ControlCall.json(error))]).text + "\n"
            _ = ControlSocket.send(Array(line.utf8), to: client, until: MonotonicClock.now())
            return
        }
        let connection = lock.withLock {
            nextID &+= 1
            let connection = ControlConnection(id: nextID, socket: client, handler: handler)
            connections[nextID] = connection
            return connection
        }
        let id = connection.id
        do throws(GantryError) {
            try connection.start { [weak self] in self?.ended(id) }
        } catch {
            ended(id)
        }
    }

    /// Lets the client go that has asked for nothing for the longest time. False when all of them wait for answers, or
    /// have not gone yet.
    private func makeRoom() -> Bool {
        let (number, idle) = lock.withLock {
            let open = connections.values.filter(\.isOpen)
            guard open.count >= ControlLimits.connections else { return (connections.count, nil as ControlConnection?) }
            let quiet = open.compactMap { line in line.idleSince.map { (line, $0) } }
            return (connections.count, quiet.min { $0.1 < $1.1 }?.0)
        }
        if let idle {
            idle.close()
            return number < 2 * ControlLimits.connections
        }
        return number < ControlLimits.connections
    }

    private func ended(_ id: UInt64) { lock.withLock { connections[id] = nil } }
}
