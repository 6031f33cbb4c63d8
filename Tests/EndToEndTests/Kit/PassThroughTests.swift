import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import GantryTrust
import ProducerKit
import StudioKit
import Testing

/// Notes the bytes of every picture that comes.
private final class PacketLog: PacketOutput {
    /// The bytes of a packet, told in few words when they are not the right ones.
    struct Payload: Equatable, Sendable, CustomTestStringConvertible {
        var bytes: [UInt8]
        init(_ packet: MediaPacket) { bytes = Array(packet.bytes) }
        var testDescription: String { "\(bytes.count) bytes" }
    }

    struct Entry: Equatable, Sendable {
        var payload: Payload
        var isKey: Bool
        var sequence: UInt32
        var presentation: MediaTimestamp
    }

    let entries = Watched<[Entry]>([])
    var returnsAtOnce: Bool { true }
    var wantsRegularKeyFrames: Bool { false }

    func expect(video: Bool, audio: Bool) {}
    func formatChanged(_ format: StreamFormat, epoch: UInt16) {}
    func finish() {}
    func receive(_ coded: CodedPacket) {
        let packet = coded.packet
        guard packet.codec.isVideo else { return }
        let entry = Entry(
            payload: Payload(packet), isKey: packet.header.isKey, sequence: packet.header.sequence,
            presentation: packet.header.presentationTime)
        entries.change { $0.append(entry) }
    }
}

extension EndToEnd {
    /// What a device has coded itself reaches the studio byte by byte.
    @Suite struct PassThroughTests {
        private static func settings(_ codec: MediaCodec) -> ProducerConfiguration.VideoSettings {
            var settings = ProducerConfiguration.VideoSettings(sourceType: .camera)
            settings.coded = VideoStreamFormat(
                codec: codec, width: 320, height: 180, frameRate: .fps30,
                color: codec == .mjpeg
                    ? ColorDescription(primaries: 1, transfer: 1, matrix: 6, isFullRange: true) : .bt709)
            return settings
        }

        /// Hands the packets on, each when those before it that come through have come; the numbers at which a key frame
        /// was asked for.
        private func play(
            _ packets: [MediaPacket], arriving: Set<UInt32>, to producer: ProducerController, _ log: PacketLog
        ) async throws -> [UInt32] {
            var asked: [UInt32] = []
            var count = 0
            for packet in packets {
                let now = MonotonicClock.now()
                let copy = MediaClips.copy(packet, stamp: now.microseconds)
                copy.header.captureTime = now
                if producer.enqueue(coded: copy) { asked.append(packet.header.sequence) }
                _ = try await onThread { producer.waitForVideoRoom(until: MonotonicClock.now() + .seconds(10)) }
                if arriving.contains(packet.header.sequence) { count += 1 }
                let expected = count
                #expect(try await log.entries.wait(until: { $0.count >= expected }))
            }
            return asked
        }

        private func take(
            _ codec: MediaCodec, _ packets: [MediaPacket], arriving: some Sequence<Int>,
            outputs: [any PacketOutput] = []
        ) async throws -> (entries: [PacketLog.Entry], run: SessionRun, asked: [UInt32], statistics: ProducerStatistics)
        {
            let stage = try Stage(video: Self.settings(codec), audio: nil)
            try await stage.pair()
            let log = PacketLog()
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = outputs + [log]
            // So that pictures are decoded, too.
            configuration.videoOutputs = [StageMeter()]
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            let asked = try await play(packets, arriving: Set(arriving.map { UInt32($0) }), to: stage.producer, log)
            try await stage.stop()
            let statistics = stage.producer.statistics
            try await run.end()
            return (log.entries.value, run, asked, statistics)
        }

        @Test func accessUnitsOfACameraComeUntouched() async throws {
            let packets = try await MediaClips.h264(frames: 40, keyEvery: 20)
            let take = try await take(.h264, packets, arriving: 0..<40)
            #expect(take.entries.map(\.payload) == packets.map(PacketLog.Payload.init))
            #expect(take.entries.map(\.isKey) == packets.map(\.header.isKey))
            #expect(take.entries.map(\.sequence) == (0..<40).map { UInt32($0) })
            guard case .video(let format) = take.run.state.value.formats.last else {
                Issue.record("no format")
                return
            }
            #expect(format.codec == .h264 && format.width == 320 && format.height == 180)
            #expect(format.parameterSets.starts(with: [0, 0, 0, 1]))
            // They come faster than in life: a decoder that is behind leaves some out.
            #expect((1...40).contains(take.run.session.statistics.framesDecoded))
            #expect(take.statistics.framesSent == 40)
        }

