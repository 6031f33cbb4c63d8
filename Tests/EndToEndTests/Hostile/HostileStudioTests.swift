import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import Glibc
import ProducerKit
import StudioKit
import Testing

extension EndToEnd {
    /// A studio that is paired, and hostile: the producer serves the others as before.
    @Suite struct HostileStudioTests {
        /// A producer that plays the test pattern, a genuine studio that receives, and the key of a hostile one.
        private final class Siege: Sendable {
            let stage: Stage
            let hostile: Identity
            let genuine: SessionRun
            let packets = KeyFrameLog()
            private let pattern: TestPatternSource
            private let playing: Task<Void, any Error>

            init() async throws {
                stage = try Stage()
                try await stage.pair()
                let other = try StudioController(
                    configuration: StudioConfiguration(name: "Hostile", stateDirectory: stage.file("hostile")))
                try await stage.pair(with: other)
                hostile = try Identity.loadOrCreate(in: try StateFolder.open(stage.file("hostile")))
                pattern = try TestPatternSource.small()
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [packets]
                genuine = try await stage.connect(configuration)
                let (pattern, producer) = (pattern, stage.producer)
                playing = Task { _ = try await SourceRun(producer).play(pattern) }
            }

            func peer(host: UInt8, room: CInt? = nil, cutAfter budget: Int? = nil) throws -> HostilePeer {
                try HostilePeer.studio(
                    port: stage.producer.port ?? 0, identity: hostile, host: host, room: room, cutAfter: budget)
            }

            /// As far as ACCEPT.
            func accepted(host: UInt8, room: CInt? = nil) throws -> HostilePeer {
                let peer = try peer(host: host, room: room)
                try peer.handshake()
                try peer.send(HostileMessages.hello)
                _ = try peer.receive(wait: 2000)
                return peer
            }

            /// Whether picture and sound still come.
            func isServed() async throws -> Bool {
                let before = packets.counts.value
                return try await packets.counts.wait {
                    $0.frames > before.frames + 5 && $0.sounds > before.sounds + 10
                } && !genuine.state.value.isEnded
            }

            func end() async throws {
                pattern.stop()
                _ = try await playing.value
                #expect(try await genuine.close() == nil)
                try await stage.stop()
                #expect(stage.producer.state == .notRunning)
            }
        }

        @Test func whateverAStudioSaysTheOthersAreServed() async throws {
            let siege = try await Siege()
            for seed in 1...40 as ClosedRange<UInt64> {
                try await onThread {
                    var messages = HostileMessages(seed: seed)
                    // As far as the handshake, HELLO, or START.
                    let stage = seed % 4
                    let peer = try siege.peer(host: UInt8(10 + seed))
                    try peer.handshake()
                    do {
                        if stage > 0 { try peer.send(HostileMessages.hello) }
                        if stage > 1 { _ = try peer.receive(wait: 500) }
                        if stage > 2 { try peer.send(.start(Start(channels: [1, 2]))) }
                        for _ in 0..<100 {
                            try peer.send(messages.next())
                            _ = try peer.receive()
                        }
                    } catch {
                        // Closed by the producer: that is right.
                    }
                }
            }
            #expect(try await siege.isServed())
            try await siege.end()
        }

        /// A connection that ends at any byte, of the handshake or of the session.
        @Test func aConnectionMayEndAtAnyByte() async throws {
            let siege = try await Siege()
            // Every thread of the genuine session runs by then.
            #expect(try await siege.isServed())
            let before = Holdings.current.threads("producer-")
            let port = siege.stage.producer.port ?? 0
            try await onThread {
                for cut in stride(from: 0, to: 2400, by: 23) {
                    let peer = try siege.peer(host: UInt8(10 + cut / 23 % 200), cutAfter: cut)
                    do {
                        try peer.handshake()
                        try peer.send(HostileMessages.hello)
                        _ = try peer.receive(wait: 100)
                        try peer.send(.start(Start(channels: [1, 2])))
                        for _ in 0..<40 { try peer.send(.ping(Ping(sent: MonotonicClock.now()))) }
                    } catch {
                        continue
                    }
                    peer.link.close()
                }
            }
            #expect(try await siege.isServed())
            // The genuine one's connection is left, and nothing of the others.
            #expect(
                try await onThread {
                    waitUntil {
                        ProcessView(getpid()).connections(atPort: port) == 1
                            && Holdings.current.threads("producer-") <= before + Holdings.poolThreads
                    }
                }, "\(ProcessView(getpid()).connections(atPort: port)) connections, \(Holdings.current.threads)")
            try await siege.end()
        }

