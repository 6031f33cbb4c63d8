/// The studio's side of a session, on one connection. Pure: time is an argument.
///
/// Owned by the I/O thread of the connection, which performs the returned actions in their order. After `finish` every
/// event returns nothing. With TLS 1.3 a client's handshake succeeds before the server has looked at its certificate, so
/// the session counts as connected only at `established`.
package struct StudioSessionStateMachine: Sendable {
    private enum State {
        case starting
        case awaitingHello(deadline: MediaTimestamp)
        case awaitingAnswer(peer: Hello, deadline: MediaTimestamp)
        case running
    }

    private let hello: Hello
    private let fieldOfUse: FieldOfUse
    private var state = State.starting
    private var common: SessionCommon
    /// What both ends have; empty before the producer's HELLO.
    package private(set) var features: Capabilities = []
    /// The smaller minor version.
    package private(set) var minor: UInt16 = 0

    /// - Parameter fieldOfUse: what the producer's must match.
    package init(hello: Hello, fieldOfUse: FieldOfUse = FieldOfUse(), now: MediaTimestamp) {
        self.hello = hello
        self.fieldOfUse = fieldOfUse
        common = SessionCommon(role: .studio, now: now)
    }

    package var isFinished: Bool { common.isFinished }

    /// When `timeAdvanced` is due; nil after the end and before `connected`.
    package var nextDeadline: MediaTimestamp? {
        guard !isFinished else { return nil }
        return switch state {
        case .starting: nil
        case .awaitingHello(let deadline), .awaitingAnswer(_, let deadline): deadline
        case .running: common.nextDeadline
        }
    }

    // MARK: From the peer

    package mutating func received(_ message: ControlMessage, now: MediaTimestamp) -> [SessionAction] {
        guard !isFinished else { return [] }
        if let failure = common.check(message, now: now) { return failure }
        if case .bye(let bye) = message { return common.said(bye) }
        switch (state, message) {
        case (.awaitingHello, .reject(let reject)), (.awaitingAnswer, .reject(let reject)):
            return common.finish([.close], SessionEnd(reject))
        case (.awaitingHello, .hello(let peer)): return greeted(peer, now: now)
        case (.awaitingAnswer(let peer, _), .accept(let accept)):
            state = .running
            common.began(now: now)
            return [.established(accept, peer: peer)] + common.timeAdvanced(now: now)
        case (.running, _): return receivedRunning(message, now: now)
        default: return common.failed(.outOfOrder(message.type))
        }
    }

    private mutating func greeted(_ peer: Hello, now: MediaTimestamp) -> [SessionAction] {
        if let side = common.olderSide(own: hello, peer: peer) {
            return common.end(.normal, text: "version", error: .versionMismatch(update: side, own: .studio))
        }
        guard fieldOfUse.matches(peer.fieldOfUse) else {
            return common.end(.normal, text: "field of use", error: .otherField(peer.fieldOfUse, wanted: fieldOfUse))
        }
        minor = min(hello.minor, peer.minor)
        features = hello.capabilities.intersection(peer.capabilities)
        state = .awaitingAnswer(peer: peer, deadline: now + SessionLimits.answer)
        return []
    }

    private mutating func receivedRunning(_ message: ControlMessage, now: MediaTimestamp) -> [SessionAction] {
        if let actions = common.received(message, now: now) { return actions }
        switch message {
        case .format(let format): return [.format(format)]
        case .rate(let rate): return [.rate(rate)]
        case .videoState(let state): return [.videoState(state)]
        case .streams(let streams): return [.streams(streams)]
        default: return common.failed(.outOfOrder(message.type))
        }
    }

    /// Any bytes came: the peer lives.
    package mutating func bytesReceived(now: MediaTimestamp) { common.heard(now: now) }

    /// A datagram that only the peer can have sent came beside the connection: it lives, though the connection may stand still.
    package mutating func datagramReceived(at time: MediaTimestamp) { common.heardDatagram(at: time) }

    // MARK: From the owner

    /// TLS is up. The first event.
    package mutating func connected(now: MediaTimestamp) -> [SessionAction] {
        guard !isFinished, case .starting = state else { return [] }
        state = .awaitingHello(deadline: now + SessionLimits.hello)
        return [.send(.hello(hello))]
    }

    package mutating func startRequested(_ start: Start) -> [SessionAction] { messageOffered(.start(start)) }

    /// A decoder or a recording needs a key frame. Requests are merged.
    package mutating func keyFrameNeeded(_ request: Keyframe, now: MediaTimestamp) -> [SessionAction] {
        guard !isFinished, case .running = state, let request = common.keyFrame(request, now: now) else { return [] }
        return [.send(.keyframe(request))]
    }

    /// PREFER, FEEDBACK, STATS, PAUSE, RESUME, ERROR, DATA: sent while running, else dropped.
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
        case .starting: return []
        case .awaitingHello(let deadline):
            guard now >= deadline else { return [] }
            return common.end(.timeout, error: GantryError(.timeout, "The producer did not answer. Try again."))
        case .awaitingAnswer(_, let deadline):
            guard now >= deadline else { return [] }
            return common.end(
                .timeout, error: GantryError(.timeout, "Nobody let this studio in at the producer. Try again."))
        case .running:
            return common.timeAdvanced(now: now).map { action in
                if case .keyFrame(let request) = action { .send(.keyframe(request)) } else { action }
            }
        }
    }

    /// The connection, the decoder or a message's content failed.
    package mutating func failed(_ error: GantryError) -> [SessionAction] { isFinished ? [] : common.failed(error) }

    /// The peer closed without BYE.
    package mutating func transportClosed() -> [SessionAction] { isFinished ? [] : common.transportClosed() }
}
