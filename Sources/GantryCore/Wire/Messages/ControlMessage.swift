/// Every message that is gathered whole: the control messages of a session, DATA, and the messages of pairing.
///
/// Field numbers and sizes stand in `pairing/wire.md` and beside the code of each message.
package enum ControlMessage: Hashable, Sendable {
    case hello(Hello)
    case accept(Accept)
    case reject(Reject)
    case start(Start)
    case format(Format)
    case keyframe(Keyframe)
    case prefer(Prefer)
    case pause(Pause)
    case resume(Pause)
    case feedback(Feedback)
    case rate(Rate)
    case stats(Stats)
    case ping(Ping)
    case pong(Pong)
    case videoState(VideoState)
    case data(DataMessage)
    case streams(Streams)
    case carrierOffer(CarrierOffer)
    case carrierBind(CarrierBind)
    case dataCredit(DataCredit)
    case error(ErrorMessage)
    case bye(Bye)
    case pairHello(PairHello)
    case pairAccept(PairAccept)
    case pairDone
    case pairFail(PairFail)

    package var type: MessageType {
        switch self {
        case .hello: .hello
        case .accept: .accept
        case .reject: .reject
        case .start: .start
        case .format: .format
        case .keyframe: .keyframe
        case .prefer: .prefer
        case .pause: .pause
        case .resume: .resume
        case .feedback: .feedback
        case .rate: .rate
        case .stats: .stats
        case .ping: .ping
        case .pong: .pong
        case .videoState: .videoState
        case .data: .data
        case .streams: .streams
        case .carrierOffer: .carrierOffer
        case .carrierBind: .carrierBind
        case .dataCredit: .dataCredit
        case .error: .error
        case .bye: .bye
        case .pairHello: .pairHello
        case .pairAccept: .pairAccept
        case .pairDone: .pairDone
        case .pairFail: .pairFail
        }
    }

    /// The payload, without frame header.
    package func encode() -> [UInt8] {
        switch self {
        case .hello(let message): message.encode()
        case .accept(let message): message.encode()
        case .reject(let message): message.encode()
        case .start(let message): message.encode()
        case .format(let message): message.encode()
        case .keyframe(let message): message.encode()
        case .prefer(let message): message.encode()
        case .pause(let message), .resume(let message): message.encode()
        case .feedback(let message): message.encode()
        case .rate(let message): message.encode()
        case .stats(let message): message.encode()
        case .ping(let message): message.encode()
        case .pong(let message): message.encode()
        case .videoState(let message): message.encode()
        case .data(let message): message.encode()
        case .streams(let message): message.encode()
        case .carrierOffer(let message): message.encode()
        case .carrierBind(let message): message.encode()
        case .dataCredit(let message): message.encode()
        case .error(let message): message.encode()
        case .bye(let message): message.encode()
        case .pairHello(let message): message.encode()
        case .pairAccept(let message): message.encode()
        case .pairDone: []
        case .pairFail(let message): message.encode()
        }
    }

    /// Nil for a type that is not known: skip it.
    ///
    /// - Throws: `.protocolError` for a broken payload, `.versionMismatch` for an unknown critical field.
    package static func decode(type: MessageType, payload: [UInt8]) throws(GantryError) -> ControlMessage? {
        if type == .data { return .data(try DataMessage(payload)) }
        guard type.isKnown, !type.isMedia else { return nil }
        var reader = try TLVReader(payload, type: type)
        let message = try read(type, payload, &reader)
        try reader.finish()
        return message
    }

    private static func read(
        _ type: MessageType, _ payload: [UInt8], _ reader: inout TLVReader
    ) throws(GantryError) -> ControlMessage? {
        switch type {
        case .hello: .hello(try Hello(&reader))
        case .accept: .accept(try Accept(&reader))
        case .reject: .reject(try Reject(&reader))
        case .start: .start(try Start(&reader))
        case .format: .format(try Format(&reader))
        case .keyframe: .keyframe(try Keyframe(&reader))
        case .prefer: .prefer(try Prefer(&reader))
        case .pause: .pause(try Pause(&reader))
        case .resume: .resume(try Pause(&reader))
        case .feedback: .feedback(try Feedback(&reader))
        case .rate: .rate(try Rate(&reader))
        case .stats: .stats(try Stats(&reader))
        case .ping: .ping(try Ping(&reader))
        case .pong: .pong(try Pong(&reader))
        case .videoState: .videoState(try VideoState(&reader))
        case .streams: .streams(try Streams(&reader))
        case .carrierOffer: .carrierOffer(try CarrierOffer(&reader))
        case .carrierBind: .carrierBind(try CarrierBind(&reader))
        case .dataCredit: .dataCredit(try DataCredit(&reader))
        case .error: .error(try ErrorMessage(&reader))
        case .bye: .bye(try Bye(&reader))
        case .pairHello: .pairHello(try PairHello(payload, &reader))
        case .pairAccept: .pairAccept(try PairAccept(&reader))
        case .pairDone: .pairDone
        case .pairFail: .pairFail(try PairFail(&reader))
        default: nil
        }
    }
}
