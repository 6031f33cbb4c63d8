package import GantryCore
import GantryPlatform
import Glibc

/// Moves bytes between a socket and a pair of bulk endpoints, on a thread of its own, for one session.
///
/// It sends its preface, throws away what comes before the other end's, and then tells `onOpen`. The session ends when
/// the socket's other end is closed, the pipe fails, or `stop` is called; `onEnd` is the last call. All callbacks come on
/// the pump's thread and return soon.
///
/// ```
///  carrier <-> socket pair <-> pump <-> endpoints (4 reads and 4 writes of 16 KiB are posted)
/// ```
package final class BulkPump: @unchecked Sendable {
    // `lock` guards `isStopped` and `announced`; the rest belongs to the pump's thread once that runs.
    package struct Configuration: Sendable {
        package var threadName: String
        /// What we send first, and what we wait for.
        package var ownPreface: LinkPreface
        package var peerPreface: LinkPreface
        /// How long the other end's preface may take.
        package var openLimit = MediaDuration.seconds(3)
        /// Bytes that may come before it.
        package var discardLimit = PrefaceScanner.defaultLimit

        package init(threadName: String, ownPreface: LinkPreface, peerPreface: LinkPreface) {
            self.threadName = threadName
            self.ownPreface = ownPreface
            self.peerPreface = peerPreface
        }
    }

    /// How long what waits may take to leave after the socket's end.
    private static let lingerLimit = MediaDuration.seconds(1)

    private enum ReadSlot {
        case posted
        /// Not yet taken by the socket.
        case filled(Range<Int>)
    }

    private let pipe: any BulkPipe
    private let socket: SocketLink
    private let configuration: Configuration
    private let onOpen: @Sendable () -> Void
    private let onEnd: @Sendable (GantryError?) -> Void
    private let wake: EventDescriptor
    private let lock = Lock()
    private var isStopped = false
    private var announced: UInt64?
    private var thread: NamedThread?

    // The pump's thread only.
    private var scanner: PrefaceScanner?
    private var reads = [ReadSlot](repeating: .posted, count: USBProtocol.transfersInFlight)
    /// The read whose bytes are next: reads complete and are posted again in a ring.
    private var nextRead = 0
    private var nextWrite = 0
    private var writesPosted = 0
    /// The byte that was kept back by `BulkRules`.
    private var carry: UInt8?
    private var socketMayHave = false
    private var socketHasRoom = true
    private var socketHasEnded = false
    /// The socket's other end takes nothing any more.
    private var receiverHasGone = false
    /// Both directions are closed: what was written before can still be read.
    private var socketIsClosed = false
    private var isFinishSent = false
    private var isFinishPassed = false
    private var sent: UInt64 = 0
    private var received: UInt64 = 0
    private var lingerEnd: MediaTimestamp?

    /// - Parameter socket: our end of a socket pair.
    package init(
        pipe: any BulkPipe, socket: SocketLink, configuration: Configuration, onOpen: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable (GantryError?) -> Void
    ) throws(GantryError) {
        self.pipe = pipe
        self.socket = socket
        self.configuration = configuration
        self.onOpen = onOpen
        self.onEnd = onEnd
        scanner = PrefaceScanner(configuration.peerPreface, limit: configuration.discardLimit)
        wake = try EventDescriptor()
    }

    /// Starts the thread, which keeps this object until the session's end.
    package func start() throws(GantryError) {
        thread = try NamedThread(configuration.threadName) { [self] in run() }
    }

    /// Ends the session at once. Any thread.
    package func stop() {
        lock.withLock { isStopped = true }
        wake.signal()
    }

    /// Waits for the session's end; not from a callback.
    package func join() { thread?.join() }

    /// The other end writes no more than `total` bytes: when these have come, the socket sees the end of the stream.
    package func announceEnd(total: UInt64) {
        lock.withLock { announced = total }
        wake.signal()
    }

    private func run() {
        var failure: GantryError?
        do throws(GantryError) { try exchange() } catch { failure = error }
        pipe.close()
        socket.close()
        onEnd(failure)
    }

    private func exchange() throws(GantryError) {
        let openEnd = MonotonicClock.now() + configuration.openLimit
        for slot in reads.indices { try pipe.postRead(slot) }
        try writePreface()
        while true {
            let (isStopped, announced) = lock.withLock { (self.isStopped, self.announced) }
            if isStopped { return }
            try passReads()
            if let announced, !isFinishPassed, scanner == nil, received >= announced {
                isFinishPassed = true
                socket.finishWriting()
            }
            try fillWrites()
            if try finishIfDone() { continue }
            if hasEnded() { return }
            var deadline = lingerEnd
            if scanner != nil {
                guard MonotonicClock.now() < openEnd else {
                    throw GantryError(
                        .timeout,
                        "The other end of the USB cable did not begin in time. Unplug the cable, plug it in again.")
                }
                deadline = openEnd
            }
            try wait(until: deadline)
        }
    }
}

// MARK: - From the endpoint to the socket

extension BulkPump {
    /// Passes on what has come, in order, as far as the socket has room.
    private func passReads() throws(GantryError) {
        while case .filled(var range) = reads[nextRead] {
            if scanner != nil { range = try scan(range) }
            while !range.isEmpty, !receiverHasGone {
                guard socketHasRoom else {
                    reads[nextRead] = .filled(range)
                    return
                }
                range = write(range)
            }
            reads[nextRead] = .posted
            try pipe.postRead(nextRead)
            nextRead = (nextRead + 1) % reads.count
        }
    }

