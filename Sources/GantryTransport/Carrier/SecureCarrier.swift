package import GantryCore
package import GantryPlatform
package import GantryTrust
import Glibc

/// One TLS 1.3 connection over a `Link` that carries `gantry` frames, with an I/O thread of its own.
///
/// Sending is possible from any thread and never blocks: messages go into a bounded queue by priority, the I/O thread
/// encrypts them one fragment at a time when the link has room. Receiving happens on the I/O thread.
package final class SecureCarrier: @unchecked Sendable {
    // `lock` guards queue, ending, isOverrun, isBlocked and path; the rest belongs to the I/O thread.
    package struct Configuration {
        package var role: TLSEngine.Role
        package var alpn: String
        /// Label for the TLS exporter (RFC 8446 section 7.5) that `CarrierPeer.exporter` is made with, or nil.
        package var exporterLabel: String?
        /// How long the handshake may take.
        package var handshakeLimit: MediaDuration
        /// What may be received first; see `permitAllMessages`.
        package var phase: FrameDecoder.Phase
        package var threadName: String

        package init(
            role: TLSEngine.Role, alpn: String, exporterLabel: String? = nil,
            handshakeLimit: MediaDuration = .seconds(5), phase: FrameDecoder.Phase, threadName: String
        ) {
            self.role = role
            self.alpn = alpn
            self.exporterLabel = exporterLabel
            self.handshakeLimit = handshakeLimit
            self.phase = phase
            self.threadName = threadName
        }
    }

    /// Packets of one channel that may wait to be sent.
    package static let audioQueueCapacity = 64
    package static let videoQueueCapacity = 32

    private enum Ending {
        case none
        /// Send what waits, then close.
        case afterSending
        case now
    }

    private let link: any Link
    private let configuration: Configuration
    private let engine: TLSEngine
    private let wake: EventDescriptor
    private let lock = Lock()
    private var queue = OutgoingQueue()
    private var ending = Ending.none
    /// Even control messages have no room any more: the peer takes nothing.
    private var isOverrun = false
    private var isBlocked = false
    private var path = PathBudget()
    private var thread: NamedThread?

    // I/O thread only.
    private var decoder: FrameDecoder
    private let incoming: UnsafeMutableRawBufferPointer
    private let plain: UnsafeMutableRawBufferPointer
    private let outgoing: UnsafeMutableRawBufferPointer
    private var outgoingStart = 0
    private var outgoingEnd = 0
    private var isEstablished = false
    /// Video waits until less of it is under way (`PathBudget`).
    private var isHeldBack = false
    /// The decoder changes its phase between two pieces of plain text, never while it hands one out.
    private var isPermitted = false
    /// The peer broke the protocol: what still comes is thrown away.
    private var isBroken = false

    /// - Throws: `tls`, `general` when there are no more descriptors.
    package init(
        link: any Link, identity: Identity, configuration: Configuration,
        verifier: @escaping @Sendable (KeyID) -> TrustDecision
    ) throws(GantryError) {
        self.link = link
        self.configuration = configuration
        decoder = FrameDecoder(phase: configuration.phase)
        wake = try EventDescriptor()
        engine = try TLSEngine(
            role: configuration.role, identity: identity, alpn: configuration.alpn, verifier: verifier)
        // After everything that throws: there is no deinit then.
        incoming = .allocate(byteCount: 64 * 1024, alignment: 16)
        plain = .allocate(byteCount: 16 * 1024, alignment: 16)
        outgoing = .allocate(byteCount: 32 * 1024, alignment: 16)
    }

    deinit {
        incoming.deallocate()
        plain.deallocate()
        outgoing.deallocate()
    }

    /// Starts the I/O thread, which holds `handler` until `carrierClosed`.
    package func start(handler: any CarrierHandler) throws(GantryError) {
        thread = try NamedThread(configuration.threadName, urgency: .network) { [self] in run(handler) }
    }

    /// Waits for the end of the I/O thread. Not on that thread.
    package func join() { thread?.join() }

    /// The other end for people.
    package var peerAddress: String { link.peerAddress }

    /// Where datagrams can go to the other end; nil where there is no such way.
    package var datagramPath: DatagramPath? { link.datagramPath }

    /// How TCP does; nil on another link.
    package var lossSample: RandomLossWatch.Sample? { link.lossSample }
}

// MARK: - Sending, from any thread

