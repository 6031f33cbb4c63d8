import CX264
package import GantryCore
package import GantryPlatform

/// H.264 by x264: one access unit out for each picture in, at once. Settings: `H264EncoderSettings.swift`.
///
/// Owned by one thread at a time; no call blocks on anything but the encoding itself.
package final class H264Encoder {
    package let configuration: H264EncoderConfiguration
    /// SPS and PPS in Annex B form, as they also stand in front of each IDR.
    package let parameterSets: [UInt8]
    /// Bits a second, as last set.
    package private(set) var bitrate: Int
    private let encoder: OpaquePointer
    private var parameters: x264_param_t
    private var frameIndex: Int64 = 0

    /// - Throws: `invalidArgument` when the size is odd or out of range, `encoder` when x264 refuses.
    package init(configuration: H264EncoderConfiguration) throws(GantryError) {
        guard configuration.width % 2 == 0, configuration.height % 2 == 0,
            16...Picture.maximumSide ~= configuration.width, 16...Picture.maximumSide ~= configuration.height,
            1...64 ~= configuration.threads, 0...64 ~= configuration.slices
        else {
            throw GantryError(
                .invalidArgument,
                "\(configuration.width)x\(configuration.height) cannot be encoded. Choose an even size from 16x16 to "
                    + "8192x8192.")
        }
        var parameters = x264_param_t()
        guard H264EncoderSettings.apply(configuration, to: &parameters),
            let encoder = CX264_encoder_open(&parameters)
        else {
            throw GantryError(
                .encoder,
                "The H.264 encoder refuses \(configuration.width)x\(configuration.height) at "
                    + "\(configuration.frameRate) frames a second. Choose another size or rate.",
                cause: "x264_encoder_open")
        }
        x264_encoder_parameters(encoder, &parameters)
        self.configuration = configuration
        self.encoder = encoder
        self.parameters = parameters
        bitrate = configuration.bitrate
        parameterSets = Self.readParameterSets(encoder)
    }

    deinit { x264_encoder_close(encoder) }

    private static func readParameterSets(_ encoder: OpaquePointer) -> [UInt8] {
        var units: UnsafeMutablePointer<x264_nal_t>?
        var count: CInt = 0
        guard x264_encoder_headers(encoder, &units, &count) >= 0, let units else { return [] }
        var bytes: [UInt8] = []
        for unit in UnsafeBufferPointer(start: units, count: Int(count)) {
            // The SEI with x264's version is left out.
            guard unit.i_type == CInt(NAL_SPS.rawValue) || unit.i_type == CInt(NAL_PPS.rawValue) else { continue }
            bytes += UnsafeBufferPointer(start: unit.p_payload, count: Int(unit.i_payload))
        }
        return bytes
    }

    /// Encodes one picture (i420 or nv12) of the configured size, or one row or column more, which is cut off. The
    /// packet's header takes the picture's stamps; sequence and epoch are left as they are.
    ///
    /// - Throws: `invalidArgument` for another size or format, `encoder` when x264 fails.
    package func encode(_ picture: Picture, forceKey: Bool, into packet: MediaPacket) throws(GantryError) {
        guard picture.width & ~1 == configuration.width, picture.height & ~1 == configuration.height,
            picture.format != .bgra
        else {
            throw GantryError(
                .invalidArgument,
                "A picture of \(picture.width)x\(picture.height) came to an encoder for "
                    + "\(configuration.width)x\(configuration.height). Convert it first.")
        }
        var input = x264_picture_t()
        x264_picture_init(&input)
        input.i_type = forceKey || frameIndex == 0 ? X264_TYPE_IDR : X264_TYPE_AUTO
        input.i_pts = frameIndex
        Self.setPlanes(of: picture, in: &input.img)
        frameIndex &+= 1

        var output = x264_picture_t()
        var units: UnsafeMutablePointer<x264_nal_t>?
        var count: CInt = 0
        let size = x264_encoder_encode(encoder, &units, &count, &input, &output)
        packet.removeAll()
        guard size > 0, count > 0, let first = units?.pointee.p_payload else {
            throw GantryError(
                .encoder, "The H.264 encoder gave nothing for a picture. Restart the producer.",
                cause: "x264_encoder_encode returned \(size)")
        }
        // The units of one call lie one behind the other (x264.h).
        packet.append(UnsafeRawBufferPointer(start: first, count: Int(size)))
        packet.codec = .h264
        packet.duration = configuration.frameRate.frameDuration
        packet.header.isKey = output.b_keyframe != 0
        packet.header.presentationTime = picture.presentationTime
        packet.header.captureTime = picture.captureTime
        packet.arrivalTime = MonotonicClock.now()
    }

    private static func setPlanes(of picture: Picture, in image: inout x264_image_t) {
        image.i_csp = picture.format == .nv12 ? CInt(X264_CSP_NV12) : CInt(X264_CSP_I420)
        image.i_plane = CInt(picture.format.planeCount)
        image.plane.0 = picture.plane(0)
        image.i_stride.0 = CInt(picture.stride(0))
        image.plane.1 = picture.plane(1)
        image.i_stride.1 = CInt(picture.stride(1))
        guard picture.format == .i420 else { return }
        image.plane.2 = picture.plane(2)
        image.i_stride.2 = CInt(picture.stride(2))
    }

    /// Changes the rate from the next picture on, without a key frame.
    ///
    /// - Parameters:
    ///   - bitrate: Bits a second; taken into 30 kbit/s … 200 Mbit/s.
    ///   - frameRate: How many pictures really come, when that is not the configured rate: each gets its share.
    /// - Throws: `encoder` when x264 refuses; the old rate then stays.
    package func setBitrate(_ bitrate: Int, frameRate: FrameRate? = nil) throws(GantryError) {
        let nominal = configuration.frameRate.framesPerSecond
        let scale = nominal / (frameRate?.framesPerSecond ?? nominal)
        let scaled = Double(max(0, bitrate)) * scale
        var changed = parameters
        H264EncoderSettings.applyBitrate(
            Int(min(scaled, Double(H264EncoderConfiguration.maximumBitrate))), frameRate: nominal, to: &changed)
        let status = x264_encoder_reconfig(encoder, &changed)
        guard status == 0 else {
            throw GantryError(
                .encoder, "The H.264 encoder refuses \(bitrate / 1000) kbit/s. Choose another bitrate.",
                cause: "x264_encoder_reconfig returned \(status)")
        }
        parameters = changed
        self.bitrate = bitrate
    }
}
