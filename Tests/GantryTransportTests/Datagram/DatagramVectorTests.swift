import Foundation
import GantryCore
import GantryTestSupport
import GantryTransport
import Testing

/// `pairing/vectors/datagram.json`, which Python computes from the text of `pairing/datagram.md`.
@Suite struct DatagramVectorTests {
    struct Vectors: Decodable {
        struct Keys: Decodable {
            let exporter, token, producer, studio: String
        }
        struct Parity: Decodable {
            let data, parity: [String]
        }
        struct Unit: Decodable {
            let payloadSize: Int
            let loss: Double
            let presentation, capture: Int64
            let sequence: UInt32
            let epoch: UInt16
            let key: Bool
            let unit: String
            let packets: [String]

            var header: MediaHeader {
                MediaHeader(
                    sequence: sequence, presentationTime: MediaTimestamp(microseconds: presentation),
                    captureTime: MediaTimestamp(microseconds: capture), epoch: epoch, isKey: key)
            }
        }
        struct Control: Decodable {
            let name, packet: String
        }
        let keys: Keys
        let parity: [Parity]
        let packets: [String: Unit]
        let control: [Control]
    }

    private static func load() throws -> Vectors { try CoreVectors.load("datagram.json") }

    @Test func keysAreDerived() throws {
        let vector = try Self.load().keys
        let keys = DatagramKeys(
            exporter: CoreVectors.bytes(vector.exporter), token: CoreVectors.bytes(vector.token))
        #expect(keys.producer.keyAndSalt == CoreVectors.bytes(vector.producer))
        #expect(keys.studio.keyAndSalt == CoreVectors.bytes(vector.studio))
    }

