package import GantryCore
package import GantryPlatform
import Glibc

/// The byte stream of one session on a USB cable: a `Link` straight on a pair of bulk endpoints.
///
/// It has no thread and no queue of its own. What `write` takes is in a transfer when it returns, and what has come is
/// copied once, from the transfer's buffer into the reader's. A socket pair and a thread in between cost four more
/// copies of each byte and two more wake-ups, half of the rate.
///
/// ```
///  carrier's thread <-> this <-> endpoints (4 reads are posted, up to 4 writes of 16 KiB)
/// ```
///
/// It begins when the other end's preface has come: `open` or `hasBegun` before the first `read`. One thread reads,
/// writes and polls; `close`, `abort` and `announceEnd` may come from any.
package final class BulkLink: Link, @unchecked Sendable {
    // `lock` guards all that changes, and the pipe. It is held while transfers are taken back and the other end is told of
    // the end: whoever comes meanwhile has to wait for that anyway.

    private enum ReadSlot {
        case posted
        /// Not yet taken by the reader.
        case filled(Range<Int>)
    }

    /// How long `close` waits for what was written to leave.
    private static let lingerLimit = MediaDuration.milliseconds(250)

    package let peerAddress: String
    private let pipe: any BulkPipe
    private let lock = Lock()
    /// Until the other end's preface has come.
    private var scanner: PrefaceScanner?
    private var reads = [ReadSlot](repeating: .posted, count: USBProtocol.transfersInFlight)
    /// The read whose bytes are next: reads complete and are posted again in a ring.
    private var nextRead = 0
    private var nextWrite = 0
    private var writesPosted = 0
    private var sent: UInt64 = 0
    private var received: UInt64 = 0
    /// The other end writes no more than so many bytes.
    private var announced: UInt64?
    private var isFinishing = false
    private var isFinishSent = false
    private var isClosed = false
    private var failure: GantryError?

    /// Posts the reads and writes our preface.
    ///
    /// - Parameters:
    ///   - ownPreface: what we send first.
    ///   - peerPreface: what we wait for.
    ///   - discardLimit: bytes that may come before it.
    package init(
        pipe: any BulkPipe, peerAddress: String, ownPreface: LinkPreface, peerPreface: LinkPreface,
        discardLimit: Int = PrefaceScanner.defaultLimit
    ) throws(GantryError) {
        self.pipe = pipe
        self.peerAddress = peerAddress
        scanner = PrefaceScanner(peerPreface, limit: discardLimit)
        do throws(GantryError) {
            for slot in reads.indices { try pipe.postRead(slot) }
            pipe.writeBuffer(0).copyBytes(from: ownPreface.bytes)
            // 25 bytes are no multiple of any packet size.
            try pipe.postWrite(0, count: ownPreface.bytes.count)
        } catch {
            pipe.close()
            throw error
        }
        nextWrite = 1
        writesPosted = 1
    }

    deinit { if !isClosed, failure == nil { pipe.close() } }

    /// Readable when `read` has something, when `write` has room again, and at the end.
    package var pollDescriptor: CInt { pipe.pollDescriptor }
    package var roomEvents: CInt { POLLIN }

    // MARK: The beginning

    /// Whether the other end's preface has come. Called when `pollDescriptor` is readable, until it is so.
    ///
    /// - Throws: `peerLost`, `usbTransfer`: not Gantry's.
    package func hasBegun() throws(GantryError) -> Bool {
        try lock.withLock { () throws(GantryError) in
            advance()
            if let failure { throw failure }
            guard !isClosed else { throw Self.aborted }
            // What came behind the preface is told of.
            if scanner == nil, hasMore { pipe.wake() }
            return scanner == nil
        }
    }

    /// Waits until it has begun.
    ///
    /// - Throws: as `hasBegun`, and `timeout`.
    package func open(limit: MediaDuration) throws(GantryError) {
        let end = MonotonicClock.now() + limit
        while try !hasBegun() {
            let left = (end - MonotonicClock.now()).microseconds
            guard left > 0 else {
                abort(Self.late)
                throw Self.late
            }
            var waiting = pollfd(fd: pollDescriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&waiting, 1, CInt(clamping: (left + 999) / 1000))
        }
    }

    package static var late: GantryError {
        GantryError(
            .timeout, "The other end of the USB cable did not begin in time. Unplug the cable, plug it in again.")
    }

    private static var aborted: GantryError { GantryError(.peerLost, "The USB session ended before it had begun.") }

    // MARK: The stream

    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemError) -> FileDescriptor.Transfer {
        try lock.withLock { () throws(SystemError) in
            guard !isClosed else { return .endOfFile }
            advance()
            let count = take(into: buffer)
            if hasMore { pipe.wake() }
            if count > 0 { return .bytes(count) }
            if let announced, received >= announced { return .endOfFile }
            if failure != nil { throw SystemError(errno: ENODEV, during: "USB") }
            return .wouldBlock
        }
    }

    package func write(_ buffer: UnsafeRawBufferPointer) throws(SystemError) -> FileDescriptor.Transfer {
        try lock.withLock { () throws(SystemError) in
            // Reads that complete with it are kept for `read`.
            if writesPosted == USBProtocol.transfersInFlight { advance() }
            if hasMore { pipe.wake() }
            guard !isClosed, !isFinishing else { throw SystemError(errno: EPIPE, during: "USB") }
            let count = send(buffer)
            if failure != nil { throw SystemError(errno: ENODEV, during: "USB") }
            return count > 0 || buffer.isEmpty ? .bytes(count) : .wouldBlock
        }
    }

    /// The host tells the device, once all has left: in a later `read`, or in `close`. There is no way in the other
    /// direction.
    package func finishWriting() {
        lock.withLock {
            isFinishing = true
            advance()
            if hasMore { pipe.wake() }
        }
    }

    /// The other end writes no more than `total` bytes: when these have come, the reader sees the end of the stream.
    package func announceEnd(total: UInt64) {
        lock.withLock {
            announced = total
            pipe.wake()
        }
    }

    /// Waits a moment for what was written to leave, where the other end takes it.
    package func close() {
        let end = MonotonicClock.now() + Self.lingerLimit
        while true {
            let isDone = lock.withLock { () -> Bool in
                isFinishing = true
                advance()
                return isFinishSent || isClosed || failure != nil
            }
            let left = (end - MonotonicClock.now()).microseconds
            if isDone || left <= 0 { break }
            var waiting = pollfd(fd: pollDescriptor, events: Int16(POLLIN), revents: 0)
            _ = poll(&waiting, 1, CInt(clamping: (left + 999) / 1000))
        }
        lock.withLock {
            guard !isClosed else { return }
            isClosed = true
            if failure == nil { pipe.close() }
            pipe.wake()
        }
    }

    /// Ends it at once. The reader sees a lost connection.
    package func abort(_ reason: GantryError) { lock.withLock { fail(reason) } }
}