extension SecureCarrier {
    /// False when the connection is ending, or its queue is full.
    @discardableResult
    package func send(_ message: ControlMessage, channel: UInt16 = 0) -> Bool {
        push(
            .bytes(message.encode()), type: message.type, flags: [], channel: channel,
            class: message.type == .data ? .data : .control)
    }

    /// As `send` of that message, without taking memory.
    @discardableResult
    package func send(_ feedback: Feedback) -> Bool {
        push(.feedback(feedback), type: .feedback, flags: [], channel: 0, class: .control)
    }

    /// Sends a video or audio packet, which must not be written to any more. False when there is no room: the packet
    /// is not sent, and for video a key frame must follow.
    @discardableResult
    package func send(_ packet: MediaPacket, channel: UInt16) -> Bool {
        let isVideo = packet.codec.isVideo
        return push(
            .packet(packet), type: isVideo ? .video : .audio, flags: packet.header.isKey && isVideo ? .key : [],
            channel: channel, class: isVideo ? .video : .audio)
    }

    private func push(
        _ content: OutgoingQueue.Content, type: MessageType, flags: FrameFlags, channel: UInt16,
        class trafficClass: SendScheduler.TrafficClass
    ) -> Bool {
        let (isPushed, isOverrun) = lock.withLock { () -> (Bool, Bool) in
            guard ending == .none else { return (false, false) }
            if queue.push(content, type: type, flags: flags, channel: channel, class: trafficClass) {
                return (true, false)
            }
            guard trafficClass == .control else { return (false, false) }
            self.isOverrun = true
            ending = .now
            return (false, true)
        }
        if isPushed || isOverrun { wake.signal() }
        return isPushed
    }

    /// Video that waits here, and what the link has taken of all and not delivered: what the frame gate looks at.
    package var videoBacklog: VideoBacklog {
        var backlog = lock.withLock {
            var backlog = queue.videoBacklog
            backlog.isBlocked = isBlocked
            return backlog
        }
        backlog.unconfirmed = link.unconfirmedBytes
        return backlog
    }

    /// Bytes that are under way at the rate of now although there is no queue (`LinkAdaptation.bytesUnderWay`).
    package func setBytesUnderWay(_ count: Int) { lock.withLock { path.bytesUnderWay = count } }

    /// What the system knows of the link.
    package func measure() -> LinkMeasure? { link.measure() }

    /// Lets go of the media packets that wait; one that is half sent is completed.
    ///
    /// - Parameter channels: a mask, bit n is channel n.
    package func discardWaitingMedia(of channels: UInt16 = .max) {
        lock.withLock { queue.removeWaitingMedia(of: channels) }
    }

    /// Closes the connection, at once or when all that was sent before has left.
    package func close(afterSending: Bool = true) {
        lock.withLock { if ending != .now { ending = afterSending ? .afterSending : .now } }
        wake.signal()
    }

    /// Lets `carrierDeadline` be called soon. Any thread.
    package func wakeUp() { wake.signal() }

    /// From encoded until the last byte of a picture was handed to TLS and the link, over the last whole second.
    package func queueTimes(now: MediaTimestamp) -> PercentileWindow.Percentiles {
        lock.withLock { queue.lastSecond(now: now) }
    }

    /// The peer has been accepted: from now on all messages are let in, not only HELLO and BYE.
    ///
    /// On the I/O thread, from a handler.
    package func permitAllMessages() { isPermitted = true }
}

// MARK: - The I/O thread

extension SecureCarrier {
    /// How long a closing connection may take to send what waits.
    private static let lingerLimit = MediaDuration.seconds(1)
    /// Milliseconds after which video that is held back is looked at again.
    private static let heldBackPause: CInt = 2
    /// How long the other end may take to close its direction after ours.
    private static let drainLimit = MediaDuration.milliseconds(250)

    private func run(_ handler: any CarrierHandler) {
        var failure: GantryError?
        do throws(GantryError) {
            try exchange(handler)
        } catch {
            failure = error
        }
        lock.withLock {
            ending = .now
            queue.removeAll()
        }
        engine.close()
        flushLastBytes()
        drainUntilClosed()
        link.close()
        handler.carrierClosed(failure)
    }