    @Test func parityIsComputedAndGivesTheDataBack() throws {
        let code = ISALErasureCode()
        for vector in try Self.load().parity {
            let data = vector.data.map(CoreVectors.bytes)
            let parity = vector.parity.map(CoreVectors.bytes)
            let (k, r, size, stride) = (data.count, parity.count, data[0].count, 64)
            let symbols = UnsafeMutableRawBufferPointer.allocate(byteCount: (k + r) * stride, alignment: 32)
            defer { symbols.deallocate() }
            func symbol(_ index: Int) -> [UInt8] { Array(symbols[index * stride..<index * stride + size]) }
            for (index, bytes) in data.enumerated() {
                for (offset, byte) in bytes.enumerated() { symbols[index * stride + offset] = byte }
            }
            #expect(code.encode(symbols, stride: stride, size: size, data: k, parity: r))
            #expect((k..<k + r).map(symbol) == parity)
            // Each run of r symbols missing.
            for first in 0...k {
                var present = Array(repeating: true, count: k + r)
                for index in first..<first + r where index < k + r {
                    present[index] = false
                    if index < k { for offset in 0..<size { symbols[index * stride + offset] = 0xEE } }
                }
                #expect(
                    code.recover(symbols, stride: stride, size: size, data: k, parity: r, present: present))
                #expect((0..<k).map(symbol) == data)
            }
            let none = Array(repeating: false, count: k + r)
            #expect(!code.recover(symbols, stride: stride, size: size, data: k, parity: r, present: none))
            #expect(!code.encode(symbols, stride: stride, size: stride + 1, data: k, parity: r))
        }
    }

    @Test(arguments: ["video", "sound"]) func packetsAreMade(kind: String) throws {
        let vector = try #require(try Self.load().packets[kind])
        let sender = StreamSender(
            source: kind == "video" ? 1 : 2, isVideo: kind == "video", payload: vector.payloadSize,
            code: ISALErasureCode(), protection: OpenProtection())
        let unit = CoreVectors.bytes(vector.unit)
        #expect(unit.withUnsafeBytes { sender.push($0, vector.header, loss: vector.loss) })
        var packets: [[UInt8]] = []
        while let packet = sender.next() { packets.append(Array(packet)) }
        #expect(packets == vector.packets.map(CoreVectors.bytes))
    }

    @Test(arguments: ["video", "sound"]) func packetsAreRead(kind: String) throws {
        let vector = try #require(try Self.load().packets[kind])
        // All, and then as many missing as there is parity for.
        let all = vector.packets.map(CoreVectors.bytes)
        for missing in -1..<all.count - 1 where kind == "video" || missing < 0 {
            let sink = UnitCollector()
            let receiver = StreamReceiver(
                source: kind == "video" ? 1 : 2, isVideo: kind == "video", code: ISALErasureCode())
            for (index, packet) in all.enumerated() where missing < 0 || (index != missing && index != missing + 1) {
                packet.withUnsafeBytes { receiver.receive($0, now: MediaTimestamp(microseconds: 1), sink: sink) }
            }
            #expect(sink.units.value.map(\.bytes) == [CoreVectors.bytes(vector.unit)], "without \(missing)")
            #expect(sink.units.value.first?.header == vector.header)
        }
    }

    @Test func controlPackets() throws {
        let expected: [String: [ControlPacket.Item]] = [
            "hello": [.hello], "probed": [.probed(number: 5, size: 1472)], "sent": [.sent(source: 1, highest: 70000)],
            "report": [.report(.init(source: 1, fractionLost: 3, lost: 20, highest: 70001, jitter: 45))],
            "feedback": [.feedback(Self.feedback)],
            "request": [100, 101, 103, 200].map { .missing(source: 1, sequence: $0) },
        ]
        for vector in try Self.load().control {
            let bytes = CoreVectors.bytes(vector.packet)
            var items: [ControlPacket.Item] = []
            #expect(bytes.withUnsafeBytes { ControlPacket.read($0) { items.append($0) } })
            #expect(items == expected[vector.name])
            #expect(Self.write(vector.name) == bytes, "\(vector.name)")
        }
    }

    private static let feedback = Feedback(
        channel: 1, sequence: 900, presentationTime: .init(microseconds: 30_000_000), delay: -1500, jitter: 250,
        bytes: 22_500_000, late: 1, dropped: 2)

    private static func write(_ name: String) -> [UInt8] {
        withUnsafeTemporaryAllocation(byteCount: 200, alignment: 8) { buffer in
            let isProducer = name == "sent"
            var writer = ControlWriter(
                buffer, source: isProducer ? DatagramLimits.producerSource : DatagramLimits.studioSource)
            switch name {
            case "hello": writer.hello()
            case "probed": writer.probed(number: 5, size: 1472)
            case "sent": writer.sent(1, highest: 70000)
            case "feedback": writer.feedback(Self.feedback)
            case "report": writer.report(.init(source: 1, fractionLost: 3, lost: 20, highest: 70001, jitter: 45))
            default: writer.request([100, 101, 103, 200], of: 1)
            }
            return Array(buffer[..<writer.count])
        }
    }

    /// Packets of a peer that has the keys and does not keep to the rules: nothing breaks, and memory stays what it is.
    @Test func whateverComesIsSurvived() throws {
        let vector = try #require(try Self.load().packets["video"])
        var random = SeededRandom(seed: 20)
        let sink = UnitCollector()
        let receiver = StreamReceiver(source: 1, isVideo: true, code: ISALErasureCode())
        var list: [Int64] = []
        for round in 0..<30_000 as Range<Int64> {
            var packet = CoreVectors.bytes(vector.packets.randomElement(using: &random) ?? "")
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                // Mostly the numbers in front.
                let index = Int.random(in: 2..<(Bool.random(using: &random) ? 36 : packet.count), using: &random)
                packet[index] = UInt8.random(in: 0...255, using: &random)
            }
            if Int.random(in: 0..<20, using: &random) == 0 {
                packet.removeLast(Int.random(in: 0...packet.count, using: &random))
            }
            let now = MediaTimestamp(microseconds: round * 300)
            packet.withUnsafeBytes { receiver.receive($0, now: now, sink: sink) }
            if round % 7 == 0 {
                receiver.timeAdvanced(now: now, sink: sink)
                list.removeAll(keepingCapacity: true)
                receiver.collectRequests(into: &list, now: now)
                #expect(list.count <= DatagramLimits.requestedPackets)
                receiver.told(highest: UInt32.random(in: 0...UInt32.max, using: &random), now: now)
                _ = receiver.report()
            }
            packet.withUnsafeBytes { _ = ControlPacket.read($0) { _ in } }
        }
        #expect(receiver.statistics.invalid > 1000)
        #expect(!sink.units.value.isEmpty)
    }

    /// The same for what a studio asks for.
    @Test func whateverIsAskedForIsSurvived() {
        var random = SeededRandom(seed: 21)
        let sender = StreamSender(
            source: 1, isVideo: true, payload: 1232, code: ISALErasureCode(), protection: OpenProtection())
        sender.requested(0)
        sender.requested(1)
        #expect(sender.next() == nil)
        for sequence in 0..<400 as Range<UInt32> {
            let unit = accessUnit(.random(in: 100...60_000, using: &random), &random)
            #expect(unit.withUnsafeBytes { sender.push($0, MediaHeader(sequence: sequence), loss: 0.02) })
            var packets = 0
            while sender.next() != nil { packets += 1 }
            #expect(packets > 0)
            for _ in 0..<600 { sender.requested(UInt16.random(in: 0...UInt16.max, using: &random)) }
            var again = 0
            while sender.next() != nil { again += 1 }
            #expect(again <= DatagramLimits.requestedPackets)
        }
    }
}