        /// START, or PAUSE and RESUME, and KEYFRAME again and again: key frames stay a quarter of a second apart for everybody.
        @Test(arguments: [false, true]) func keyFramesAreNotMadeAsOftenAsAStudioLikes(pauses: Bool) async throws {
            let siege = try await Siege()
            #expect(try await siege.isServed())
            siege.packets.counts.change { $0.keyTimes = [] }
            try await onThread {
                let peer = try siege.accepted(host: 20)
                try peer.send(.start(Start(channels: [1, 2])))
                let end = MonotonicClock.now() + .seconds(3)
                var index = 0
                while MonotonicClock.now() < end {
                    let channels: [UInt16] = index % 2 == 0 ? [1, 2] : []
                    let what = Pause(mask: 0xffff, reason: .user)
                    let change: ControlMessage =
                        switch (pauses, index % 2 == 0) {
                        case (false, _): .start(Start(channels: channels))
                        case (true, true): .resume(what)
                        case (true, false): .pause(what)
                        }
                    try peer.send(index % 3 == 0 ? .keyframe(Keyframe(channel: 1, reason: .loss)) : change)
                    _ = try peer.receive()
                    MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(12))
                    index += 1
                }
                #expect(index > 30)
            }
            let times = siege.packets.counts.value.keyTimes
            #expect(times.count > 2)
            for (first, second) in zip(times, times.dropFirst()) {
                #expect((second - first).microseconds > 190_000)
            }
            try await siege.end()
        }

        /// The channels of the last START count.
        @Test func aSecondStartReplacesTheChannels() async throws {
            let siege = try await Siege()
            let late = try await onThread { () -> Int in
                let peer = try siege.accepted(host: 20)
                try peer.send(.start(Start(channels: [1, 2])))
                var count = 0
                while count < 20_000 { count += try peer.receive(wait: 3000).count }
                try peer.send(.start(Start(channels: [])))
                try peer.send(.ping(Ping(sent: MonotonicClock.now())))
                // What was under way still comes.
                _ = try peer.receive(wait: 200)
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(300))
                _ = try peer.receive()
                var late = 0
                let end = MonotonicClock.now() + .milliseconds(800)
                while MonotonicClock.now() < end { late += try peer.receive(wait: 100).count }
                return late
            }
            // Pings and statistics alone.
            #expect(late < 1000)
            try await siege.end()
        }

        /// Studios that take nothing, but live: what waits for them is not missing for others.
        @Test func studiosThatTakeNothingStarveNobody() async throws {
            let siege = try await Siege()
            let stalled = try await onThread {
                var peers: [HostilePeer] = []
                for index in 0..<4 as Range<UInt8> {
                    let peer = try siege.accepted(host: 20 + index, room: 2048)
                    try peer.send(.start(Start(channels: [1, 2])))
                    peers.append(peer)
                    // Each holds other packets than the one before.
                    let end = MonotonicClock.now() + .milliseconds(1300)
                    while MonotonicClock.now() < end {
                        for peer in peers { try? peer.send(.stats(Stats())) }
                        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(150))
                    }
                }
                return Watched(Unsafe(peers))
            }
            let alive = Task.detached {
                try await onThread {
                    for _ in 0..<20 {
                        for peer in stalled.value.value { try? peer.send(.stats(Stats())) }
                        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(150))
                    }
                }
            }
            #expect(try await siege.isServed())
            let skipped = siege.stage.producer.statistics.framesSkipped
            #expect(try await siege.isServed())
            #expect(siege.stage.producer.statistics.framesSkipped <= skipped + 2)
            try await alive.value
            stalled.change { $0 = Unsafe([]) }
            try await siege.end()
        }

        /// A session that has not asked for media yet is as much a session as one that has.
        @Test func aStudioThatIsRemovedBeforeItStartsGetsNothing() async throws {
            let siege = try await Siege()
            let peer = try await onThread { Unsafe(try siege.accepted(host: 20)) }
            try siege.stage.producer.removePairedDevice(siege.hostile.keyID)
            let (isClosed, count) = try await onThread { () -> (Bool, Int) in
                try? peer.value.send(.start(Start(channels: [1, 2])))
                var count = 0
                let end = MonotonicClock.now() + .milliseconds(1500)
                while MonotonicClock.now() < end {
                    do { count += try peer.value.receive(wait: 100).count } catch { return (true, count) }
                }
                return (false, count)
            }
            #expect(isClosed)
            #expect(count < 1000)
            #expect(try await siege.isServed())
            try await siege.end()
        }

        /// Removed by another process: the running producer notices within a second or two.
        @Test func aDeviceThatAnotherProcessRemovesIsDisconnected() async throws {
            let siege = try await Siege()
            let other = try ProducerController(
                configuration: ProducerConfiguration(stateDirectory: siege.stage.file("producer")))
            let peer = try await onThread { Unsafe(try siege.accepted(host: 20)) }
            try other.removePairedDevice(siege.hostile.keyID)
            #expect(try await onThread { peer.value.isClosed(within: 30_000, alive: true) })
            #expect(try await siege.isServed())
            try await siege.end()
        }

        @Test func sessionsThatNeverStartAreCountedToo() async throws {
            let siege = try await Siege()
            let count = try await onThread {
                var peers: [HostilePeer] = []
                for index in 0..<20 as Range<UInt8> {
                    let peer = try siege.peer(host: 20 + index)
                    try peer.handshake()
                    try peer.send(HostileMessages.hello)
                    var answer: [UInt8] = []
                    while let more = try? peer.receive(wait: 300), !more.isEmpty {
                        answer += more
                        if answer.count > 150 { break }
                    }
                    // ACCEPT follows HELLO; REJECT is the other answer.
                    let header = FrameHeader(type: .accept, length: 0).bytes.prefix(6)
                    if answer.indices.contains(where: { answer[$0...].starts(with: header) }) { peers.append(peer) }
                    for peer in peers { try? peer.send(.stats(Stats())) }
                }
                return peers.count
            }
            #expect(count == 15)
            #expect(try await siege.isServed())
            try await siege.end()
        }

        @Test func dataBeyondTheRulesEndsItsSession() async throws {
            let siege = try await Siege()
            let message = ControlMessage.data(DataMessage(label: "x", bytes: Array(repeating: 1, count: 60_000)))
            let gate = Watched(false)
            siege.stage.producer.observeData { _, _ in gate.waitBlocking { $0 } }
            let closed = try await onThread { () -> [Bool] in
                // Not asked for; on the channel of the sound; more than was sent is taken; more than the window holds.
                let early = try siege.accepted(host: 20)
                try early.send(message, channel: 3)
                let elsewhere = try siege.accepted(host: 21)
                try elsewhere.send(.start(Start(channels: [2])))
                try elsewhere.send(message, channel: 2)
                let greedy = try siege.accepted(host: 22)
                try greedy.send(.start(Start(channels: [3])))
                try greedy.send(.dataCredit(DataCredit(taken: 1)))
                let flooding = try siege.accepted(host: 23)
                try flooding.send(.start(Start(channels: [3])))
                for _ in 0..<6 { try flooding.send(message, channel: 3) }
                return [early, elsewhere, greedy, flooding].map { $0.isClosed(within: 30_000, alive: true) }
            }
            gate.change { $0 = true }
            #expect(closed == [true, true, true, true])
            #expect(try await siege.isServed())
            try await siege.end()
        }

        @Test func mediaFromAStudioEndsItsSession() async throws {
            let siege = try await Siege()
            let closed = try await onThread {
                try [MessageType.video, .audio].map { type in
                    let peer = try siege.accepted(host: 20)
                    try peer.send(
                        HostilePeer.media(type, Array(repeating: 1, count: 5000), channel: 1, header: MediaHeader()))
                    return peer.isClosed(within: 30_000, alive: true)
                }
            }
            #expect(closed == [true, true])
            #expect(try await siege.isServed())
            try await siege.end()
        }

        @Test func silenceEndsASessionInTwoSeconds() async throws {
            let siege = try await Siege()
            let isClosed = try await onThread {
                let peer = try siege.accepted(host: 20)
                try peer.send(.start(Start(channels: [1])))
                return peer.isClosed(within: 30_000)
            }
            #expect(isClosed)
            #expect(try await siege.isServed())
            try await siege.end()
        }
    }
}

/// Handed from thread to thread, used by one at a time.
struct Unsafe<Value>: @unchecked Sendable {  // The test sees to it that one thread at a time uses it.
    let value: Value
    init(_ value: Value) { self.value = value }
}

/// Counts the packets of a session.
final class KeyFrameLog: PacketOutput, Sendable {
    struct Counts: Sendable {
        var frames = 0
        var sounds = 0
        var keyTimes: [MediaTimestamp] = []
    }

    let counts = Watched(Counts())
    var returnsAtOnce: Bool { true }
    let wantsRegularKeyFrames = false

    func expect(video: Bool, audio: Bool) {}
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {}
    func finish() {}

    func receive(_ coded: CodedPacket) {
        let packet = coded.packet
        counts.change {
            guard packet.codec.isVideo else {
                $0.sounds += 1
                return
            }
            $0.frames += 1
            if packet.header.isKey { $0.keyTimes.append(packet.header.captureTime) }
        }
    }
}