    /// Returns when the connection has ended in order.
    private func exchange(_ handler: any CarrierHandler) throws(GantryError) {
        let handshakeEnd = MonotonicClock.now() + configuration.handshakeLimit
        var lingerEnd: MediaTimestamp?
        try advance(handler)
        while true {
            let wantsRoom = try pump(handler)
            let state = lock.withLock { (ending, queue.isEmpty, isOverrun) }
            let now = MonotonicClock.now()
            switch state.0 {
            case .none: break
            case .now:
                guard state.2 else { return }
                throw GantryError(.peerLost, "\(link.peerAddress) takes nothing any more. Check the network.")
            case .afterSending:
                let end = lingerEnd ?? now + Self.lingerLimit
                lingerEnd = end
                if (state.1 && !wantsRoom) || now >= end || !isEstablished { return }
            }
            var deadline = lingerEnd
            if isEstablished {
                deadline = MediaTimestamp.earlier(deadline, handler.carrierDeadline(now: now))
            } else {
                guard now < handshakeEnd else {
                    throw GantryError(.timeout, "The other end did not complete the TLS handshake in time.")
                }
                deadline = handshakeEnd
            }
            // What the handler sent just now must not wait for the next event.
            if isEstablished, !wantsRoom, lock.withLock({ !queue.isEmpty }) { continue }
            if try wait(wantsRoom: wantsRoom, until: deadline), try !receive(handler) { return }
        }
    }

    /// True when the link has something to read.
    private func wait(wantsRoom: Bool, until deadline: MediaTimestamp?) throws(GantryError) -> Bool {
        var link = pollfd(fd: link.pollDescriptor, events: Int16(POLLIN), revents: 0)
        if wantsRoom, !isHeldBack { link.events |= Int16(self.link.roomEvents) }
        let woken = pollfd(fd: wake.rawValue, events: Int16(POLLIN), revents: 0)
        var timeout: CInt = -1
        if let deadline {
            let left = (deadline - MonotonicClock.now()).microseconds
            timeout = left <= 0 ? 0 : CInt(clamping: (left + 999) / 1000)
        }
        if isHeldBack, timeout < 0 || timeout > Self.heldBackPause { timeout = Self.heldBackPause }
        var set = (link, woken)
        withUnsafeMutablePointer(to: &set) { pointer in
            pointer.withMemoryRebound(to: pollfd.self, capacity: 2) { _ = Glibc.poll($0, 2, timeout) }
        }
        if set.1.revents != 0 { wake.clear() }
        return set.0.revents & ~Int16(POLLOUT) != 0
    }

    /// False at the end of the stream.
    private func receive(_ handler: any CarrierHandler) throws(GantryError) -> Bool {
        let transfer: FileDescriptor.Transfer
        do throws(SystemError) {
            transfer = try link.read(into: incoming)
        } catch {
            throw lost(error)
        }
        switch transfer {
        case .wouldBlock: return true
        case .endOfFile:
            throw GantryError(
                .peerLost,
                "The other end closed the connection without a goodbye. Look whether it still runs, and try again.")
        case .bytes(let count):
            try engine.receive(UnsafeRawBufferPointer(rebasing: incoming[..<count]))
            return try advance(handler)
        }
    }

    /// Takes the handshake on, then reads all plain text there is. False when the peer has closed in order.
    @discardableResult
    private func advance(_ handler: any CarrierHandler) throws(GantryError) -> Bool {
        if !isEstablished {
            guard try engine.advanceHandshake() else { return true }
            guard let keyID = engine.peerKeyID, let publicKeyInfo = engine.peerPublicKeyInfo else {
                throw GantryError(.tls, "The other end showed no key.")
            }
            var exporter: [UInt8] = []
            if let label = configuration.exporterLabel {
                exporter = try engine.exportKeyingMaterial(label: label, count: 32)
            }
            isEstablished = true
            handler.carrierEstablished(
                CarrierPeer(
                    keyID: keyID, publicKeyInfo: publicKeyInfo, address: link.peerAddress, exporter: exporter))
        }
        while true {
            switch try engine.readPlaintext(into: plain) {
            case .needsInput: return true
            case .closedByPeer: return false
            case .bytes(let count):
                if !isBroken { deliver(count, to: handler) }
            }
        }
    }

    /// Hands `count` bytes of plain text to the decoder, and its pieces to the handler.
    private func deliver(_ count: Int, to handler: any CarrierHandler) {
        do throws(GantryError) {
            if isPermitted { decoder.phase = .session }
            try decoder.consume(UnsafeRawBufferPointer(rebasing: plain[..<count])) { chunk throws(GantryError) in
                try handler.carrierReceived(chunk)
            }
        } catch {
            isBroken = true
            handler.carrierBroken(error)
            close()
        }
    }