// MARK: - Under the lock

extension BulkLink {
    /// Something is there that `pollDescriptor` does not tell of by itself any more.
    private var hasMore: Bool {
        if failure != nil || isClosed { return true }
        if let announced, scanner == nil, received >= announced { return true }
        if case .filled = reads[nextRead] { return true }
        return false
    }

    private func fail(_ error: GantryError) {
        guard failure == nil, !isClosed else { return }
        failure = error
        pipe.close()
        pipe.wake()
        Log.info("The USB session has ended. \(error)")
    }

    /// Takes what is complete, and looks for the preface in it.
    private func advance() {
        guard failure == nil, !isClosed else { return }
        do throws(GantryError) {
            try collect()
            while scanner != nil, case .filled(let range) = reads[nextRead] { try scan(range) }
            if isFinishing, !isFinishSent, writesPosted == 0 {
                isFinishSent = true
                pipe.finish(sent: sent)
                try collect()
            }
        } catch {
            fail(error)
        }
    }

    private func collect() throws(GantryError) {
        try pipe.collect { completion in
            switch completion {
            case .read(let slot, let count):
                guard reads.indices.contains(slot) else { return }
                reads[slot] = .filled(0..<min(max(count, 0), USBProtocol.transferSize))
            case .write: writesPosted = max(0, writesPosted - 1)
            }
        }
    }

    private func scan(_ range: Range<Int>) throws(GantryError) {
        let piece = UnsafeRawBufferPointer(rebasing: pipe.readBuffer(nextRead)[range])
        switch scanner?.consume(piece) {
        case .found(let end):
            if let discarded = scanner?.discarded, discarded > 0 {
                Log.debug("USB: \(discarded) bytes of an earlier session were thrown away")
            }
            scanner = nil
            try keep(range.lowerBound + end..<range.upperBound)
        case .needsMore: try keep(range.upperBound..<range.upperBound)
        case .tooMuch, nil:
            throw GantryError(
                .usbTransfer,
                "What comes over the USB cable is not Gantry's. Unplug the cable, plug it in again.")
        }
    }

    /// What is left of the next read; with nothing left its buffer is posted again.
    private func keep(_ rest: Range<Int>) throws(GantryError) {
        guard rest.isEmpty else {
            reads[nextRead] = .filled(rest)
            return
        }
        reads[nextRead] = .posted
        let slot = nextRead
        nextRead = (nextRead + 1) % reads.count
        if failure == nil { try pipe.postRead(slot) }
    }

    /// Copies what has come, in order. After a failure what came before it is still there.
    private func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        var count = 0
        while scanner == nil, count < buffer.count, case .filled(let range) = reads[nextRead] {
            let piece = range.prefix(buffer.count - count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: pipe.readBuffer(nextRead)[piece]))
            count += piece.count
            do throws(GantryError) { try keep(piece.upperBound..<range.upperBound) } catch { fail(error) }
        }
        received &+= UInt64(count)
        return count
    }

    /// Puts bytes into free slots. Of a piece that needs two writes (`BulkRules`) and finds one slot, the last byte stays
    /// with the caller: nothing waits here.
    private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        while failure == nil, writesPosted < USBProtocol.transfersInFlight, count < bytes.count {
            let now = pipe.rules.writable(bytes.count - count)
            pipe.writeBuffer(nextWrite).copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[count..<count + now]))
            do throws(GantryError) { try pipe.postWrite(nextWrite, count: now) } catch {
                fail(error)
                break
            }
            nextWrite = (nextWrite + 1) % USBProtocol.transfersInFlight
            writesPosted += 1
            count += now
        }
        sent &+= UInt64(count)
        return count
    }
}
