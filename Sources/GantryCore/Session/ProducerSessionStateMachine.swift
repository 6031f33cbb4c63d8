/// The producer's side of a session, on one connection. Pure: time is an argument.
///
/// Owned by the I/O thread of the connection, which performs the returned actions in their order. After `finish` every
/// event returns nothing.
package struct ProducerSessionStateMachine: Sendable {
    private enum State {
        case awaitingHello(deadline: MediaTimestamp)
        case deciding(deadline: MediaTimestamp)
        /// Channels are those of START; empty before it.
        case running(channels: [UInt16])
    }

    private let hello: Hello
    private var state: State
    private var common: SessionCommon
    /// The newest format of each channel, for START.
    private var formats: [UInt16: Format] = [:]
    /// What both ends have; empty before the studio's HELLO.
    package private(set) var features: Capabilities = []
    /// The smaller minor version.
    package private(set) var minor: UInt16 = 0

    package init(hello: Hello, now: MediaTimestamp) {
        self.hello = hello
        state = .awaitingHello(deadline: now + SessionLimits.hello)
        common = SessionCommon(role: .producer, now: now)
    }

    package var isFinished: Bool { common.isFinished }

    /// When `timeAdvanced` is due; nil after the end.
    package var nextDeadline: MediaTimestamp? {
        guard !isFinished else { return nil }
        return switch state {
        case .awaitingHello(let deadline), .deciding(let deadline): deadline
        case .running: common.nextDeadline
        }
    }

    // MARK: From the peer

    package mutating func received(_ message: ControlMessage, now: MediaTimestamp) -> [SessionAction] {
        guard !isFinished else { return [] }
        if let failure = common.check(message, now: now) { return failure }
        if case .bye(let bye) = message { return common.said(bye) }
        switch state {
        case .awaitingHello:
            guard case .hello(let peer) = message else { return common.failed(.outOfOrder(message.type)) }
            return greeted(peer, now: now)
        case .deciding: return common.failed(.outOfOrder(message.type))
        case .running: return receivedRunning(message, now: now)
        }
    }

    private mutating func greeted(_ peer: Hello, now: MediaTimestamp) -> [SessionAction] {
        minor = min(hello.minor, peer.minor)
        features = hello.capabilities.intersection(peer.capabilities)
        if let side = common.olderSide(own: hello, peer: peer) {
            return [.send(.hello(hello))] + mismatch(update: side)
        }
        state = .deciding(deadline: now + SessionLimits.decision)
        return [.send(.hello(hello)), .decide(peer)]
    }

    private mutating func receivedRunning(_ message: ControlMessage, now: MediaTimestamp) -> [SessionAction] {
        if let actions = common.received(message, now: now) { return actions }
        switch message {
        case .start(let start):
            state = .running(channels: start.channels)
            let known = start.channels.compactMap { formats[$0] }
            return [.start(start)] + known.map { .send(.format($0)) }
        case .keyframe(let request):
            return common.keyFrame(request, now: now).map { [.keyFrame($0)] } ?? []
        case .prefer(let prefer): return [.prefer(prefer)]
        case .feedback(let feedback): return [.feedback(feedback)]
        default: return common.failed(.outOfOrder(message.type))
        }
    }

    /// FEEDBACK came, read by a way that takes no memory (`Feedback.init(payload:)`). Nil: it is in order.
    package mutating func feedbackReceived(now: MediaTimestamp) -> [SessionAction]? {
        guard !isFinished else { return [] }
        if let failure = common.check(.feedback, now: now) { return failure }
        guard case .running = state else { return common.failed(.outOfOrder(.feedback)) }
        return nil
    }

    /// Any bytes came: the peer lives.
    package mutating func bytesReceived(now: MediaTimestamp) { common.heard(now: now) }

    /// A datagram that only the peer can have sent came beside the connection: it lives, though the connection may stand still.
    package mutating func datagramReceived(at time: MediaTimestamp) { common.heardDatagram(at: time) }

    // MARK: From the owner

    /// The answer to `decide`: let it in.
    package mutating func accepted(
        sessionID: UInt64, streams: [StreamDescription], now: MediaTimestamp
    ) -> [SessionAction] {
        guard !isFinished, case .deciding = state else { return [] }
        state = .running(channels: [])
        common.began(now: now)
        return [.authorise, .send(.accept(Accept(sessionID: sessionID, streams: streams)))]
            + common.timeAdvanced(now: now)
    }

    /// The answer to `decide`: do not.
    package mutating func rejected(
        reason: Reject.Reason, retryAfter: UInt32? = nil, text: String = ""
    ) -> [SessionAction] {
        guard !isFinished, case .deciding = state else { return [] }
        return common.finish(
            [.send(.reject(Reject(reason: reason, retryAfter: retryAfter, text: text))), .close],
            SessionEnd(reason: .normal, isFromPeer: false))
    }

    /// A channel has a format, or another one. Call before its first packet is sent.
    package mutating func formatChanged(_ format: Format) -> [SessionAction] {
        guard !isFinished, 1...WireLimits.highestChannel ~= format.channel else { return [] }
        formats[format.channel] = format
        guard case .running(let channels) = state, channels.contains(format.channel) else { return [] }
        return [.send(.format(format))]
    }

    /// RATE, STATS, VIDEO_STATE, STREAMS, PAUSE, RESUME, ERROR, DATA: sent while running, else dropped.
    package mutating func messageOffered(_ message: ControlMessage) -> [SessionAction] {
        guard !isFinished, case .running = state, common.mayOffer(message.type) else { return [] }
        return [.send(message)]
    }

    package mutating func closeRequested(reason: Bye.Reason, text: String = "") -> [SessionAction] {
        isFinished ? [] : common.end(reason, text: text, error: nil)
    }

    // MARK: From the connection

    /// Call it after what has arrived was read, else a stall of this thread looks like silence.
    package mutating func timeAdvanced(now: MediaTimestamp) -> [SessionAction] {
        guard !isFinished else { return [] }
        switch state {
        case .awaitingHello(let deadline):
            guard now >= deadline else { return [] }
            return common.end(.timeout, error: GantryError(.timeout, "A studio connected, but said nothing."))
        case .deciding(let deadline):
            return now >= deadline ? rejected(reason: .declined, text: "no decision in time") : []
        case .running: return common.timeAdvanced(now: now)
        }
    }

    /// The connection, the decoder or a message's content failed.
    package mutating func failed(_ error: GantryError) -> [SessionAction] {
        guard !isFinished else { return [] }
        // A HELLO with a critical field that we do not know: we are the older side.
        if case .awaitingHello = state, error.code == .versionMismatch { return mismatch(update: .producer) }
        return common.failed(error)
    }

    /// The peer closed without BYE.
    package mutating func transportClosed() -> [SessionAction] { isFinished ? [] : common.transportClosed() }

    private mutating func mismatch(update side: SessionRole) -> [SessionAction] {
        common.finish(
            [.send(.reject(Reject(reason: .versionMismatch, updateSide: side))), .close],
            SessionEnd(
                reason: .normal, isFromPeer: false, error: .versionMismatch(update: side, own: .producer)))
    }
}
