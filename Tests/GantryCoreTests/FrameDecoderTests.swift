import GantryCore
import GantryTestSupport
import Testing

/// A message as a test sees it.
private struct Message: Equatable {
    var type: MessageType
    var flags: FrameFlags
    var channel: UInt16
    var payload: [UInt8]
}

/// Gathers what a decoder hands out, and checks the order of starts and ends.
private struct Collector {
    var decoder: FrameDecoder
    var messages: [Message] = []
    private var open: [UInt16: Message] = [:]

    init(_ phase: FrameDecoder.Phase = .session) { decoder = FrameDecoder(phase: phase) }

    mutating func feed(_ bytes: [UInt8]) throws(GantryError) {
        // Moved out and back: a copy for each byte would make the test slow.
        var messages = self.messages
        var open = self.open
        self.messages = []
        self.open = [:]
        let result = bytes.withUnsafeBytes { bytes -> GantryError? in
            do throws(GantryError) {
                try decoder.consume(bytes) { chunk in
                    if chunk.startsMessage {
                        #expect(open[chunk.channel] == nil)
                        open[chunk.channel] = Message(
                            type: chunk.type, flags: chunk.flags, channel: chunk.channel, payload: [])
                    }
                    #expect(open[chunk.channel] != nil)
                    open[chunk.channel]?.payload += Array(chunk.payload)
                    if chunk.endsMessage, let done = open.removeValue(forKey: chunk.channel) { messages.append(done) }
                }
                return nil
            } catch {
                return error
            }
        }
        self.messages = messages
        self.open = open
        if let result { throw result }
    }
}

@Suite struct FrameDecoderTests {
    private func frame(
        _ type: MessageType, flags: FrameFlags = [], channel: UInt16 = 0, _ payload: [UInt8]
    ) -> [UInt8] {
        FrameHeader(type: type, flags: flags, channel: channel, length: UInt32(payload.count)).bytes + payload
    }

    private func frames(_ message: Message) -> [[UInt8]] {
        var writer = FragmentWriter(
            type: message.type, flags: message.flags, channel: message.channel, count: message.payload.count)
        var result: [[UInt8]] = []
        while let fragment = writer.next() { result.append(fragment.header.bytes + message.payload[fragment.range]) }
        return result
    }

    private func bytes(_ count: Int) -> [UInt8] { Self.bytes(count) }

    private static func bytes(_ count: Int, _ seed: UInt64 = 1) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    private let samples = Self.made
    private static let made: [Message] = {
        return [
            Message(type: .ping, flags: [], channel: 0, payload: bytes(12)),
            Message(type: .video, flags: [.key, .config], channel: 1, payload: bytes(50_000)),
            Message(type: .audio, flags: [.discardable], channel: 2, payload: bytes(180)),
            Message(type: .bye, flags: [], channel: 0, payload: []),
            Message(type: .data, flags: [], channel: 8, payload: bytes(16_377)),
        ]
    }()

    @Test(arguments: [1, 2, 7, 8, 9, 1000, 16_384, 1_000_000])
    func anyCutGivesTheSame(size: Int) throws {
        let stream = samples.flatMap { frames($0).flatMap { $0 } }
        var collector = Collector()
        var offset = 0
        while offset < stream.count {
            try collector.feed(Array(stream[offset..<min(offset + size, stream.count)]))
            offset += size
        }
        #expect(collector.messages == samples)
        #expect(collector.decoder.isAtBoundary)
    }