    /// What is left of the bytes behind the preface.
    private func scan(_ range: Range<Int>) throws(GantryError) -> Range<Int> {
        let piece = UnsafeRawBufferPointer(rebasing: pipe.readBuffer(nextRead)[range])
        switch scanner?.consume(piece) {
        case .found(let end):
            if let discarded = scanner?.discarded, discarded > 0 {
                Log.debug("USB: \(discarded) bytes of an earlier session were thrown away")
            }
            scanner = nil
            onOpen()
            return range.lowerBound + end..<range.upperBound
        case .needsMore: return range.upperBound..<range.upperBound
        case .tooMuch, nil:
            throw GantryError(
                .usbTransfer,
                "What comes over the USB cable is not Gantry's. Unplug the cable, plug it in again.")
        }
    }

    /// What the socket did not take.
    private func write(_ range: Range<Int>) -> Range<Int> {
        switch try? socket.write(UnsafeRawBufferPointer(rebasing: pipe.readBuffer(nextRead)[range])) {
        case .bytes(let count):
            received &+= UInt64(count)
            return range.lowerBound + count..<range.upperBound
        case .wouldBlock: socketHasRoom = false
        case .endOfFile, nil: receiverHasGone = true
        }
        return range
    }
}

// MARK: - From the socket to the endpoint

extension BulkPump {
    private func writePreface() throws(GantryError) {
        let buffer = pipe.writeBuffer(nextWrite)
        buffer.copyBytes(from: configuration.ownPreface.bytes)
        // 25 bytes are no multiple of any packet size.
        try post(configuration.ownPreface.bytes.count)
    }

    private func post(_ count: Int) throws(GantryError) {
        try pipe.postWrite(nextWrite, count: count)
        nextWrite = (nextWrite + 1) % USBProtocol.transfersInFlight
        writesPosted += 1
    }

    /// Writes what waits in the socket, while there are free slots.
    private func fillWrites() throws(GantryError) {
        while writesPosted < USBProtocol.transfersInFlight, socketMayHave || carry != nil {
            let buffer = pipe.writeBuffer(nextWrite)
            var count = 0
            if let byte = carry {
                buffer[0] = byte
                count = 1
            }
            if socketMayHave { count += read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...])) }
            guard count > 0 else { return }
            let now = pipe.rules.writable(count)
            carry = now < count ? buffer[now] : nil
            try post(now)
            sent &+= UInt64(now)
        }
    }

    private func read(into room: UnsafeMutableRawBufferPointer) -> Int {
        switch try? socket.read(into: room) {
        case .bytes(let count):
            // A piece that does not fill the buffer was the last for now.
            if count < room.count { socketMayHave = socketIsClosed }
            return count
        case .wouldBlock: socketMayHave = false
        case .endOfFile, nil:
            socketMayHave = false
            socketHasEnded = true
        }
        return 0
    }
}

// MARK: - Waiting and ending

extension BulkPump {
    /// Tells the other end that no more comes, once, when all has left. True: that may have brought completions.
    private func finishIfDone() throws(GantryError) -> Bool {
        guard socketHasEnded, !isFinishSent, writesPosted == 0, carry == nil else { return false }
        isFinishSent = true
        pipe.finish(sent: sent)
        try collect()
        return true
    }

    private func hasEnded() -> Bool {
        guard socketHasEnded else { return false }
        if isFinishSent, receiverHasGone { return true }
        let now = MonotonicClock.now()
        let end = lingerEnd ?? now + Self.lingerLimit
        lingerEnd = end
        return now >= end
    }

    private func wait(until deadline: MediaTimestamp?) throws(GantryError) {
        let isFull: Bool
        if case .filled = reads[nextRead] { isFull = true } else { isFull = false }
        var events: CInt = 0
        if writesPosted < USBProtocol.transfersInFlight, !socketHasEnded { events |= POLLIN }
        if isFull { events |= POLLOUT }
        // A closed socket is always ready and would wake us for nothing: -1 leaves it out.
        let socketDescriptor = socketIsClosed ? -1 : socket.pollDescriptor
        var set = (
            pollfd(fd: pipe.pollDescriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socketDescriptor, events: Int16(events), revents: 0),
            pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0)
        )
        var timeout: CInt = -1
        if let deadline {
            let left = (deadline - MonotonicClock.now()).microseconds
            timeout = left <= 0 ? 0 : CInt(clamping: (left + 999) / 1000)
        }
        withUnsafeMutablePointer(to: &set) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 3) { _ = Glibc.poll($0, 3, timeout) }
        }
        if set.2.revents != 0 { wake.clear() }
        note(socket: CInt(set.1.revents))
        if set.0.revents != 0 { try collect() }
    }

    private func note(socket events: CInt) {
        if events & POLLIN != 0 { socketMayHave = true }
        if events & POLLOUT != 0 { socketHasRoom = true }
        guard events & (POLLHUP | POLLERR | POLLNVAL) != 0 else { return }
        receiverHasGone = true
        socketIsClosed = true
        if !socketHasEnded { socketMayHave = true }
    }

    private func collect() throws(GantryError) {
        try pipe.collect { completion in
            switch completion {
            case .read(let slot, let count):
                guard reads.indices.contains(slot) else { return }
                reads[slot] = .filled(0..<min(max(count, 0), USBProtocol.transferSize))
            case .write: writesPosted -= 1
            }
        }
    }
}
