/// STATS (0C): every second, what this end did since the session began. Fields that do not concern an end are 0.
package struct Stats: Hashable, Sendable {
    /// Where a frame spends its time. Unknown numbers are kept.
    package struct Stage: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let encode = Self(rawValue: 1)
        package static let queue = Self(rawValue: 2)
        package static let network = Self(rawValue: 3)
        package static let decode = Self(rawValue: 4)
        package static let output = Self(rawValue: 5)
        /// Capture to output.
        package static let total = Self(rawValue: 6)
        /// Capture to encoded, encoding included.
        package static let ready = Self(rawValue: 7)
        /// From capture until the encoder takes the picture.
        package static let capture = Self(rawValue: 8)
    }

    /// Of the last second, in µs.
    package struct StageTime: Hashable, Sendable {
        package var stage: Stage
        package var p50: UInt32
        package var p95: UInt32

        package init(stage: Stage, p50: UInt32, p95: UInt32) {
            self.stage = stage
            self.p50 = p50
            self.p95 = p95
        }
    }

    /// Fields 1…3, u64: video frames.
    package var framesSent: UInt64
    package var framesReceived: UInt64
    package var framesDropped: UInt64
    /// Fields 4 and 5, u64: payload of all media.
    package var bytesSent: UInt64
    package var bytesReceived: UInt64
    /// Fields 6…8, u64: audio packets.
    package var audioPacketsSent: UInt64
    package var audioPacketsReceived: UInt64
    package var audioPacketsDropped: UInt64
    /// Field 9 each: stage u8, p50 u32, p95 u32. At most 16.
    package var stages: [StageTime]

    package static let maximumStages = 16

    package init(
        framesSent: UInt64 = 0, framesReceived: UInt64 = 0, framesDropped: UInt64 = 0, bytesSent: UInt64 = 0,
        bytesReceived: UInt64 = 0, audioPacketsSent: UInt64 = 0, audioPacketsReceived: UInt64 = 0,
        audioPacketsDropped: UInt64 = 0, stages: [StageTime] = []
    ) {
        self.framesSent = framesSent
        self.framesReceived = framesReceived
        self.framesDropped = framesDropped
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.audioPacketsSent = audioPacketsSent
        self.audioPacketsReceived = audioPacketsReceived
        self.audioPacketsDropped = audioPacketsDropped
        self.stages = stages
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        framesSent = try reader.number(1) ?? 0
        framesReceived = try reader.number(2) ?? 0
        framesDropped = try reader.number(3) ?? 0
        bytesSent = try reader.number(4) ?? 0
        bytesReceived = try reader.number(5) ?? 0
        audioPacketsSent = try reader.number(6) ?? 0
        audioPacketsReceived = try reader.number(7) ?? 0
        audioPacketsDropped = try reader.number(8) ?? 0
        stages = []
        for record in reader.values(9) {
            guard record.count == 9, stages.count < Self.maximumStages else { throw reader.broken("a wrong stage") }
            stages.append(
                StageTime(
                    stage: Stage(rawValue: UInt8(TLVReader.bigEndian(record.prefix(1)))),
                    p50: UInt32(TLVReader.bigEndian(record.dropFirst(1).prefix(4))),
                    p95: UInt32(TLVReader.bigEndian(record.dropFirst(5)))))
        }
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, framesSent)
        writer.number(2, framesReceived)
        writer.number(3, framesDropped)
        writer.number(4, bytesSent)
        writer.number(5, bytesReceived)
        writer.number(6, audioPacketsSent)
        writer.number(7, audioPacketsReceived)
        writer.number(8, audioPacketsDropped)
        for time in stages.prefix(Self.maximumStages) {
            let numbers = UInt64(time.p50) << 32 | UInt64(time.p95)
            let bytes = (0..<8).map { UInt8(truncatingIfNeeded: numbers >> UInt64(56 - 8 * $0)) }
            writer.bytes(9, [time.stage.rawValue] + bytes)
        }
        return writer.payload
    }
}
