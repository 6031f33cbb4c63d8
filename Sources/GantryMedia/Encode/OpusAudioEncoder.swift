import COpus
package import GantryCore
package import GantryPlatform

/// Opus by libopus: 48 kHz stereo, RESTRICTED_LOWDELAY (2.5 ms of look-ahead), constant packet length.
///
/// Owned by one thread at a time. In-band FEC is off: it needs the SILK layer, which this mode does not have.
package final class OpusAudioEncoder {
    package static let defaultBitrate = 128_000
    /// A packet has at most 1275 bytes (RFC 6716 section 3.2) for one frame.
    private static let maximumPacket = 1275

    /// Samples of each channel in a packet.
    package let samplesPerPacket: Int
    /// Samples that the encoder holds back. The first sample that a decoder gives for a packet was captured that much
    /// before the first sample that went in; `AudioPacketizer` shifts the stamps by it.
    package let lookahead: Int
    private let encoder: OpaquePointer
    private let scratch = UnsafeMutablePointer<UInt8>.allocate(capacity: OpusAudioEncoder.maximumPacket)

    /// - Parameter samplesPerPacket: 480 (10 ms) or 240 (5 ms); also 120 and 960, as libopus takes them.
    /// - Throws: `invalidArgument` for another packet length, `encoder` when libopus refuses.
    package init(samplesPerPacket: Int = 480, bitrate: Int = OpusAudioEncoder.defaultBitrate) throws(GantryError) {
        guard [120, 240, 480, 960].contains(samplesPerPacket), 6000...510_000 ~= bitrate else {
            throw GantryError(
                .invalidArgument,
                "Sound packets last 2.5, 5, 10 or 20 ms and have 6 to 510 kbit/s. Choose one of these.")
        }
        var status: CInt = 0
        guard
            let encoder = opus_encoder_create(
                opus_int32(AudioBlock.sampleRate), CInt(AudioBlock.channels), OPUS_APPLICATION_RESTRICTED_LOWDELAY,
                &status), status == OPUS_OK
        else { throw Self.error("The sound encoder could not be started.", status) }
        self.encoder = encoder
        self.samplesPerPacket = samplesPerPacket
        COpus_encoder_set(encoder, OPUS_SET_BITRATE_REQUEST, opus_int32(bitrate))
        COpus_encoder_set(encoder, OPUS_SET_INBAND_FEC_REQUEST, 0)
        COpus_encoder_set(encoder, OPUS_SET_DTX_REQUEST, 0)
        // 5 of 10: half the work of 10, no audible difference at 128 kbit/s.
        COpus_encoder_set(encoder, OPUS_SET_COMPLEXITY_REQUEST, 5)
        var lookahead: opus_int32 = 0
        COpus_encoder_get(encoder, OPUS_GET_LOOKAHEAD_REQUEST, &lookahead)
        self.lookahead = Int(lookahead)
    }

    deinit {
        opus_encoder_destroy(encoder)
        scratch.deallocate()
    }

    /// What a decoder is told: OpusHead of RFC 7845 section 5.1 with pre-skip 0, as the stamps are shifted instead.
    package var format: AudioStreamFormat {
        let rate = UInt32(AudioBlock.sampleRate)
        var head = Array("OpusHead".utf8)
        head += [1, UInt8(AudioBlock.channels), 0, 0]  // version, channels, pre-skip (little-endian)
        head += [UInt8(rate & 255), UInt8(rate >> 8 & 255), UInt8(rate >> 16 & 255), UInt8(rate >> 24)]
        head += [0, 0, 0]  // output gain (little-endian), mapping family 0
        return AudioStreamFormat(
            codec: .opus, sampleRate: AudioBlock.sampleRate, channels: AudioBlock.channels,
            samplesPerPacket: samplesPerPacket, head: head)
    }

    /// Encodes one packet of interleaved stereo. Sets payload, codec, duration and the key flag; the stamps are the
    /// caller's.
    ///
    /// - Throws: `invalidArgument` when `frames` is not `samplesPerPacket` or samples are missing, `encoder`.
    package func encode(
        _ samples: UnsafeBufferPointer<Float>, frames: Int, into packet: MediaPacket
    ) throws(GantryError) {
        guard frames == samplesPerPacket, samples.count >= frames * AudioBlock.channels, let base = samples.baseAddress
        else {
            throw GantryError(
                .invalidArgument, "\(frames) samples came to an encoder for packets of \(samplesPerPacket).")
        }
        let count = opus_encode_float(encoder, base, CInt(frames), scratch, opus_int32(Self.maximumPacket))
        guard count > 0 else { throw Self.error("The sound encoder failed. Restart the producer.", count) }
        packet.removeAll()
        packet.append(UnsafeRawBufferPointer(start: scratch, count: Int(count)))
        packet.codec = .opus
        packet.duration = .microseconds(Int64(frames) * 1_000_000 / Int64(AudioBlock.sampleRate))
        packet.header.isKey = true
        packet.arrivalTime = MonotonicClock.now()
    }

    private static func error(_ message: String, _ status: CInt) -> GantryError {
        GantryError(.encoder, message, cause: opus_strerror(status).map { String(cString: $0) })
    }
}
