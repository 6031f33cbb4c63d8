import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport

/// Messages in order, and what a hostile peer makes of them. The same seed gives the same bytes.
struct HostileMessages {
    var random: SeededRandom

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    static let hello = ControlMessage.hello(
        Hello(name: DisplayName("Hostile"), model: "test", version: "0", codecs: [.h264, .opus]))

    static let accept = ControlMessage.accept(
        Accept(
            sessionID: 1,
            streams: [
                StreamDescription(
                    channel: 1, kind: .video, codec: .h264, source: .custom,
                    created: MediaTimestamp(microseconds: 0), name: "v"),
                StreamDescription(
                    channel: 2, kind: .audio, codec: .opus, source: .custom,
                    created: MediaTimestamp(microseconds: 0), name: "a"),
            ]))

    static func videoFormat(
        width: Int = 320, height: Int = 180, channel: UInt16 = 1, epoch: UInt16 = 1, rate: FrameRate = .fps30,
        rotation: Int = 0, parameterSets: [UInt8] = [], color: ColorDescription = .bt709
    ) -> ControlMessage {
        .format(
            Format(
                channel: channel, epoch: epoch,
                format: .video(
                    VideoStreamFormat(
                        codec: .h264, width: width, height: height, frameRate: rate, color: color, rotation: rotation,
                        parameterSets: parameterSets))))
    }

    static func audioFormat(channel: UInt16 = 2, samples: Int = 480, channels: Int = 2, head: [UInt8] = [])
        -> ControlMessage
    {
        .format(
            Format(
                channel: channel, epoch: 1,
                format: .audio(
                    AudioStreamFormat(
                        codec: .opus, sampleRate: 48_000, channels: channels, samplesPerPacket: samples, head: head))))
    }

    /// One of every kind.
    private static let all: [ControlMessage] = [
        hello, accept, .reject(Reject(reason: .busy)), .start(Start(channels: [1, 2])), .start(Start(channels: [])),
        .start(Start(channels: [3, 8, 1])), videoFormat(), audioFormat(),
        .keyframe(Keyframe(channel: 1, reason: .loss)), .keyframe(Keyframe(channel: 7, reason: .start)),
        .prefer(Prefer(maximumBitrate: 1)), .pause(Pause(mask: 0xffff, reason: .user)),
        .resume(Pause(mask: 0, reason: .user)), .stats(Stats(framesSent: .max, bytesSent: .max)),
        .ping(Ping(sent: MediaTimestamp(microseconds: .min))),
        .pong(
            Pong(
                pingSent: MediaTimestamp(microseconds: .max), received: MediaTimestamp(microseconds: .min),
                sent: MediaTimestamp(microseconds: .max))),
        .pong(
            Pong(
                pingSent: MediaTimestamp(microseconds: 1), received: MediaTimestamp(microseconds: (1 << 52) - 1),
                sent: MediaTimestamp(microseconds: (1 << 52) - 1))),
        .videoState(VideoState(channel: 1, state: .disabled, reason: .quality)),
        .data(DataMessage(label: "x", bytes: [1, 2, 3])), .streams(Streams(added: [], removed: [1, 2])),
        .carrierOffer(CarrierOffer(token: Array(repeating: 7, count: 16), port: 1, mask: 1)),
        .dataCredit(DataCredit(taken: 1)),
        .carrierBind(CarrierBind(sessionID: 1, token: Array(repeating: 7, count: 16), mask: 1)),
        .error(ErrorMessage(code: 1, text: "\u{1b}[2J\u{202e}x")),
    ]

    static let extremes: [Int64] = [
        .min, .max, 0, -1, 1, .min + 1, .max - 1, 1 << 52, -(1 << 52), 1 << 62, -(1 << 62), 3_600_000_001,
    ]

    mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    mutating func header() -> MediaHeader {
        MediaHeader(
            sequence: UInt32(truncatingIfNeeded: random.next() >> UInt64(below(64))),
            presentationTime: MediaTimestamp(microseconds: Self.extremes[below(Self.extremes.count)]),
            captureTime: MediaTimestamp(microseconds: Self.extremes[below(Self.extremes.count)]),
            epoch: UInt16(truncatingIfNeeded: random.next()), isKey: below(2) == 0)
    }

