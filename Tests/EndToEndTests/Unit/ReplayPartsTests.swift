import Foundation
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@testable import GantryCore
@testable import StudioKit

@Suite struct ReplayIndexTests {
    /// A picture every 100 ms, a key frame every second.
    private func filled(seconds: Int, span: Int64 = 3_000_000, bytes: Int = 1 << 20) -> ReplayIndex<Int> {
        var index = ReplayIndex<Int>(capacity: 1000, span: span, byteLimit: bytes)
        for number in 0..<seconds * 10 {
            let isTaken = index.append(
                position: Int64(number) * 100_000, isVideo: true, isKey: number % 10 == 0, bytes: 100, payload: number)
            #expect(isTaken)
        }
        return index
    }

    @Test func wholeGroupsGoOut() {
        let index = filled(seconds: 10)
        // 9.9 s is the newest; 6 s is the last key frame from which three seconds are there.
        #expect(index.held == 6_000_000...9_900_000)
        #expect(index.first == 60 && index.end == 100 && index.bytes == 4000)
        #expect(index[59] == nil && index[100] == nil)
        #expect(index[60]?.payload == 60 && index[60]?.isCut == true)
    }

    @Test func decodingBeginsAtTheCutBefore() {
        let index = filled(seconds: 10)
        #expect(index.cut(atOrBefore: 8_750_000) == 80)
        #expect(index.cut(atOrBefore: 9_000_000) == 90)
        #expect(index.cut(atOrBefore: .max) == 90)
        // What is older has gone.
        #expect(index.cut(atOrBefore: 0) == 60)
        #expect(ReplayIndex<Int>(capacity: 1, span: 1, byteLimit: 1).cut(atOrBefore: 0) == nil)
    }

    @Test func bytesAreALimit() {
        var index = filled(seconds: 10, bytes: 2500)
        #expect(index.bytes <= 2500)
        #expect(index.held == 8_000_000...9_900_000)
        let isTooLarge = index.append(position: 10_000_000, isVideo: true, isKey: true, bytes: 2501, payload: 0)
        #expect(!isTooLarge)
        let isTaken = index.append(position: 10_000_000, isVideo: true, isKey: true, bytes: 2500, payload: 0)
        #expect(isTaken)
        #expect(index.count == 1 && index.bytes == 2500)
    }

    @Test func aStreamWithoutKeyFramesIsBoundedToo() {
        var index = ReplayIndex<Int>(capacity: 100_000, span: 1_000_000, byteLimit: 1 << 30)
        for number in 0..<2000 {
            _ = index.append(
                position: Int64(number) * 33_000, isVideo: true, isKey: number == 0, bytes: 1, payload: number)
        }
        #expect(index.count <= 7_100_000 / 33_000)
        #expect(index.held == nil, "nothing of it could be decoded")
    }

    @Test func soundAloneIsCutAnywhere() {
        var index = ReplayIndex<Int>(capacity: 1000, span: 1_000_000, byteLimit: 1 << 20)
        for number in 0..<500 {
            _ = index.append(
                position: Int64(number) * 10_000, isVideo: false, isKey: false, bytes: 1, payload: number)
        }
        #expect(index.held == 3_990_000...4_990_000)
    }

    @Test func soundBesideAPictureIsNoCut() {
        var index = ReplayIndex<Int>(capacity: 1000, span: 10_000_000, byteLimit: 1 << 20)
        func add(_ position: Int64, isVideo: Bool, isKey: Bool = false) {
            _ = index.append(position: position, isVideo: isVideo, isKey: isKey, bytes: 1, payload: 0)
        }
        add(0, isVideo: true, isKey: true)
        add(1_000_000, isVideo: false)
        #expect(index.cut(atOrBefore: 1_500_000) == 0)
        // The picture is hidden since then.
        add(3_000_000, isVideo: false)
        #expect(index.cut(atOrBefore: 3_500_000) == 2)
    }

    /// Whatever comes: the bounds hold, and what is held is the newest without a hole.
    @Test func randomStreams() {
        var random = SeededRandom(seed: 11)
        for _ in 0..<50 {
            let capacity = Int(random.next() % 40) + 1
            var index = ReplayIndex<Int>(capacity: capacity, span: 500_000, byteLimit: 400)
            var position: Int64 = 0
            var expected: [Int] = []
            for number in 0..<400 {
                position += Int64(random.next() % 60_000)
                let size = Int(random.next() % 60)
                if index.append(
                    position: position, isVideo: random.next() % 3 > 0, isKey: random.next() % 8 == 0, bytes: size,
                    payload: number)
                {
                    expected.append(number)
                }
                #expect(index.count <= capacity && index.bytes <= 400 && index.count > 0)
                let held = (index.first..<index.end).compactMap { index[$0] }
                #expect(held.map(\.payload) == Array(expected.suffix(index.count)))
                #expect(held.reduce(0) { $0 + $1.bytes } == index.bytes)
                let cut = held.firstIndex { $0.isCut }
                #expect(index.oldestCut == cut.map { index.first + $0 })
            }
        }
    }
}

@Suite struct ReplayBufferTests {
    private func packet(_ number: Int, isKey: Bool, size: Int = 1000) -> MediaPacket {
        let packet = MediaPacket()
        packet.header = MediaHeader(
            sequence: UInt32(number), presentationTime: .init(microseconds: Int64(number) * 40_000), isKey: isKey)
        packet.codec = .h264
        [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size).withUnsafeBytes { packet.append($0) }
        return packet
    }

    private func format(_ width: Int) -> StreamFormat {
        .video(
            VideoStreamFormat(
                codec: .h264, width: width, height: 90, frameRate: .fps30, color: ColorDescription.bt709))
    }