    @Test func interleavedChannelsAndRandomCuts() throws {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<20 {
            var queues = samples.map { frames($0) }
            // Channel 0 has two messages, which stay in order.
            queues[0] += queues.remove(at: 3)
            var stream: [UInt8] = []
            while let index = queues.indices.filter({ !queues[$0].isEmpty }).randomElement(using: &random) {
                stream += queues[index].removeFirst()
            }
            var collector = Collector()
            var rest = stream[...]
            while !rest.isEmpty {
                let count = min(Int.random(in: 0...3000, using: &random), rest.count)
                try collector.feed(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(collector.messages.count == samples.count)
            for sample in samples { #expect(collector.messages.contains(sample)) }
        }
    }

    @Test func truncatedStreamIsNotAtABoundary() throws {
        let stream = frame(.audio, channel: 2, bytes(40))
        for count in 1..<stream.count {
            var collector = Collector()
            try collector.feed(Array(stream.prefix(count)))
            #expect(!collector.decoder.isAtBoundary)
            #expect(collector.messages.isEmpty)
        }
        var collector = Collector()
        try collector.feed(frame(.video, flags: [.more], channel: 1, [1]))
        #expect(!collector.decoder.isAtBoundary)
    }

    private func refuses(_ stream: [UInt8], _ phase: FrameDecoder.Phase = .session) -> Bool {
        var collector = Collector(phase)
        do throws(GantryError) {
            try collector.feed(stream)
        } catch {
            guard error.code == .protocolError else { return false }
            // It stays broken.
            do throws(GantryError) { try collector.feed([0]) } catch { return error.code == .protocolError }
        }
        return false
    }

    private func accepts(_ stream: [UInt8], _ phase: FrameDecoder.Phase = .session) -> Bool {
        var collector = Collector(phase)
        return (try? collector.feed(stream)) != nil
    }

    @Test func frameOverTheLimit() {
        #expect(accepts(FrameHeader(type: .video, channel: 1, length: 16384).bytes))
        #expect(refuses(FrameHeader(type: .video, channel: 1, length: 16385).bytes))
        #expect(refuses(FrameHeader(type: .video, channel: 1, length: .max).bytes))
        #expect(refuses(FrameHeader(type: MessageType(rawValue: 0x99), length: .max).bytes))
    }

    @Test(arguments: [
        (MessageType.video, UInt16(1), 4 << 20), (.audio, 1, 8192), (.data, 1, 65536), (.stats, 0, 16384),
        (MessageType(rawValue: 0x66), 5, 16384),
    ])
    func reassembledMessageOverTheLimit(type: MessageType, channel: UInt16, limit: Int) {
        var fitting: [UInt8] = []
        var rest = limit
        while rest > 0 {
            let count = min(rest, 8192)
            rest -= count
            fitting += frame(type, flags: rest > 0 ? [.more] : [], channel: channel, Array(repeating: 1, count: count))
        }
        #expect(accepts(fitting))
        // The same, but its last fragment says that more follows: the next byte is one too many.
        fitting[fitting.count - min(limit, 8192) - 7] |= FrameFlags.more.rawValue
        #expect(accepts(fitting))
        #expect(refuses(fitting + frame(type, channel: channel, [1])))
    }

    @Test func channels() {
        #expect(accepts(frame(.video, channel: 8, [])))
        #expect(refuses(frame(.video, channel: 9, [])))
        #expect(refuses(frame(.video, channel: 0, [])))
        #expect(refuses(frame(.data, channel: 0, [])))
        #expect(refuses(frame(.ping, channel: 1, [])))
        #expect(refuses(frame(MessageType(rawValue: 0x99), channel: 9, [])))
        #expect(refuses(frame(.video, channel: 0xFFFF, [])))
    }

    @Test func fragmentsAreContiguousInTheirChannel() {
        #expect(refuses(frame(.ping, flags: [.more], [1]) + frame(.pong, [2])))
        #expect(refuses(frame(.video, flags: [.more], channel: 1, [1]) + frame(.audio, channel: 1, [2])))
        #expect(accepts(frame(.video, flags: [.more], channel: 1, [1]) + frame(.audio, channel: 2, [2])))
        #expect(refuses(frame(.video, flags: [.more], channel: 1, [])))
        #expect(accepts(frame(.video, flags: [.more], channel: 1, [1]) + frame(.video, channel: 1, [])))
    }

    @Test func beforeAuthorisation() {
        let big = [UInt8](repeating: 0, count: 4096)
        for raw in UInt8.min...UInt8.max {
            let type = MessageType(rawValue: raw)
            let stream = frame(type, channel: type.isMedia || type == .data ? 1 : 0, [])
            #expect(accepts(stream, .beforeAuthorisation) == (type == .hello || type == .bye))
            #expect(accepts(stream, .pairing) == (type.isPairing || type == .bye))
            #expect(accepts(stream, .session) == !type.isPairing)
            let answers: [MessageType] = [.hello, .accept, .reject, .error, .bye]
            #expect(accepts(stream, .beforeAcceptance) == answers.contains(type))
        }
        #expect(accepts(frame(.hello, big), .beforeAuthorisation))
        #expect(refuses(frame(.hello, big + [0]), .beforeAuthorisation))
        #expect(refuses(frame(.hello, flags: [.more], big) + frame(.hello, [0]), .beforeAuthorisation))
        #expect(refuses(frame(.pairHello, big + [0]), .pairing))
    }

    @Test func theStudioIsInTheSessionRightBehindAccept() throws {
        var collector = Collector(.beforeAcceptance)
        try collector.feed(
            frame(.hello, []) + frame(.accept, [1, 2]) + frame(.ping, []) + frame(.video, channel: 1, [9]))
        #expect(collector.messages.map(\.type) == [.hello, .accept, .ping, .video])
        #expect(refuses(frame(.hello, []) + frame(.ping, []), .beforeAcceptance))
    }

    @Test func unknownTypesAreSkipped() throws {
        var collector = Collector()
        try collector.feed(frame(MessageType(rawValue: 0x77), channel: 3, bytes(100)) + frame(.ping, [5]))
        #expect(collector.messages.map(\.type) == [.ping])
    }

    @Test func flippedBitsNeverCrash() {
        var random = SeededGenerator(seed: 11)
        let stream = samples.flatMap { frames($0).flatMap { $0.prefix(300) } }
        for _ in 0..<500 {
            var damaged = stream
            for _ in 0..<4 {
                damaged[Int.random(in: damaged.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            var collector = Collector()
            do throws(GantryError) { try collector.feed(damaged) } catch { #expect(error.code == .protocolError) }
        }
    }

    @Test func errorsOfTheSinkComeThrough() {
        var decoder = FrameDecoder(phase: .session)
        let stream = frame(.ping, [])
        let error = #expect(throws: GantryError.self) {
            try stream.withUnsafeBytes { bytes in
                try decoder.consume(bytes) { _ throws(GantryError) in throw GantryError(.outputFull, "x") }
            }
        }
        #expect(error?.code == .outputFull)
    }

    @Test func assemblerAndPrefixReader() throws {
        let prefix = MediaPrefix(sequence: 7, presentationTime: 8, captureTime: 9, epoch: 10)
        var head = [UInt8](repeating: 0, count: 22)
        head.withUnsafeMutableBytes { _ = prefix.write(to: $0) }
        let body = bytes(30)
        // The prefix itself is cut into fragments as well.
        let stream =
            frame(.video, flags: [.more, .key], channel: 1, Array(head.prefix(5)))
            + frame(.stats, flags: [.more], [1, 2])
            + frame(.video, channel: 1, Array(head.dropFirst(5)) + body) + frame(.stats, [3])
        for size in 1...stream.count {
            var decoder = FrameDecoder(phase: .session)
            var assembler = MessageAssembler()
            var reader = MediaPrefixReader()
            var payload: [UInt8] = []
            var control: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                try Array(stream[start..<min(start + size, stream.count)]).withUnsafeBytes { bytes in
                    try decoder.consume(bytes) { chunk throws(GantryError) in
                        if chunk.type.isMedia { payload += Array(try reader.consume(chunk)) }
                        try assembler.consume(chunk) { type, _, channel, payload in
                            #expect(type == .stats && channel == 0)
                            control.append(payload)
                        }
                    }
                }
            }
            #expect(reader.prefix == prefix)
            #expect(payload == body)
            #expect(control == [[1, 2, 3]])
        }
    }

    @Test func mediaShorterThanItsPrefix() {
        var decoder = FrameDecoder(phase: .session)
        var reader = MediaPrefixReader()
        let error = #expect(throws: GantryError.self) {
            try frame(.audio, channel: 1, bytes(21)).withUnsafeBytes { bytes in
                try decoder.consume(bytes) { chunk throws(GantryError) in _ = try reader.consume(chunk) }
            }
        }
        #expect(error?.code == .protocolError)
    }
}