    /// Frames of one thing or another: in order, in the wrong order, mutated, or not frames at all.
    mutating func next() -> [UInt8] {
        switch below(16) {
        case 0..<6:
            let message = Self.all[below(Self.all.count)]
            return HostilePeer.frames(
                message.type, message.encode(), channel: message.type == .data ? UInt16(1 + below(8)) : 0)
        case 6..<9: return mutated()
        case 9:
            // Any header, with its payload where that is short enough.
            let length = UInt32(below(300))
            let header = FrameHeader(
                type: MessageType(rawValue: UInt8(below(256))), flags: FrameFlags(rawValue: UInt8(below(256))),
                channel: UInt16(below(12)), length: below(20) == 0 ? .max - length : length)
            return header.bytes + bytes(Int(length))
        case 10:
            // A message that has only begun, and an empty one.
            let begun = FrameHeader(type: .video, flags: .more, channel: UInt16(1 + below(8)), length: 3)
            return begun.bytes + bytes(3)
        case 11: return FrameHeader(type: .ping, length: 0).bytes
        case 12, 13:
            return HostilePeer.media(.video, bytes(below(3000)), channel: UInt16(1 + below(2)), header: header())
        default:
            return HostilePeer.media(.audio, bytes(below(200)), channel: UInt16(1 + below(3)), header: header())
        }
    }

    private mutating func mutated() -> [UInt8] {
        let message = Self.all[below(Self.all.count)]
        var payload = message.encode()
        for _ in 0...below(4) where !payload.isEmpty {
            switch below(3) {
            case 0: payload[below(payload.count)] = UInt8(truncatingIfNeeded: random.next())
            case 1: payload.removeLast()
            default: payload.append(UInt8(truncatingIfNeeded: random.next()))
            }
        }
        return HostilePeer.frames(message.type, payload, channel: message.type == .data ? 1 : 0)
    }
}

/// Real coded media, for attacks that must get past the decoders' first look.
struct CodedMedia {
    struct AccessUnit {
        let bytes: [UInt8]
        let isKey: Bool
        let parameterSets: [UInt8]
    }

    static func pictures(width: Int, height: Int, count: Int, rate: FrameRate = .fps30) throws -> [AccessUnit] {
        let encoder = try H264Encoder(
            configuration: H264EncoderConfiguration(
                width: width, height: height, frameRate: rate, color: .bt709))
        guard let picture = Picture(format: .i420, width: width, height: height) else { return [] }
        let packet = MediaPacket()
        return try (0..<count).map { index in
            picture.plane(0)[index % width] = UInt8(truncatingIfNeeded: index &* 37)
            try encoder.encode(picture, forceKey: index == 0, into: packet)
            return AccessUnit(
                bytes: Array(packet.bytes), isKey: packet.header.isKey, parameterSets: encoder.parameterSets)
        }
    }

    static func sound(count: Int) throws -> [[UInt8]] {
        let encoder = try OpusAudioEncoder()
        let packet = MediaPacket()
        let samples = [Float](repeating: 0.1, count: 960)
        return try (0..<count).map { _ in
            try samples.withUnsafeBufferPointer { samples throws(GantryError) in
                try encoder.encode(samples, frames: 480, into: packet)
            }
            return Array(packet.bytes)
        }
    }
}

/// What this process holds.
struct Holdings {
    /// Threads by their names. Those of the pool, which come and go, have the name of whoever began them: there are as many as
    /// processors at most.
    let threads: [String: Int]
    let residentBytes: Int

    static var current: Holdings {
        Holdings(
            threads: Dictionary(ProcessView(getpid()).threadNames.map { ($0, 1) }, uniquingKeysWith: +),
            residentBytes: ProcessUsage.current.residentBytes)
    }

    /// Threads whose names begin with one of `prefixes`.
    func threads(_ prefixes: String...) -> Int {
        threads.reduce(0) { sum, thread in sum + (prefixes.contains { thread.key.hasPrefix($0) } ? thread.value : 0) }
    }

    /// Those of sessions of studios, and of their outputs.
    var sessionThreads: Int {
        threads("studio-", "video-decode", "audio-decode", "recorder", "ts-output", "y4m-", "wav-")
    }

    /// How many threads of the pool may have such a name.
    static let poolThreads = ProcessInfo.processInfo.activeProcessorCount
}
