/// One stream of a producer, in ACCEPT and STREAMS.
///
/// ```
///  0         2       3        4         5            13
/// +---------+-------+--------+---------+------------+------------------+
/// | channel | kind  | codec  | source  | created µs |  name, UTF-8 …   |
/// +---------+-------+--------+---------+------------+------------------+
/// ```
package struct StreamDescription: Hashable, Sendable {
    /// Unknown numbers are kept.
    package struct Source: RawRepresentable, Hashable, Sendable {
        package let rawValue: UInt8
        package init(rawValue: UInt8) { self.rawValue = rawValue }
        package static let camera = Self(rawValue: 1)
        package static let screen = Self(rawValue: 2)
        package static let file = Self(rawValue: 3)
        package static let custom = Self(rawValue: 4)
    }

    /// 1…8.
    package var channel: UInt16
    package var kind: MediaKind
    /// Nil (0 on the wire) for data.
    package var codec: MediaCodec?
    package var source: Source
    /// When the stream came to be, on the producer's clock.
    package var created: MediaTimestamp
    package var name: String

    package init(
        channel: UInt16, kind: MediaKind, codec: MediaCodec?, source: Source, created: MediaTimestamp, name: String = ""
    ) {
        self.channel = channel
        self.kind = kind
        self.codec = codec
        self.source = source
        self.created = created
        self.name = name
    }

    static let fixedSize = 13

    var record: [UInt8] {
        var bytes: [UInt8] = [
            UInt8(channel >> 8), UInt8(channel & 0xff), kind.rawValue, codec?.rawValue ?? 0, source.rawValue,
        ]
        let stamp = UInt64(bitPattern: created.microseconds)
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: stamp >> UInt64(shift)))
        }
        return bytes + Array(name.prefix(bytes: WireLimits.maximumName).utf8)
    }

    /// Streams of an unknown kind or codec are left out: a newer producer may have them.
    static func list(_ tag: UInt16, _ reader: inout TLVReader) throws(GantryError) -> [StreamDescription] {
        var streams: [StreamDescription] = []
        var seen: Set<UInt16> = []
        for value in reader.values(tag) {
            let fixed = Array(value.prefix(fixedSize))
            guard fixed.count == fixedSize, value.count <= fixedSize + WireLimits.maximumName else {
                throw reader.broken("a stream of a wrong size")
            }
            let channel = UInt16(fixed[0]) << 8 | UInt16(fixed[1])
            guard 1...WireLimits.highestChannel ~= channel, seen.insert(channel).inserted else {
                throw reader.broken("a stream on channel \(channel)")
            }
            guard let kind = MediaKind(rawValue: fixed[2]) else { continue }
            let codec = MediaCodec(rawValue: fixed[3])
            switch kind {
            case .video: guard let codec, codec.isVideo else { continue }
            case .audio: guard let codec, !codec.isVideo else { continue }
            case .data: guard fixed[3] == 0 else { continue }
            }
            streams.append(
                StreamDescription(
                    channel: channel, kind: kind, codec: codec, source: Source(rawValue: fixed[4]),
                    created: MediaTimestamp(microseconds: Int64(bitPattern: TLVReader.bigEndian(fixed[5...]))),
                    name: DisplayName.sanitized(
                        String(decoding: value.dropFirst(fixedSize), as: UTF8.self),
                        graphemes: DisplayName.maximumGraphemes, bytes: WireLimits.maximumName)))
        }
        return streams
    }
}
