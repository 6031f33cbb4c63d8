import GantryCore
import GantryTestSupport

/// The value of every entry of `messages.json`, written by hand.
enum SampleMessages {
    static func value(_ name: String) -> ControlMessage? { all[name] }

    private static let token = Array(UInt8(0)..<16)
    private static let video = StreamDescription(
        channel: 1, kind: .video, codec: .h264, source: .file, created: .init(microseconds: 1_000_000), name: "Clip")
    private static let audio = StreamDescription(
        channel: 2, kind: .audio, codec: .opus, source: .file, created: .init(microseconds: 1_000_000), name: "Sound")
    private static let data = StreamDescription(
        channel: 3, kind: .data, codec: nil, source: .custom, created: .init(microseconds: -5))
    private static let size = PictureSize(width: 1280, height: 720)
    private static let rate = FrameRate(30000, 1001)
    static let pairHello = PairHello(name: DisplayName("Stage left"), model: "Pi 5", streamPort: 4010)

    private static let formats: [String: ControlMessage] = [
        "format video": .format(
            Format(
                channel: 1, epoch: 9,
                format: .video(
                    VideoStreamFormat(
                        codec: .h264, width: 1280, height: 720, frameRate: FrameRate(30000, 1001) ?? .fps30,
                        color: .bt709, rotation: 90,
                        parameterSets: [0, 0, 0, 1, 0x67, 0x42, 0, 0, 0, 0, 1, 0x68, 0xce])))),
        "format audio": .format(
            Format(
                channel: 2, epoch: 0,
                format: .audio(
                    AudioStreamFormat(
                        codec: .opus, sampleRate: 48000, channels: 2, samplesPerPacket: 480,
                        head: Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])))),
    ]

    private static let session: [String: ControlMessage] = [
        "hello studio": .hello(
            Hello(
                minor: 0, capabilities: .rateControl, name: DisplayName("Régie 1"), model: "PC", version: "0.1.0",
                samplesPerPacket: 480, largestPicture: PictureSize(width: 1920, height: 1080),
                codecs: [.h264, .mjpeg, .opus])),
        "hello producer": .hello(
            Hello(
                minor: 3, capabilities: Capabilities(rawValue: 0x8000_0000_0000_0001), name: DisplayName("Stage left"),
                bootID: 0x1122_3344_5566_7788, required: .rateControl, smallestMinor: 1)),
        "hello producer with field of use": .hello(
            Hello(
                minor: 0, capabilities: .rateControl, name: DisplayName("Stage left"),
                fieldOfUse: FieldOfUse(venue: "Arena A", owner: "Équipe B", app: "Scores"))),
        "accept": .accept(Accept(sessionID: 42, streams: [video, audio, data])),
        "reject busy": .reject(Reject(reason: .busy, retryAfter: 2000, text: "two studios at most")),
        "reject version": .reject(Reject(reason: .versionMismatch, updateSide: .studio)),
        "start": .start(
            Start(channels: [1, 2], size: size, frameRate: rate, maximumBitrate: 6_000_000, samplesPerPacket: 480)),
        "start least": .start(Start(channels: [1])),
        "keyframe": .keyframe(Keyframe(channel: 1, reason: .loss)),
        "prefer": .prefer(
            Prefer(size: PictureSize(width: 640, height: 360), frameRate: FrameRate(15), maximumBitrate: 800_000)),
        "prefer nothing": .prefer(Prefer()),
        "pause": .pause(Pause(mask: 0b110, reason: .user)),
        "resume": .resume(Pause(mask: 0b010, reason: .hidden)),
        "feedback": .feedback(
            Feedback(
                channel: 1, sequence: 900, presentationTime: .init(microseconds: 30_000_000), delay: -1500, jitter: 250,
                bytes: 22_500_000, late: 1, dropped: 2)),
        "rate": .rate(Rate(bitrate: 4_000_000, frameRate: FrameRate(20), step: 2)),
        "stats": .stats(
            Stats(
                framesSent: 300, framesDropped: 2, bytesSent: 7_500_000, audioPacketsSent: 1000,
                stages: [
                    .init(stage: .encode, p50: 3100, p95: 4400), .init(stage: .queue, p50: 200, p95: 900),
                ])),
        "ping": .ping(Ping(sent: .init(microseconds: 123_456_789))),
        "pong": .pong(
            Pong(
                pingSent: .init(microseconds: 123_456_789), received: .init(microseconds: -7),
                sent: .init(microseconds: -5))),
        "video state": .videoState(VideoState(channel: 1, state: .disabled, reason: .quality)),
        "data": .data(DataMessage(label: "chat", bytes: [0, 255, 1])),
        "data without label": .data(DataMessage(label: "", bytes: Array("x".utf8))),
        "streams": .streams(Streams(added: [video], removed: [2, 3])),
        "carrier offer": .carrierOffer(CarrierOffer(token: token, port: 4011, mask: 4)),
        "data credit": .dataCredit(DataCredit(taken: 131_072)),
        "carrier bind": .carrierBind(CarrierBind(sessionID: 42, token: token, mask: 4)),
        "carrier offer of datagrams": .carrierOffer(
            CarrierOffer(token: token, port: 40111, mask: 6, payload: 1472)),
        "carrier bind of datagrams": .carrierBind(
            CarrierBind(sessionID: 42, token: token, mask: 6, port: 40222, payload: 1452)),
        "carrier bind at once": .carrierBind(
            CarrierBind(sessionID: 42, token: token, mask: 2, port: 40222, payload: 1232, isWantedAtOnce: true)),
        "error": .error(ErrorMessage(code: 501, text: "the clip is damaged")),
        "bye": .bye(Bye(reason: .normal)),
        "bye with text": .bye(Bye(reason: .protocolError, text: "length")),
    ]

    private static let pairing: [String: ControlMessage] = [
        "pair hello studio": .pairHello(PairHello(name: DisplayName("Desk"), model: "PC")),
        "pair hello producer": .pairHello(pairHello.with(proof: Array(0..<32))),
        "pair accept": .pairAccept(PairAccept(proof: Array(32..<64))),
        "pair done": .pairDone,
        "pair fail": .pairFail(PairFail(reason: .badCode, text: "old code")),
    ]

    static let all = session.merging(formats) { a, _ in a }.merging(pairing) { a, _ in a }
}