        @Test func behindALossNothingComesBeforeTheNextKeyFrame() async throws {
            let packets = try await MediaClips.h264(frames: 50, keyEvery: 20)
            let lossy = packets.filter { $0.header.sequence != 5 && $0.header.sequence != 43 }
            let arrived = Set(0..<5).union(20..<43)
            let take = try await take(.h264, lossy, arriving: arrived)
            #expect(
                take.entries.map(\.payload) == arrived.sorted().map { PacketLog.Payload(packets[$0]) })
            // A gap is not a loss on the way: the numbers have none.
            #expect(take.entries.map(\.sequence) == (0..<UInt32(arrived.count)).map { $0 })
            #expect((1...arrived.count).contains(take.run.session.statistics.framesDecoded))
            // Whoever joins needs a key frame. The first packet is one: when the encoding thread is quick, nobody asks before the
            // loss.
            #expect(take.asked.first.map { $0 == 0 || (6..<20).contains($0) } == true, "\(take.asked)")
            #expect(take.statistics.framesSkipped == lossy.count - arrived.count)
        }

        /// 4 MB is what a studio takes: for more it would end the session.
        @Test func picturesThatAreTooLargeAreLeftOut() async throws {
            let packets = (0..<3).map { index in
                let packet = MediaPacket()
                packet.codec = .mjpeg
                packet.header.sequence = UInt32(index)
                packet.header.isKey = true
                let room = WireLimits.maximumVideo - WireLimits.mediaPrefixSize
                var bytes = [UInt8](repeating: 1, count: index == 1 ? room + 1 : index == 2 ? room : 1000)
                bytes.replaceSubrange(0..<2, with: [0xff, 0xd8])
                bytes.withUnsafeBytes { packet.append($0) }
                return packet
            }
            let take = try await take(.mjpeg, packets, arriving: [0, 2])
            #expect(take.entries.map(\.payload.bytes.count) == [packets[0].count, packets[2].count])
            #expect(take.run.state.value.error == nil)
            #expect(take.statistics.framesSkipped == 1)
        }

        @Test func aCameraIsAskedForAKeyFrameBehindALoss() async throws {
            let packets = try await MediaClips.h264(frames: 2, keyEvery: 20)
            let stage = try Stage(video: Self.settings(.h264), audio: nil)
            try await stage.pair()
            let log = PacketLog()
            var configuration = StudioSessionConfiguration()
            configuration.packetOutputs = [log]
            // So that pictures are decoded, too.
            configuration.videoOutputs = [StageMeter()]
            let run = try await stage.connect(configuration)
            #expect(try await stage.waitForReceivers(1))
            _ = try await play([packets[0]], arriving: [0], to: stage.producer, log)
            let producer = stage.producer
            // Number 1 is lost. Requests keep a distance from each other: that may take a moment.
            let isAsked = try await onThread {
                let end = MonotonicClock.now() + .seconds(10)
                var number: UInt32 = 2
                while MonotonicClock.now() < end {
                    let copy = MediaClips.copy(
                        packets[1], stamp: MonotonicClock.now().microseconds, sequence: number)
                    copy.header.captureTime = MonotonicClock.now()
                    if producer.enqueue(coded: copy) { return true }
                    _ = producer.waitForVideoRoom(until: end)
                    number &+= 1
                }
                return false
            }
            #expect(isAsked)
            #expect(log.entries.value.count == 1)
            try await stage.stop()
            try await run.end()
        }

        @Test func whatBeginsInTheMiddleWaitsForItsDescription() async throws {
            let packets = try await MediaClips.h264(frames: 40, keyEvery: 20)
            let take = try await take(.h264, Array(packets.dropFirst(7)), arriving: 20..<40)
            #expect(take.entries.map(\.payload) == packets[20...].map(PacketLog.Payload.init))
            #expect(take.entries.first?.isKey == true)
        }

        @Test func jpegPicturesComeUntouchedAndAreRecorded() async throws {
            let packets = try await MediaClips.mjpeg(frames: 12)
            let folder = try TestFolder()
            let path = folder.file("take.mkv")
            let recording = try MuxOutput.recording(path: path, overwrite: false) { Issue.record("\($0)") }
            // A missing one is no harm to the others.
            let lossy = packets.filter { $0.header.sequence != 4 }
            let take = try await take(.mjpeg, lossy, arriving: 0..<12, outputs: [recording])
            #expect(take.entries.map(\.payload) == lossy.map(PacketLog.Payload.init))
            #expect(take.run.session.statistics.framesDecoded == 11)
            let facts = try await Judge.probe(path)
            #expect(facts.video["codec_name"] == "mjpeg")
            #expect(facts.width == 320 && facts.height == 180)
            #expect(recording.summary?.frames == 11)
        }

        @Test func aStudioThatCannotDecodeItIsToldSo() async throws {
            let stage = try Stage(video: Self.settings(.mjpeg), audio: nil)
            try await stage.pair()
            let identity = try Identity.loadOrCreate(in: try StateFolder.open(stage.file("studio")))
            let port = stage.producer.port ?? 0
            let answer = try await onThread {
                let peer = try HostilePeer.studio(port: port, identity: identity)
                try peer.handshake()
                try peer.send(
                    .hello(Hello(name: DisplayName("Old"), model: "test", version: "1", codecs: [.h264, .opus])))
                while true {
                    if case .reject(let reject) = try peer.nextMessage() { return reject }
                }
            }
            #expect(answer.reason == .unsupported)
            try await stage.stop()
        }
    }
}
