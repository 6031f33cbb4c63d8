/// FORMAT (05): what a decoder must know before the first packet of a channel with this epoch.
package struct Format: Hashable, Sendable {
    /// Field 1, u16.
    package var channel: UInt16
    /// Field 2, u16: packets with this epoch are of this format.
    package var epoch: UInt16
    /// Field 3, u8, is its codec. Video: 4 size (2 × u16), 5 rate (2 × u32), 6 colour (primaries, transfer, matrix, full
    /// range: u8 each), 7 rotation (u16, degrees), 8 parameter sets (≤ 4096). Audio: 9 sample rate (u32, Hz), 10 channels
    /// (u8), 11 samples per packet (u16), 12 head (≤ 512).
    package var format: StreamFormat

    package init(channel: UInt16, epoch: UInt16, format: StreamFormat) {
        self.channel = channel
        self.epoch = epoch
        self.format = format
    }

    init(_ reader: inout TLVReader) throws(GantryError) {
        channel = try reader.channel(1)
        epoch = try reader.required(2)
        let number = try reader.required(3, UInt8.self)
        guard let codec = MediaCodec(rawValue: number) else { throw reader.broken("unknown codec \(number)") }
        if codec.isVideo {
            format = .video(try Self.video(codec, &reader))
        } else {
            format = .audio(try Self.audio(codec, &reader))
        }
    }

    private static func video(_ codec: MediaCodec, _ reader: inout TLVReader) throws(GantryError) -> VideoStreamFormat {
        guard let size = try reader.size(4), let rate = try reader.frameRate(5) else {
            throw reader.broken("no size or frame rate")
        }
        let color = try reader.exactly(6, count: 4)
        guard color[3] <= 1 else { throw reader.broken("colour range \(color[3])") }
        let rotation = Int(try reader.number(7, UInt16.self) ?? 0)
        guard [0, 90, 180, 270].contains(rotation) else { throw reader.broken("rotation \(rotation)") }
        return VideoStreamFormat(
            codec: codec, width: size.width, height: size.height, frameRate: rate,
            color: ColorDescription(
                primaries: color[0], transfer: color[1], matrix: color[2], isFullRange: color[3] == 1),
            rotation: rotation,
            parameterSets: try reader.bytes(8, limit: WireLimits.maximumParameterSets) ?? [])
    }

    private static func audio(_ codec: MediaCodec, _ reader: inout TLVReader) throws(GantryError) -> AudioStreamFormat {
        let rate = try reader.required(9, UInt32.self)
        let channels = try reader.required(10, UInt8.self)
        let samples = Int(try reader.required(11, UInt16.self))
        guard 8_000...192_000 ~= rate, 1...8 ~= channels, 1...WireLimits.maximumSamplesPerPacket ~= samples else {
            throw reader.broken("an audio format that cannot be")
        }
        return AudioStreamFormat(
            codec: codec, sampleRate: Int(rate), channels: Int(channels), samplesPerPacket: samples,
            head: try reader.bytes(12, limit: WireLimits.maximumAudioHead) ?? [])
    }

    func encode() -> [UInt8] {
        var writer = TLVWriter()
        writer.number(1, channel)
        writer.number(2, epoch)
        switch format {
        case .video(let video):
            let color = video.color
            writer.number(3, video.codec.rawValue)
            writer.size(4, PictureSize(width: video.width, height: video.height))
            writer.frameRate(5, video.frameRate)
            writer.bytes(6, [color.primaries, color.transfer, color.matrix, color.isFullRange ? 1 : 0])
            writer.number(7, UInt16(clamping: video.rotation))
            if !video.parameterSets.isEmpty { writer.bytes(8, video.parameterSets) }
        case .audio(let audio):
            writer.number(3, audio.codec.rawValue)
            writer.number(9, UInt32(clamping: audio.sampleRate))
            writer.number(10, UInt8(clamping: audio.channels))
            writer.number(11, UInt16(clamping: audio.samplesPerPacket))
            if !audio.head.isEmpty { writer.bytes(12, audio.head) }
        }
        return writer.payload
    }
}