    /// Sends until nothing waits or the link has no room. True: there is more, wait for room.
    private func pump(_ handler: any CarrierHandler) throws(GantryError) -> Bool {
        isHeldBack = false
        while true {
            if outgoingStart == outgoingEnd {
                outgoingStart = 0
                outgoingEnd = engine.drainCiphertext(into: outgoing)
                if outgoingEnd == 0 {
                    guard isEstablished else { return false }
                    let unconfirmed = link.unconfirmedBytes
                    let count = lock.withLock {
                        let video = path.video(unconfirmed: unconfirmed, isWaiting: queue.videoBacklog.count > 0)
                        return queue.nextFragment(into: plain, video: video)
                    }
                    if count == 0 {
                        // Nothing tells when the other end has confirmed: look again soon.
                        isHeldBack = lock.withLock { !queue.isEmpty }
                        note(blocked: isHeldBack)
                        return isHeldBack
                    }
                    try engine.writePlaintext(UnsafeRawBufferPointer(rebasing: plain[..<count]))
                    continue
                }
            }
            let transfer: FileDescriptor.Transfer
            do throws(SystemError) {
                transfer = try link.write(UnsafeRawBufferPointer(rebasing: outgoing[outgoingStart..<outgoingEnd]))
            } catch {
                try writingFailed(error, handler)
                close(afterSending: false)
                return false
            }
            switch transfer {
            case .bytes(let count):
                outgoingStart += count
                note(blocked: false)
            case .wouldBlock, .endOfFile:
                note(blocked: true)
                return true
            }
        }
    }

    /// Written on this thread only, so it may look without the lock.
    private func note(blocked: Bool) {
        if isBlocked != blocked { lock.withLock { isBlocked = blocked } }
    }

    /// The alert or close_notify that TLS still has to say. Waits a moment for room: without it the other end would take
    /// an end in order for a loss.
    private func flushLastBytes() {
        let end = MonotonicClock.now() + Self.drainLimit
        while MonotonicClock.now() < end {
            if outgoingStart == outgoingEnd {
                outgoingStart = 0
                outgoingEnd = engine.drainCiphertext(into: outgoing)
                if outgoingEnd == 0 { return }
            }
            switch try? link.write(UnsafeRawBufferPointer(rebasing: outgoing[outgoingStart..<outgoingEnd])) {
            case .bytes(let count): outgoingStart += count
            case .wouldBlock:
                // What comes still is of no use to anybody (`Link.roomEvents`).
                if poll(link.roomEvents, until: end), link.roomEvents != POLLOUT { _ = try? link.read(into: incoming) }
            case .endOfFile, nil: return
            }
        }
    }

    /// Waits for one event of the link; false at `end`.
    private func poll(_ event: CInt, until end: MediaTimestamp) -> Bool {
        var waiting = pollfd(fd: link.pollDescriptor, events: Int16(event), revents: 0)
        let left = (end - MonotonicClock.now()).microseconds / 1000 + 1
        return Glibc.poll(&waiting, 1, CInt(clamping: left)) > 0
    }

    /// Reads the other end's last words away. Closing a TCP socket with unread bytes sends a reset, and a reset can
    /// destroy the alert or BYE that says why we close before the other end has read it.
    private func drainUntilClosed() {
        link.finishWriting()
        let end = MonotonicClock.now() + Self.drainLimit
        while MonotonicClock.now() < end {
            guard poll(POLLIN, until: end) else { return }
            guard case .bytes? = try? link.read(into: incoming) else { return }
        }
    }

    /// The link takes no more: the reason may lie unread in front of us, an alert or a BYE.
    private func writingFailed(_ error: SystemError, _ handler: any CarrierHandler) throws(GantryError) {
        while case .bytes(let count)? = try? link.read(into: incoming) {
            try engine.receive(UnsafeRawBufferPointer(rebasing: incoming[..<count]))
            if try !advance(handler) { return }
        }
        throw lost(error)
    }

    private func lost(_ error: SystemError) -> GantryError {
        GantryError(.peerLost, "The connection to \(link.peerAddress) was lost.", cause: error.reason)
    }
}
