import CLibAV
package import GantryCore

/// Writes a picture as a PNG file (RGB, 8 bits), with the picture's own matrix and range. Any thread; slow (20–60 ms at
/// 720p), so not on the decoder's.
package enum PNGSnapshot {
    /// - Parameters:
    ///   - path: the file, or "-" for standard output. It appears whole or not at all.
    ///   - overwrite: replaces a file that exists.
    /// - Throws: `outputNotWritable`, `outputFull`, `outputClosed`, `outputFailed`, `encoder`.
    package static func write(_ picture: Picture, to path: String, overwrite: Bool = true) throws(GantryError) {
        let image = try LibAVFrame(width: picture.width, height: picture.height, format: AV_PIX_FMT_RGB24)
        try convert(picture, to: image)
        try encode(image, to: path, overwrite: overwrite)
    }

    /// A grey picture of `width` × `height` bytes without row padding, 0 black, 255 white.
    static func write(gray: [UInt8], width: Int, height: Int, to path: String, overwrite: Bool) throws(GantryError) {
        let image = try LibAVFrame(width: width, height: height, format: AV_PIX_FMT_GRAY8)
        guard gray.count == width * height, let base = image.frame.pointee.data.0 else {
            throw GantryError(.invalidArgument, "The picture has \(gray.count) bytes instead of \(width)x\(height).")
        }
        let stride = Int(image.frame.pointee.linesize.0)
        gray.withUnsafeBufferPointer { source in
            for y in 0..<height {
                let row = UnsafeMutableBufferPointer(start: base + y * stride, count: width)
                _ = row.update(fromContentsOf: source[(y * width)..<((y + 1) * width)])
            }
        }
        try encode(image, to: path, overwrite: overwrite)
    }

    private static func convert(_ picture: Picture, to image: LibAVFrame) throws(GantryError) {
        let format: AVPixelFormat
        switch picture.format {
        case .i420: format = AV_PIX_FMT_YUV420P
        case .nv12: format = AV_PIX_FMT_NV12
        case .bgra: format = AV_PIX_FMT_BGRA
        }
        let (width, height) = (CInt(picture.width), CInt(picture.height))
        // Accurate rounding and full chroma: a snapshot is for looking at closely.
        let flags = SWS_BICUBIC | CInt(SWS_ACCURATE_RND) | CInt(SWS_FULL_CHR_H_INT)
        guard let scaler = sws_getContext(width, height, format, width, height, AV_PIX_FMT_RGB24, flags, nil, nil, nil)
        else { throw GantryError(.encoder, "The picture cannot be converted to RGB.") }
        defer { sws_freeContext(scaler) }
        // H.273 matrix numbers are swscale's SWS_CS numbers; its unknown ones fall back to BT.601.
        let matrix = sws_getCoefficients(CInt(picture.color.matrix))
        let range: CInt = picture.color.isFullRange ? 1 : 0
        sws_setColorspaceDetails(scaler, matrix, range, matrix, 1, 0, 1 << 16, 1 << 16)
        withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 4) { planes in
            withUnsafeTemporaryAllocation(of: CInt.self, capacity: 4) { strides in
                planes.initialize(repeating: nil)
                strides.initialize(repeating: 0)
                for plane in 0..<picture.format.planeCount {
                    planes[plane] = UnsafePointer(picture.plane(plane))
                    strides[plane] = CInt(picture.stride(plane))
                }
                var target = image.frame.pointee.data.0
                var stride = image.frame.pointee.linesize.0
                _ = sws_scale(scaler, planes.baseAddress, strides.baseAddress, 0, height, &target, &stride)
            }
        }
    }

    private static func encode(_ image: LibAVFrame, to path: String, overwrite: Bool) throws(GantryError) {
        guard let encoder = avcodec_find_encoder(AV_CODEC_ID_PNG), let context = avcodec_alloc_context3(encoder),
            let packet = av_packet_alloc()
        else { throw GantryError(.encoder, "The FFmpeg libraries here cannot write PNG.") }
        var freedContext: UnsafeMutablePointer<AVCodecContext>? = context
        var freedPacket: UnsafeMutablePointer<AVPacket>? = packet
        defer {
            avcodec_free_context(&freedContext)
            av_packet_free(&freedPacket)
        }
        context.pointee.width = image.frame.pointee.width
        context.pointee.height = image.frame.pointee.height
        context.pointee.pix_fmt = AVPixelFormat(rawValue: image.frame.pointee.format)
        context.pointee.time_base = AVRational(num: 1, den: 1)
        context.pointee.thread_count = 1
        var status = avcodec_open2(context, encoder, nil)
        if status >= 0 { status = avcodec_send_frame(context, image.frame) }
        if status >= 0 { status = avcodec_send_frame(context, nil) }
        if status >= 0 { status = avcodec_receive_packet(context, packet) }
        guard status >= 0, let data = packet.pointee.data else {
            throw GantryError(.encoder, "The picture cannot be coded as PNG.", cause: libAVText(status))
        }
        let bytes = UnsafeRawBufferPointer(start: data, count: Int(packet.pointee.size))
        try AtomicFile.write(bytes, to: path, overwrite: overwrite)
    }
}
