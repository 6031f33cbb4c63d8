import Foundation
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
    /// A producer that is paired, and hostile: the studio ends the session in order, with every output attached.
    @Suite struct HostileProducerTests {
        /// A studio, and the key and port of the hostile producer.
        private final class Trap: Sendable {
            let stage: Stage
            let identity: Identity
            private let listener: TCPListener
            private let links = Watched<[SocketLink]>([])

            init() async throws {
                stage = try Stage()
                try await stage.pair()
                try await stage.stop()
                identity = try Identity.loadOrCreate(in: try StateFolder.open(stage.file("producer")))
                listener = try TCPListener(port: 0)
                try listener.start(threadName: "test-listen") { [links] link, _ in links.change { $0.append(link) } }
            }

            deinit { listener.stop() }

            /// Every output there is, in files of that name.
            func outputs(_ name: String) throws -> StudioSessionConfiguration {
                let failed: @Sendable (GantryError) -> Void = { _ in }
                var configuration = StudioSessionConfiguration()
                configuration.packetOutputs = [
                    try MuxOutput.recording(path: stage.file(name + ".mp4"), overwrite: true, failed: failed),
                    try MuxOutput.recording(path: stage.file(name + ".mkv"), overwrite: true, failed: failed),
                    try MuxOutput.transportStream(path: stage.file(name + ".ts"), overwrite: true, failed: failed),
                ]
                configuration.videoOutputs = [
                    try SnapshotOutput(path: stage.file(name + ".png"), overwrite: true, failed: failed),
                    try Y4MOutput(path: stage.file(name + ".y4m"), overwrite: true, failed: failed), LatencyMeter(),
                ]
                let skew = SkewMeter()
                configuration.videoOutputs.append(skew)
                configuration.audioOutputs = [
                    try WAVOutput(path: stage.file(name + ".wav"), overwrite: true, failed: failed), skew,
                ]
                return configuration
            }

            /// One session in which the producer does `attack`, as far as TLS lets it. Gives the session when it has
            /// ended.
            func session(
                _ configuration: StudioSessionConfiguration, cutAfter budget: Int? = nil,
                _ attack: @escaping @Sendable (HostilePeer) throws -> Void
            ) async throws -> SessionRun {
                let run = try SessionRun(
                    stage.studio.makeSession(
                        ProducerTarget(endpoint: Endpoint(host: "127.0.0.1", port: listener.port)),
                        configuration: configuration))
                #expect(try await links.wait { !$0.isEmpty })
                let links = links
                let identity = identity
                try await onThread {
                    guard let link = links.value.last else { return }
                    links.change { $0 = [] }
                    let peer = try HostilePeer(.server, over: link, identity: identity, cutAfter: budget)
                    do {
                        try peer.handshake()
                        try attack(peer)
                    } catch {
                        // Closed by the studio, or cut.
                    }
                }
                run.session.close()
                try await run.end()
                return run
            }

            /// One session that outlives its connections: in each the producer does the next of `attacks`, and is gone.
            func session(
                _ configuration: StudioSessionConfiguration, attacks: [@Sendable (HostilePeer) throws -> Void]
            ) async throws -> SessionRun {
                let run = try SessionRun(
                    stage.studio.makeSession(
                        ProducerTarget(endpoint: Endpoint(host: "127.0.0.1", port: listener.port)),
                        configuration: configuration))
                let links = links
                let identity = identity
                for attack in attacks {
                    #expect(try await links.wait { !$0.isEmpty })
                    guard !links.value.isEmpty else { break }
                    try await onThread {
                        guard let link = links.value.first else { return }
                        links.change { $0 = [] }
                        let peer = try HostilePeer(.server, over: link, identity: identity)
                        do { try attack(peer) } catch {}
                    }
                }
                return run
            }

            /// A session with a producer in order: after all that came before.
            func servesTheGenuineOne() async throws {
                let stage = stage
                try await onThread { try stage.producer.start() }
                let run = try await stage.connect()
                async let end = SourceRun(stage.producer).play(try TestPatternSource.small(seconds: 2))
                #expect(try await run.state.wait { $0.hasFrame || $0.isEnded })
                _ = try await end
                #expect(try await run.close() == nil)
                #expect(run.session.statistics.framesDecoded > 0)
                try await stage.stop()
            }
        }

        /// HELLO, ACCEPT, and both formats.
        private static func begin(_ peer: HostilePeer, _ media: [CodedMedia.AccessUnit] = []) throws {
            _ = try peer.receive(wait: 2000)
            try peer.send(HostileMessages.hello)
            try peer.send(HostileMessages.accept)
            _ = try peer.receive(wait: 2000)
            try peer.send(HostileMessages.videoFormat(parameterSets: media.first?.parameterSets ?? []))
            try peer.send(HostileMessages.audioFormat())
        }

        /// Counts begin with the session, over its connections, whatever the producer has counted before.
        @Test func whatTheProducerLeftOutIsCountedFromTheBeginning() async throws {
            let trap = try await Trap()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .always
            let told = Watched(0)
            func tells(_ counts: [(sent: UInt64, dropped: UInt64)]) -> @Sendable (HostilePeer) throws -> Void {
                { peer in
                    try peer.handshake()
                    try Self.begin(peer)
                    for (sent, dropped) in counts {
                        try peer.send(.stats(Stats(framesSent: sent, framesDropped: dropped)))
                    }
                    // The studio goes behind all that was sent before.
                    try peer.send(.bye(Bye(reason: .normal)))
                    #expect(peer.isClosed(within: 30_000))
                    told.change { $0 += 1 }
                }
            }
            let run = try await trap.session(
                configuration, attacks: [tells([(1000, 500), (1010, 502)]), tells([(7, 3), (9, 4), (9, 4)])])
            #expect(told.value == 2)
            let session = run.session
            #expect(try await onThread { waitUntil { session.statistics.producerFramesDropped == 3 } })
            #expect(session.statistics.producerFramesSent == 12)
            session.close()
            _ = try await run.end()

            let wild = try await trap.session(
                configuration, attacks: [tells([(0, 0), (.max, .max)]), tells([(.max, 0), (0, .max)])])
            let counted = wild.session
            #expect(try await onThread { waitUntil { counted.statistics.producerFramesDropped == .max } })
            counted.close()
            _ = try await wild.end()
        }

        /// Stamps from the ends of time, in two connections: the third is asked for what is left of the length.
        @Test func aLengthOutlivesEveryStamp() async throws {
            let trap = try await Trap()
            var configuration = try trap.outputs("ages")
            configuration.reconnection = .always
            configuration.duration = .seconds(5)
            let connections = Watched(0)
            let attack: @Sendable (HostilePeer) throws -> Void = { peer in
                try peer.handshake()
                try Self.begin(peer)
                connections.change { $0 += 1 }
                for (index, time) in [Int64.max, 0].enumerated() {
                    let header = MediaHeader(
                        sequence: UInt32(index), presentationTime: MediaTimestamp(microseconds: time), isKey: true)
                    try peer.send(HostilePeer.media(.video, [0, 0, 1, 0x65], channel: 1, header: header))
                }
                _ = try peer.receive(wait: 500)
            }
            let run = try await trap.session(configuration, attacks: [attack, attack, attack])
            #expect(connections.value == 3)
            try await run.close()
            try await trap.servesTheGenuineOne()
        }

        /// A connection that stood counts, also when nothing had come yet and the next attempt fails.
        @Test func aLossIsMendedBehindAnAttemptThatFails() async throws {
            let trap = try await Trap()
            var configuration = StudioSessionConfiguration()
            configuration.reconnection = .afterLoss
            let connections = Watched(0)
            let accept: @Sendable (HostilePeer) throws -> Void = { peer in
                try peer.handshake()
                try Self.begin(peer)
                connections.change { $0 += 1 }
            }
            let run = try await trap.session(configuration, attacks: [accept, { _ in }, accept])
            #expect(connections.value == 2)
            // The attempt that failed is not told by itself.
            #expect(run.state.value.losses.count >= 1)
            try await run.close()
        }

        @Test func whateverAProducerSaysTheStudioGoesOn() async throws {
            let trap = try await Trap()
            for seed in 1...24 as ClosedRange<UInt64> {
                _ = try await trap.session(try trap.outputs("fuzz")) { peer in
                    var messages = HostileMessages(seed: seed)
                    if seed % 4 == 1 { _ = try peer.receive(wait: 100) }
                    if seed % 4 == 2 { try peer.send(HostileMessages.hello) }
                    if seed % 4 > 2 || seed % 4 == 0 { try Self.begin(peer) }
                    for _ in 0..<150 {
                        try peer.send(messages.next())
                        _ = try peer.receive()
                    }
                    if seed % 3 == 0 { try peer.send(.bye(Bye(reason: .normal))) }
                }
            }
            try await trap.servesTheGenuineOne()
        }

        /// Media alone, within the protocol, but damaged in every way, with stamps from everywhere.
        @Test func damagedMediaHarmsNothing() async throws {
            let trap = try await Trap()
            let pictures = try CodedMedia.pictures(width: 320, height: 180, count: 20)
            let sound = try CodedMedia.sound(count: 20)
            for seed in 1...10 as ClosedRange<UInt64> {
                let run = try await trap.session(try trap.outputs("damaged")) { peer in
                    var messages = HostileMessages(seed: seed)
                    try Self.begin(peer, pictures)
                    var sequence: UInt32 = seed == 1 ? .max - 10 : 0
                    for index in 0..<120 {
                        var unit = pictures[index % pictures.count]
                        var packet = sound[index % sound.count]
                        if messages.below(3) == 0 {
                            var bytes = unit.bytes
                            for _ in 0...messages.below(20) { bytes[messages.below(bytes.count)] ^= 0x41 }
                            if messages.below(4) == 0 { bytes = Array(bytes.prefix(messages.below(bytes.count))) }
                            unit = .init(bytes: bytes, isKey: unit.isKey, parameterSets: [])
                        }
                        if messages.below(3) == 0 { packet = messages.bytes(messages.below(60)) }
                        var header = messages.header()
                        if messages.below(8) > 0 { header.sequence = sequence }
                        if messages.below(3) > 0 {
                            header.presentationTime = MediaTimestamp(microseconds: Int64(index) * 33_333)
                        }
                        header.isKey = unit.isKey || messages.below(10) == 0
                        try peer.send(HostilePeer.media(.video, unit.bytes, channel: 1, header: header))
                        try peer.send(HostilePeer.media(.audio, packet, channel: 2, header: header))
                        sequence &+= 1
                        _ = try peer.receive()
                    }
                    try peer.send(.bye(Bye(reason: .normal)))
                    #expect(peer.isClosed(within: 30_000))
                }
                #expect(run.session.statistics.framesReceived == 120)
                // What a tool prints of it.
                _ = "\(run.session.statistics)"
            }
            try await trap.servesTheGenuineOne()
        }

        /// Sizes, rates, rotations and parameter sets that no producer has, another size with each picture.
        @Test func formatsMayChangeWithEveryPicture() async throws {
            let trap = try await Trap()
            let sizes = [(16, 16), (8192, 16), (16, 8192), (320, 180), (18, 34), (1280, 720)]
            let units = try sizes.map { ($0, try CodedMedia.pictures(width: $0.0, height: $0.1, count: 1)[0]) }
            let run = try await trap.session(try trap.outputs("formats")) { peer in
                try Self.begin(peer)
                var messages = HostileMessages(seed: 7)
                for index in 0..<60 {
                    let (size, unit) = units[index % units.count]
                    let rates = [FrameRate(1000, 1), FrameRate(1, 60), FrameRate(.max, .max), FrameRate(30000, 1001)]
                    let isOdd = messages.below(3) == 0
                    try peer.send(
                        HostileMessages.videoFormat(
                            width: isOdd ? 8192 : size.0, height: isOdd ? 1 : size.1, epoch: UInt16(index),
                            rate: rates[index % rates.count] ?? .fps30, rotation: [0, 90, 180, 270][index % 4],
                            parameterSets: messages.below(2) == 0
                                ? messages.bytes(messages.below(4096)) : unit.parameterSets,
                            color: ColorDescription(primaries: 255, transfer: 254, matrix: 253, isFullRange: true)))
                    try peer.send(
                        HostileMessages.audioFormat(
                            samples: 1 + messages.below(5760), channels: 1 + messages.below(8),
                            head: messages.bytes(messages.below(300))))
                    let header = MediaHeader(
                        sequence: UInt32(index), presentationTime: MediaTimestamp(microseconds: Int64(index) * 100_000),
                        captureTime: MonotonicClock.now(), epoch: UInt16(index), isKey: true)
                    try peer.send(HostilePeer.media(.video, unit.bytes, channel: 1, header: header))
                    _ = try peer.receive(wait: 5)
                }
                try peer.send(.bye(Bye(reason: .normal)))
                #expect(peer.isClosed(within: 30_000))
            }
            #expect(run.session.statistics.framesReceived == 60)
            try await trap.servesTheGenuineOne()
        }

        /// The largest packets that the protocol allows, one after the other.
        @Test func theLargestPacketsAreNotKept() async throws {
            let trap = try await Trap()
            let before = Holdings.current
            let peak = Watched(0)
            _ = try await trap.session(try trap.outputs("large")) { peer in
                try Self.begin(peer)
                let payload = [UInt8](repeating: 0x5a, count: WireLimits.maximumVideo - MediaPrefix.size)
                for index in 0..<40 as Range<UInt32> {
                    let header = MediaHeader(
                        sequence: index, presentationTime: MediaTimestamp(microseconds: Int64(index) * 33_333),
                        isKey: true)
                    try peer.send(HostilePeer.media(.video, payload, channel: 1, header: header))
                    _ = try peer.receive()
                    let now = ProcessUsage.current.residentBytes
                    peak.change { $0 = max($0, now) }
                }
            }
            #expect(peak.value - before.residentBytes < 300 << 20)
            try await trap.servesTheGenuineOne()
        }

        /// The largest picture that is decoded, which costs 53 MB each time it is kept.
        @Test func theLargestPictureStaysWithinBounds() async throws {
            let trap = try await Trap()
            let units = try CodedMedia.pictures(width: 8192, height: 4320, count: 6)
            let before = Holdings.current
            let peak = Watched(0)
            _ = try await trap.session(StudioSessionConfiguration()) { peer in
                try Self.begin(peer, units)
                for index in 0..<14 {
                    let unit = units[index % units.count]
                    let header = MediaHeader(
                        sequence: UInt32(index), presentationTime: MediaTimestamp(microseconds: Int64(index) * 33_333),
                        isKey: unit.isKey)
                    try peer.send(HostilePeer.media(.video, unit.bytes, channel: 1, header: header))
                    for _ in 0..<4 {
                        _ = try peer.receive(wait: 40)
                        try peer.send(.stats(Stats()))
                        let now = ProcessUsage.current.residentBytes
                        peak.change { $0 = max($0, now) }
                    }
                }
            }
            #expect(peak.value - before.residentBytes < 1500 << 20)
        }

        /// Sound that claims to be an hour later each time: no silence is made up for it.
        @Test func stampsThatRunAheadDoNotFillTheDisk() async throws {
            let trap = try await Trap()
            let sound = try CodedMedia.sound(count: 1)[0]
            let pictures = try CodedMedia.pictures(width: 64, height: 64, count: 1)
            _ = try await trap.session(try trap.outputs("ahead")) { peer in
                try Self.begin(peer, pictures)
                for index in 0..<30 as Range<UInt32> {
                    let time = MediaTimestamp(microseconds: Int64(index) * 3_599_000_000)
                    let header = MediaHeader(
                        sequence: index, presentationTime: time, captureTime: time, isKey: index == 0)
                    if index == 0 {
                        try peer.send(HostilePeer.media(.video, pictures[0].bytes, channel: 1, header: header))
                    }
                    try peer.send(HostilePeer.media(.audio, sound, channel: 2, header: header))
                }
                MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(300))
            }
            for name in ["ahead.wav", "ahead.mp4", "ahead.mkv", "ahead.ts"] {
                let size = try FileManager.default.attributesOfItem(atPath: trap.stage.file(name))[.size] as? Int
                #expect((size ?? 0) < 30 << 20, "\(name)")
            }
        }

        @Test("S12: what is received goes and comes again while the connection stands")
        func streamsGoAndCome() async throws {
            let trap = try await Trap()
            let media = try CodedMedia.pictures(width: 320, height: 180, count: 3)
            let states = Watched<[PlayerState]>([])
            let steps = Watched(0)
            let configuration = StudioSessionConfiguration()
            let run = try await trap.session(configuration) { peer in
                try Self.begin(peer, media)
                try peer.send(.streams(Streams(removed: [1, 7])))
                _ = try peer.receive(wait: 1000)
                try peer.send(.streams(Streams(added: [Self.camera(channel: 3), Self.camera(channel: 4)])))
                // START again, with the new channel.
                _ = try peer.receive(wait: 2000)
                steps.change { $0 = 1 }
                try peer.send(HostileMessages.videoFormat(channel: 3, parameterSets: media[0].parameterSets))
                for (number, unit) in media.enumerated() {
                    try peer.send(
                        HostilePeer.media(
                            .video, unit.bytes, channel: 3,
                            header: MediaHeader(
                                sequence: UInt32(number), presentationTime: .init(microseconds: Int64(number) * 33_000),
                                epoch: 1, isKey: number == 0)))
                }
                try peer.send(.streams(Streams(removed: [2, 3])))
                _ = try peer.receive(wait: 1000)
                states.change { $0 = [] }
                _ = peer.isClosed(within: 500, alive: true)
            }
            let state = run.state.value
            #expect(state.lostStreams.map(\.channel) == [1, 2, 3])
            #expect(state.hasFrame)
            #expect(state.changes.first?.created.map(\.channel) == [1, 2])
            #expect(state.changes.contains { $0.created.map(\.channel) == [3, 4] && $0.created[0].source == .camera })
            #expect(state.changes.contains { $0.changed.first?.channel == 3 && $0.changed.first?.width == 320 })
            #expect(state.players.contains { $0.contains(.stopped) && $0.contains(.active) })
            #expect(state.players.contains { $0.contains(.playing) })
            #expect(run.session.streams.isEmpty)
            try await trap.servesTheGenuineOne()
        }

        private static func camera(channel: UInt16) -> StreamDescription {
            StreamDescription(
                channel: channel, kind: .video, codec: .h264, source: .camera,
                created: MediaTimestamp(microseconds: 5), name: "second")
        }

        /// A format of what was not asked for must not make an output wait for it.
        @Test func formatsThatWereNotAskedForAreIgnored() async throws {
            let trap = try await Trap()
            let sound = try CodedMedia.sound(count: 60)
            let recording = try MuxOutput.recording(path: trap.stage.file("sound.mkv"), overwrite: false) { _ in }
            var configuration = StudioSessionConfiguration()
            configuration.wantsVideo = false
            configuration.packetOutputs = [recording]
            _ = try await trap.session(configuration) { peer in
                _ = try peer.receive(wait: 2000)
                try peer.send(HostileMessages.hello)
                try peer.send(HostileMessages.accept)
                _ = try peer.receive(wait: 2000)
                for channel in [1, 2, 5] as [UInt16] { try peer.send(HostileMessages.videoFormat(channel: channel)) }
                try peer.send(HostileMessages.audioFormat(channel: 7, channels: 1))
                try peer.send(HostileMessages.audioFormat())
                for (index, packet) in sound.enumerated() {
                    let header = MediaHeader(
                        sequence: UInt32(index), presentationTime: MediaTimestamp(microseconds: Int64(index) * 10_000))
                    try peer.send(HostilePeer.media(.audio, packet, channel: 2, header: header))
                }
                try peer.send(.bye(Bye(reason: .normal)))
                _ = peer.isClosed(within: 30_000)
            }
            #expect((recording.summary?.duration ?? .zero) >= .milliseconds(590))
        }

        @Test func silenceGoodbyeAndCutsEndTheSession() async throws {
            let trap = try await Trap()
            let silent = try await trap.session(StudioSessionConfiguration()) { peer in
                try Self.begin(peer)
                #expect(peer.isClosed(within: 30_000))
            }
            #expect(silent.state.value.error?.code == .peerLost)
            let polite = try await trap.session(StudioSessionConfiguration()) { peer in
                try Self.begin(peer)
                // In the middle of a picture.
                try peer.send(
                    FrameHeader(type: .video, flags: .more, channel: 1, length: 100).bytes
                        + Array(repeating: 1, count: 100))
                try peer.send(.bye(Bye(reason: .shutdown)))
                #expect(peer.isClosed(within: 30_000))
            }
            #expect(polite.state.value.error == nil)
            for cut in stride(from: 1, to: 2600, by: 61) {
                let run = try await trap.session(StudioSessionConfiguration(), cutAfter: cut) { peer in
                    try Self.begin(peer)
                    for _ in 0..<40 { try peer.send(.stats(Stats())) }
                }
                #expect(run.state.value.isEnded)
            }
            try await trap.servesTheGenuineOne()
        }

        /// Sessions come and go; nothing of them stays.
        @Test func twoHundredSessionsLeaveNothingBehind() async throws {
            let trap = try await Trap()
            let pictures = try CodedMedia.pictures(width: 64, height: 64, count: 2)
            var before = Holdings.current
            var openBefore = 0
            for index in 0..<200 {
                if index == 40 { (before, openBefore) = (.current, ProcessView(getpid()).openFiles.count) }
                _ = try await trap.session(index % 4 == 0 ? try trap.outputs("many") : StudioSessionConfiguration()) {
                    peer in
                    if index % 5 == 0 { return }
                    try Self.begin(peer, pictures)
                    for (number, unit) in pictures.enumerated() {
                        let header = MediaHeader(
                            sequence: UInt32(number),
                            presentationTime: MediaTimestamp(microseconds: Int64(number) * 33_333), isKey: unit.isKey)
                        try peer.send(HostilePeer.media(.video, unit.bytes, channel: 1, header: header))
                    }
                    try peer.send(.bye(Bye(reason: .normal)))
                    _ = peer.isClosed(within: 30_000)
                }
            }
            let (limit, openLimit) = (before, openBefore)
            // Of 160 sessions: what each of them left behind would be many times as much as others hold here by chance.
            #expect(
                try await onThread {
                    waitUntil {
                        let after = Holdings.current
                        return after.sessionThreads <= limit.sessionThreads + Holdings.poolThreads
                            && ProcessView(getpid()).openFiles.count <= openLimit + 40
                            && after.residentBytes - limit.residentBytes < 48 << 20
                    }
                }, "\(ProcessView(getpid()).openFiles.count - openLimit) more descriptors, \(Holdings.current)")
        }
    }
}