    private func content(_ held: ReplayPacket) -> (UInt32, Int, UInt8?) {
        let copy = MediaPacket()
        held.copy(to: copy)
        return (copy.header.sequence, copy.count, copy.bytes.last)
    }

    @Test func packetsComeOutAsTheyWentIn() throws {
        let buffer = ReplayBuffer(ReplaySettings(duration: .seconds(2), byteLimit: 1 << 20))
        buffer.formatChanged(format(160))
        // What no key frame came before is of no use.
        buffer.add(packet(0, isKey: false))
        for number in 1..<100 {
            // One that needs memory of its own, in between.
            buffer.add(packet(number, isKey: number % 10 == 1, size: number == 91 ? 300_000 : 1000 + number))
        }
        let snapshot = buffer.snapshot()
        let contents = snapshot.packets.map(content)
        let numbers = contents.map(\.0)
        #expect(numbers == Array(21...99), "the last key frame from which 3 seconds are there")
        #expect(contents.allSatisfy { $0.1 == ($0.0 == 91 ? 300_000 : 1000 + Int($0.0)) })
        #expect(contents.allSatisfy { $0.2 == UInt8($0.0) })
        #expect(snapshot.formats.map(\.index) == [0])
        let held = try #require(buffer.held)
        #expect(held.upperBound - held.lowerBound == 78 * 40_000)
        // A snapshot stays what it is.
        for number in 100..<300 { buffer.add(packet(number, isKey: number % 10 == 1)) }
        #expect(snapshot.packets.map { content($0).0 } == numbers)
    }

    /// The picture was hidden all the while.
    @Test func soundAloneIsSaved() async throws {
        let buffer = ReplayBuffer(ReplaySettings(duration: .seconds(10)))
        buffer.formatChanged(format(160))
        buffer.formatChanged(
            .audio(
                AudioStreamFormat(
                    codec: .opus, sampleRate: 48_000, channels: 2, samplesPerPacket: 480,
                    head: Array("OpusHead".utf8) + [1, 2, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, 0])))
        for number in 0..<300 {
            let sound = packet(number, isKey: true, size: 30)
            sound.codec = .opus
            sound.header.presentationTime = .init(microseconds: Int64(number) * 10_000)
            buffer.add(sound)
        }
        let folder = try TestFolder()
        let path = folder.file("sound.mp4")
        let saved = try await onThread { try ReplayFile.write(buffer.snapshot(), to: path, overwrite: false) }
        #expect(saved.duration == .seconds(3) && saved.frames == 0)
        let facts = try await Judge.probe(path)
        #expect(facts.audio["codec_name"] == "opus" && facts.video.isEmpty && abs(facts.duration - 3) < 0.05)
    }

    /// The picture changes its size, and there is a file where the second part should go.
    @Test func whatWasSavedBeforeAFaultIsNamed() async throws {
        let buffer = ReplayBuffer(ReplaySettings(duration: .seconds(10)))
        var number = 0
        for width in [320, 160] {
            let encoder = try H264Encoder(
                configuration: H264EncoderConfiguration(
                    width: width, height: 90, frameRate: .fps30, bitrate: 1_000_000, color: .bt709))
            buffer.formatChanged(format(width))
            for count in 0..<40 {
                let picture = try #require(Picture(format: .i420, width: width, height: 90))
                picture.presentationTime = .init(microseconds: Int64(number) * 40_000)
                let packet = MediaPacket()
                try encoder.encode(picture, forceKey: count == 0, into: packet)
                buffer.add(packet)
                number += 1
            }
        }
        let folder = try TestFolder()
        let (path, second) = (folder.file("goal.mp4"), folder.file("goal-2.mp4"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: second))
        let error = await #expect(throws: GantryError.self) {
            try await onThread { try ReplayFile.write(buffer.snapshot(), to: path, overwrite: false) }
        }
        #expect(error?.code == .outputNotWritable)
        let message = error?.message ?? ""
        #expect(message.contains(second) && message.hasSuffix("1.6 s are saved in \(path)."), "\(message)")
        #expect(try await Judge.probe(path).frames == 40)
        #expect(try String(contentsOfFile: second, encoding: .utf8) == "mine")
    }

    @Test func whatHasGoneIsSaid() throws {
        let buffer = ReplayBuffer(ReplaySettings(duration: .seconds(600), byteLimit: 1 << 20))
        for number in 0..<2000 { buffer.add(packet(number, isKey: number % 10 == 0)) }
        #expect(buffer.bytes <= 1 << 20)
        guard case .gone = buffer.packet(0), case .notYet = buffer.packet(2000) else {
            Issue.record("\(buffer.packet(0)), \(buffer.packet(2000))")
            return
        }
        let start = try #require(buffer.start(for: .min))
        guard case .found(let first, _, true) = buffer.packet(start) else {
            Issue.record("\(buffer.packet(start))")
            return
        }
        #expect(first.header.isKey && first.header.sequence >= 900)
    }

    @Test func formatsAreThoseOfWhatIsHeld() {
        let buffer = ReplayBuffer(ReplaySettings(duration: .seconds(1), byteLimit: 1 << 20))
        for width in [160, 320, 640] { buffer.formatChanged(format(width)) }
        for number in 0..<10 { buffer.add(packet(number, isKey: number == 0)) }
        buffer.formatChanged(format(800))
        for number in 10..<20 { buffer.add(packet(number, isKey: number == 10)) }
        let both = buffer.snapshot()
        #expect(both.formats.map(\.index) == [0, 10])
        #expect(both.formats.map(\.format) == [format(640), format(800)])
        for number in 20..<200 { buffer.add(packet(number, isKey: number % 10 == 0)) }
        #expect(buffer.snapshot().formats.map(\.format) == [format(800)])
    }
}
