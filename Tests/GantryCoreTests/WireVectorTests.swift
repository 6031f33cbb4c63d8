import Foundation
import GantryCore
import GantryTestSupport
import Testing

@Suite struct WireVectorTests {
    struct FrameVector: Decodable {
        let name: String
        let type: UInt8
        let flags: UInt8
        let channel: UInt16
        let length: UInt32
        let hex: String
    }

    struct PrefixVector: Decodable {
        let sequence: UInt32
        let presentation: Int64
        let capture: Int64
        let epoch: UInt16
        let hex: String
    }

    struct MessageVector: Decodable {
        let name: String
        let type: UInt8
        let payload: String
        let error: String?
    }

    @Test func frameHeaders() throws {
        let vectors: [FrameVector] = try CoreVectors.load("frames.json")
        #expect(vectors.count >= 6)
        for vector in vectors {
            let header = FrameHeader(
                type: MessageType(rawValue: vector.type), flags: FrameFlags(rawValue: vector.flags),
                channel: vector.channel, length: vector.length)
            let bytes = CoreVectors.bytes(vector.hex)
            #expect(header.bytes == bytes)
            #expect(bytes.withUnsafeBytes { FrameHeader($0) } == header)
            var written = [UInt8](repeating: 0xEE, count: 9)
            #expect(written.withUnsafeMutableBytes { header.write(to: $0) })
            #expect(written == bytes + [0xEE])
            #expect(bytes.dropLast().withUnsafeBytes { FrameHeader($0) } == nil)
        }
        var short = [UInt8](repeating: 0xEE, count: 7)
        #expect(!short.withUnsafeMutableBytes { FrameHeader(type: .bye, length: 0).write(to: $0) })
        #expect(short == Array(repeating: 0xEE, count: 7))
    }

    @Test func mediaPrefixes() throws {
        let vectors: [PrefixVector] = try CoreVectors.load("media-prefix.json")
        #expect(vectors.count >= 3)
        for vector in vectors {
            let header = MediaHeader(
                sequence: vector.sequence, presentationTime: .init(microseconds: vector.presentation),
                captureTime: .init(microseconds: vector.capture), epoch: vector.epoch, isKey: true)
            let bytes = CoreVectors.bytes(vector.hex)
            var written = [UInt8](repeating: 0, count: 22)
            #expect(written.withUnsafeMutableBytes { MediaPrefix(header).write(to: $0) })
            #expect(written == bytes)
            #expect(bytes.withUnsafeBytes { MediaPrefix($0) }?.header(flags: [.key]) == header)
            #expect(bytes.dropLast().withUnsafeBytes { MediaPrefix($0) } == nil)
        }
    }

    @Test func messagesBothWays() throws {
        let vectors: [MessageVector] = try CoreVectors.load("messages.json")
        #expect(vectors.count == SampleMessages.all.count)
        for vector in vectors {
            let message = try #require(SampleMessages.value(vector.name), "\(vector.name)")
            let payload = CoreVectors.bytes(vector.payload)
            #expect(message.type.rawValue == vector.type)
            #expect(message.encode() == payload, "\(vector.name)")
            #expect(
                try ControlMessage.decode(type: MessageType(rawValue: vector.type), payload: payload) == message,
                "\(vector.name)")
        }
        let types = Set(vectors.map(\.type))
        for raw in UInt8.min...UInt8.max {
            let type = MessageType(rawValue: raw)
            if type.isKnown, !type.isMedia { #expect(types.contains(raw), "no vector for \(type)") }
        }
    }

    @Test func brokenMessagesAreRefused() throws {
        let vectors: [MessageVector] = try CoreVectors.load("broken-messages.json")
        #expect(vectors.count >= 20)
        for vector in vectors {
            let error = #expect(throws: GantryError.self, "\(vector.name)") {
                try ControlMessage.decode(
                    type: MessageType(rawValue: vector.type), payload: CoreVectors.bytes(vector.payload))
            }
            let expected: GantryError.Code = vector.error == "versionMismatch" ? .versionMismatch : .protocolError
            #expect(error?.code == expected, "\(vector.name)")
        }
    }

    @Test func unknownTypesAndFieldsAreSkipped() throws {
        #expect(try ControlMessage.decode(type: MessageType(rawValue: 0x77), payload: [1, 2, 3]) == nil)
        #expect(try ControlMessage.decode(type: .video, payload: []) == nil)
        let unknownField: [UInt8] = [0, 99, 0, 2, 7, 7]
        for message in SampleMessages.all.values where message.type != .data && message.type != .pairHello {
            let payload = message.encode() + unknownField
            #expect(try ControlMessage.decode(type: message.type, payload: payload) == message)
        }
    }

    /// Every truncation and many flipped bits: an error or a value that survives its own coding, never a crash.
    @Test func damagedMessages() throws {
        var random = SeededGenerator(seed: 7)
        for message in SampleMessages.all.values {
            let payload = message.encode()
            for count in 0..<payload.count { try survive(message.type, Array(payload.prefix(count))) }
            for _ in 0..<300 {
                var damaged = payload
                for _ in 0..<Int.random(in: 1...3, using: &random) where !damaged.isEmpty {
                    damaged[Int.random(in: damaged.indices, using: &random)] ^=
                        1 << UInt8.random(in: 0..<8, using: &random)
                }
                try survive(message.type, damaged)
            }
        }
        for _ in 0..<2000 {
            let junk = (0..<Int.random(in: 0..<80, using: &random)).map { _ in UInt8.random(in: 0...12, using: &random)
            }
            try survive(MessageType(rawValue: UInt8.random(in: 0...0x34, using: &random)), junk)
        }
    }

    private func survive(_ type: MessageType, _ payload: [UInt8]) throws {
        let decoded: ControlMessage?
        do throws(GantryError) {
            decoded = try ControlMessage.decode(type: type, payload: payload)
        } catch {
            #expect(error.code == .protocolError || error.code == .versionMismatch)
            return
        }
        guard let decoded else { return }
        // Unknown fields of PAIR_HELLO are kept, so its payload comes out as it went in.
        #expect(try ControlMessage.decode(type: type, payload: decoded.encode()) == decoded)
    }

    @Test func vectorsAreWhatTheScriptComputes() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", CoreVectors.folder.appending(path: "make_vectors.py").path, "--check"]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
