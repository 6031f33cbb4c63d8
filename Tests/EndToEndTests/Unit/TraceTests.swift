import Foundation
import GantryCore
import GantryMedia
import GantryPlatform
import GantryTestSupport
import Testing

@testable import StudioKit

@Suite struct TraceTests {
    private func packet(_ sequence: UInt32, at milliseconds: Int64, sound: Bool = false) -> MediaPacket {
        let packet = MediaPacket(capacity: 64)
        let time = MediaTimestamp(microseconds: milliseconds * 1000)
        packet.header = MediaHeader(
            sequence: sequence, presentationTime: time, captureTime: time - .milliseconds(1), isKey: sequence == 0)
        packet.codec = sound ? .opus : .h264
        packet.arrivalTime = time + .milliseconds(20)
        return packet
    }

    private func frame(of packet: MediaPacket) throws -> VideoFrame {
        let picture = try #require(Picture(format: .i420, width: 32, height: 32))
        picture.presentationTime = packet.header.presentationTime
        picture.captureTime = packet.header.captureTime
        picture.arrivalTime = packet.arrivalTime
        return VideoFrame(
            picture, frameRate: .fps30, decodedTime: packet.arrivalTime + .milliseconds(3),
            clockOffset: .milliseconds(7)
        )
    }

    /// The lines that `body` makes.
    private func lines(_ body: @Sendable (TraceOutput) throws -> Void) async throws -> [[String: Any]] {
        let folder = try TestFolder()
        defer { withExtendedLifetime(folder) {} }
        let path = folder.file("take.trace")
        let failures = CollectedErrors()
        let trace = try TraceOutput(path: path, overwrite: false) { failures.add($0) }
        try body(trace)
        try await onThread { trace.finish() }
        #expect(failures.all.isEmpty)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return try text.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
    }

    private final class CollectedErrors: @unchecked Sendable {  // `errors` is guarded by `lock`.
        private let lock = Lock()
        private var errors: [GantryError] = []
        func add(_ error: GantryError) { lock.withLock { errors.append(error) } }
        var all: [GantryError] { lock.withLock { errors } }
    }

    @Test func eachPictureIsALineWithAllItsTimes() async throws {
        let lines = try await lines { trace in
            let packets = (0..<3).map { packet($0, at: 1000 + Int64($0) * 33) }
            for packet in packets { trace.receive(CodedPacket(packet)) }
            // The one in the middle is never decoded; the order of showing may be another one.
            for packet in [packets[2], packets[0]] { trace.receive(try frame(of: packet)) }
        }
        #expect(lines.map { $0["line"] as? String } == ["begin", "picture", "picture", "picture", "end"])
        let pictures = lines.filter { $0["line"] as? String == "picture" }
        #expect(pictures.map { $0["sequence"] as? Int } == [2, 0, 1])
        let first = pictures[1]
        #expect(first["pts"] as? Int == 1_000_000)
        #expect(first["capture"] as? Int == 999_000)
        #expect(first["arrival"] as? Int == 1_020_000)
        #expect(first["decoded"] as? Int == 1_023_000)
        #expect(first["offset"] as? Int == 7000)
        #expect(first["key"] as? Bool == true)
        let output = try #require(first["output"] as? Int)
        #expect(first["latency"] as? Int == output - 999_000 + 7000)
        #expect(pictures[2]["decoded"] is NSNull)
        #expect(pictures[2]["latency"] is NSNull)
        #expect(lines.last?["unwritten"] as? Int == 0)
    }

    @Test func pictureThatAreNeverDecodedAreToldBeforeTheEnd() async throws {
        let lines = try await lines { trace in
            for number in 0..<40 as Range<UInt32> { trace.receive(CodedPacket(packet(number, at: Int64(number) * 33))) }
        }
        #expect(lines.compactMap { $0["sequence"] as? Int } == Array(0..<40))
    }

    @Test func gapsOfSoundAndEventsAreLines() async throws {
        let lines = try await lines { trace in
            for number in 0..<100 as Range<UInt32> {
                trace.receive(CodedPacket(packet(number, at: Int64(number) * 10, sound: true)))
            }
            trace.receive(CodedPacket(packet(104, at: 1040, sound: true)))
            trace.follow(.disconnected(GantryError(.peerLost, "\"Gone\"\u{1b}[2J \\ away\n")))
            trace.follow(.connected(name: "Camera", address: "10.0.0.1:7787", streams: []))
            // Another connection begins anew.
            trace.receive(CodedPacket(packet(0, at: 90_000, sound: true)))
            var statistics = StudioStatistics()
            trace.note(statistics)
            statistics.producerFramesSent = 30
            statistics.producerFramesDropped = 2
            trace.note(statistics)
            trace.note(
                SkewMeter.Pair(flash: .init(microseconds: 7), skew: .microseconds(-3), apart: .milliseconds(2)))
        }
        #expect(
            lines.map { $0["line"] as? String } == [
                "begin", "soundGap", "event", "event", "soundGap", "producer", "lipSync", "end",
            ])
        #expect(lines[1]["lost"] as? Int == 4)
        #expect(lines[2]["event"] as? String == "disconnected")
        #expect(lines[2]["error"] as? String == "\"Gone\"\u{1b}[2J \\ away\n")
        #expect(lines[3]["address"] as? String == "10.0.0.1:7787")
        #expect(lines[4]["silence"] as? Int == 90_000_000 - 1_040_000 - 60_000)
        #expect(lines[4]["lost"] as? Int == 0)
        #expect(lines[5]["sent"] as? Int == 30)
        #expect(lines[5]["skipped"] as? Int == 2)
        #expect(["pts", "skew", "apart"].map { lines[6][$0] as? Int } == [7, -3, 2000])
    }

    @Test func nothingIsWrittenForASessionThatNeverBegan() async throws {
        let folder = try TestFolder()
        let path = folder.file("none.trace")
        let trace = try TraceOutput(path: path, overwrite: false) { _ in }
        try await onThread { trace.finish() }
        #expect(!FileManager.default.fileExists(atPath: path))
        withExtendedLifetime(folder) {}
    }
}
