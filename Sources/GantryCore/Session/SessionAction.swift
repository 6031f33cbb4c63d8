/// What the owner of a session state machine has to do, in this order.
package enum SessionAction: Hashable, Sendable {
    case send(ControlMessage)
    /// Producer: a studio asks to come in; call `accepted` or `rejected`. Its key is known from TLS.
    case decide(Hello)
    /// Producer: switch the decoder to `.session`.
    case authorise
    /// Studio: the producer let us in; call `startRequested`.
    case established(Accept, peer: Hello)
    /// Producer: send media of these channels, each from a key frame on.
    case start(Start)
    /// Producer: make the next picture of the channel a key frame.
    case keyFrame(Keyframe)
    case prefer(Prefer)
    case feedback(Feedback)
    /// Studio: packets of this epoch follow.
    case format(Format)
    case rate(Rate)
    case videoState(VideoState)
    case streams(Streams)
    case pause(Pause)
    case resume(Pause)
    case stats(Stats)
    case data(DataMessage)
    case dataCredit(DataCredit)
    case carrierOffer(CarrierOffer)
    case carrierBind(CarrierBind)
    /// Something failed at the peer; the session goes on.
    case peerFailed(ErrorMessage)
    /// A PONG came: for `ClockEstimator`.
    case clock(sent: MediaTimestamp, received: MediaTimestamp, answered: MediaTimestamp, returned: MediaTimestamp)
    /// End the connection, after what was sent has left.
    case close
    /// The end; comes exactly once, and nothing comes after it.
    case finish(SessionEnd)
}

/// How a session ended.
package struct SessionEnd: Hashable, Sendable {
    package let reason: Bye.Reason
    package let isFromPeer: Bool
    /// REJECT: try again after this many milliseconds; nil: not by yourself.
    package let retryAfter: UInt32?
    /// Nil for an end that was meant. Equal when code and message are.
    package let error: GantryError?

    init(reason: Bye.Reason, isFromPeer: Bool, retryAfter: UInt32? = nil, error: GantryError? = nil) {
        self.reason = reason
        self.isFromPeer = isFromPeer
        self.retryAfter = retryAfter
        self.error = error
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.reason == b.reason && a.isFromPeer == b.isFromPeer && a.retryAfter == b.retryAfter
            && a.error?.code == b.error?.code && a.error?.message == b.error?.message
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(error?.code)
    }
}
