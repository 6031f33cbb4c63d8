/// What both ends of a session do alike: pings, silence, the limit of control messages, key-frame merging, goodbye.
struct SessionCommon: Sendable {
    let role: SessionRole
    private(set) var isFinished = false
    /// Over the connection, and by datagrams beside it.
    private var lastHeard: MediaTimestamp
    private var lastDatagram: MediaTimestamp?
    private var nextPing: MediaTimestamp
    private var pingCount = 0
    private var secondStart: MediaTimestamp
    private var messagesInSecond = 0
    private var creditCounted: UInt64 = 0
    private var keyFrames: [KeyFrameLimiter] = Array(
        repeating: KeyFrameLimiter(), count: WireLimits.maximumChannels + 1)

    init(role: SessionRole, now: MediaTimestamp) {
        self.role = role
        lastHeard = now
        nextPing = now
        secondStart = now
    }

    // MARK: Time

    /// While running: the next ping, key frame, or the end of patience.
    var nextDeadline: MediaTimestamp {
        var deadline = min(nextPing, silenceLimit)
        for limiter in keyFrames {
            if let due = limiter.deadline { deadline = min(deadline, due) }
        }
        return deadline
    }

    mutating func heard(now: MediaTimestamp) { lastHeard = max(lastHeard, now) }
    mutating func heardDatagram(at time: MediaTimestamp) { lastDatagram = max(lastDatagram ?? time, time) }

    /// When the other end counts as gone, if nothing more comes.
    private var silenceLimit: MediaTimestamp {
        let limit = max(lastHeard, lastDatagram ?? lastHeard) + SessionLimits.silence
        return min(limit, lastHeard + SessionLimits.connectionSilence)
    }

    /// Pings begin, silence counts from now on.
    mutating func began(now: MediaTimestamp) {
        lastHeard = now
        nextPing = now
    }

    /// `.keyFrame` actions are those that waited.
    mutating func timeAdvanced(now: MediaTimestamp) -> [SessionAction] {
        if now >= silenceLimit {
            let error = GantryError(
                .peerLost, "The other end is silent: the connection was lost. Check the network; it can be made again.")
            return end(.timeout, error: error)
        }
        var actions: [SessionAction] = []
        if now >= nextPing {
            // From now, not from the time it was due: after a stall there is one ping, not many.
            pingCount += 1
            let isEarly = pingCount < SessionLimits.firstPings
            nextPing = now + (isEarly ? SessionLimits.firstPingInterval : SessionLimits.pingInterval)
            actions.append(.send(.ping(Ping(sent: now))))
        }
        for index in keyFrames.indices {
            if let request = keyFrames[index].due(now: now) { actions.append(.keyFrame(request)) }
        }
        return actions
    }

    mutating func keyFrame(_ request: Keyframe, now: MediaTimestamp) -> Keyframe? {
        let index = Int(request.channel)
        guard keyFrames.indices.contains(index) else { return nil }
        return keyFrames[index].requested(request, now: now)
    }

    // MARK: Messages

    /// What is checked before anything else. Nil: go on.
    mutating func check(_ message: ControlMessage, now: MediaTimestamp) -> [SessionAction]? {
        guard isPaidFor(message) else { return check(message.type, now: now) }
        heard(now: now)
        return nil
    }

    /// As for a message, without what pays for itself.
    mutating func check(_ type: MessageType, now: MediaTimestamp) -> [SessionAction]? {
        heard(now: now)
        guard type.maySend(role.other) else { return failed(.outOfOrder(type)) }
        if now >= secondStart + .seconds(1) {
            secondStart = now
            messagesInSecond = 0
        }
        messagesInSecond += 1
        guard messagesInSecond <= WireLimits.controlPerSecond else {
            return failed(
                GantryError(
                    .protocolError,
                    "The other end sends more than \(WireLimits.controlPerSecond) control messages a second. "
                        + "Update both ends and connect again."))
        }
        return nil
    }

    /// DATA is limited by its window, and the credit for it by its steps.
    private mutating func isPaidFor(_ message: ControlMessage) -> Bool {
        switch message {
        case .data: return true
        case .dataCredit(let credit):
            guard credit.taken >= creditCounted, credit.taken - creditCounted >= DataWindow.creditStep / 2 else {
                return false
            }
            creditCounted = credit.taken
            return true
        default: return false
        }
    }

    /// Messages that both ends treat alike while running. Nil: not one of them.
    mutating func received(_ message: ControlMessage, now: MediaTimestamp) -> [SessionAction]? {
        switch message {
        case .pause(let pause): [.pause(pause)]
        case .resume(let pause): [.resume(pause)]
        case .stats(let stats): [.stats(stats)]
        case .ping(let ping): [.send(.pong(Pong(pingSent: ping.sent, received: now, sent: now)))]
        case .pong(let pong):
            [.clock(sent: pong.pingSent, received: pong.received, answered: pong.sent, returned: now)]
        case .data(let data): [.data(data)]
        case .dataCredit(let credit): [.dataCredit(credit)]
        case .carrierOffer(let offer): [.carrierOffer(offer)]
        case .carrierBind(let bind): [.carrierBind(bind)]
        case .error(let error): [.peerFailed(error)]
        case .hello, .accept, .reject, .start, .format, .keyframe, .prefer, .feedback, .rate, .videoState, .streams,
            .bye,
            .pairHello, .pairAccept, .pairDone, .pairFail:
            nil
        }
    }

    /// What the owner may send by itself; the rest is sent by the state machine alone.
    func mayOffer(_ type: MessageType) -> Bool {
        switch type {
        case .hello, .accept, .reject, .ping, .pong, .bye: false
        default: type.maySend(role) && !type.isMedia
        }
    }

    // MARK: The end

    /// We say goodbye.
    mutating func end(_ reason: Bye.Reason, text: String = "", error: GantryError?) -> [SessionAction] {
        finish(
            [.send(.bye(Bye(reason: reason, text: text))), .close],
            SessionEnd(reason: reason, isFromPeer: false, error: error))
    }

    mutating func said(_ bye: Bye) -> [SessionAction] { finish([.close], SessionEnd(bye)) }

    /// The connection or the decoder threw.
    mutating func failed(_ error: GantryError) -> [SessionAction] {
        switch error.code {
        case .protocolError, .versionMismatch: end(.protocolError, error: error)
        default: finish([.close], SessionEnd(reason: .timeout, isFromPeer: false, error: error))
        }
    }

    /// The peer closed without BYE.
    mutating func transportClosed() -> [SessionAction] {
        let error = GantryError(
            .peerLost, "The connection was lost: the other end went without a goodbye. Check that it still runs.")
        return finish([.close], SessionEnd(reason: .timeout, isFromPeer: true, error: error))
    }

    mutating func finish(_ last: [SessionAction], _ end: SessionEnd) -> [SessionAction] {
        guard !isFinished else { return [] }
        isFinished = true
        return last + [.finish(end)]
    }

    /// Which side must be updated, or nil when the two fit.
    func olderSide(own: Hello, peer: Hello) -> SessionRole? {
        if !own.capabilities.isSuperset(of: peer.required) || own.minor < peer.smallestMinor { return role }
        if !peer.capabilities.isSuperset(of: own.required) || peer.minor < own.smallestMinor { return role.other }
        return nil
    }
}
