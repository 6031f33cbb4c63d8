import CLibAV
import GantryCore
import Glibc

/// Brings decoded frames of any pixel format of libavutil into I420, limited range, same size and same matrix.
///
/// Frames that are that already are copied plane by plane; all others (10 bits, 4:2:2, 4:4:4, RGB, palette, gray, full
/// range) go through swscale, whose context is kept as long as the kind of frame stays the same. Owned by one thread.
final class FrameConverter {
    /// What a scaler was made for.
    private struct Kind: Equatable {
        var width: CInt
        var height: CInt
        var format: AVPixelFormat
        var isFullRange: Bool
        var matrix: UInt8
    }

    private var scaler: OpaquePointer?
    private var kind: Kind?

    init() {}

    deinit { sws_freeContext(scaler) }

    /// Fills `picture`, which must have the frame's size; its colour is set, its stamps are not.
    ///
    /// - Throws: `invalidArgument` for another size, `unsupportedCodec` when swscale does not know the format.
    func convert(_ frame: UnsafePointer<AVFrame>, into picture: Picture) throws(GantryError) {
        guard picture.format == .i420, picture.width == Int(frame.pointee.width),
            picture.height == Int(frame.pointee.height), frame.pointee.data.0 != nil
        else { throw GantryError(.invalidArgument, "A decoded picture does not have the size that was expected.") }
        let color = Self.color(of: frame)
        picture.color = color
        picture.color.isFullRange = false
        let format = Self.plainFormat(frame.pointee.format)
        if format == AV_PIX_FMT_YUV420P, !color.isFullRange {
            Self.copyPlanes(of: frame, to: picture)
            return
        }
        let kind = Kind(
            width: frame.pointee.width, height: frame.pointee.height, format: format,
            isFullRange: color.isFullRange, matrix: color.matrix)
        if kind != self.kind || scaler == nil { try makeScaler(for: kind) }
        try scale(frame, into: picture)
    }

    /// What the numbers of the frame mean: its own description where it has one, otherwise what its size suggests.
    /// RGB takes the matrix that it is going to be converted with.
    static func color(of frame: UnsafePointer<AVFrame>) -> ColorDescription {
        color(
            format: AVPixelFormat(frame.pointee.format), height: Int(frame.pointee.height),
            primaries: frame.pointee.color_primaries, transfer: frame.pointee.color_trc,
            matrix: frame.pointee.colorspace, range: frame.pointee.color_range)
    }

    static func color(
        format: AVPixelFormat, height: Int, primaries: AVColorPrimaries, transfer: AVColorTransferCharacteristic,
        matrix: AVColorSpace, range: AVColorRange
    ) -> ColorDescription {
        let assumed = ColorDescription.assumed(forHeight: height)
        // 2: unspecified; 0 of the matrix: RGB; 3: reserved.
        func known(_ value: UInt32, _ other: UInt8) -> UInt8 {
            value == 0 || value == 2 || value == 3 ? other : UInt8(exactly: value) ?? other
        }
        let isJPEG = plainFormat(format.rawValue) != format
        // Gray without a word about it comes from picture formats: full range.
        let isUnspecifiedGray = format == AV_PIX_FMT_GRAY8 && range == AVCOL_RANGE_UNSPECIFIED
        let isFull = !isRGB(format) && (range == AVCOL_RANGE_JPEG || isJPEG || isUnspecifiedGray)
        return ColorDescription(
            primaries: known(primaries.rawValue, assumed.primaries),
            transfer: known(transfer.rawValue, assumed.transfer),
            matrix: known(matrix.rawValue, assumed.matrix), isFullRange: isFull)
    }

    private static func isRGB(_ format: AVPixelFormat) -> Bool {
        guard let description = av_pix_fmt_desc_get(format) else { return false }
        let flags = description.pointee.flags
        return flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0 || flags & UInt64(AV_PIX_FMT_FLAG_PAL) != 0
    }

    /// The "J" formats are the plain ones in full range.
    private static func plainFormat(_ format: CInt) -> AVPixelFormat {
        switch AVPixelFormat(format) {
        case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P
        case AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P
        case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
        case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P
        case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
        default: AVPixelFormat(format)
        }
    }

    private static func copyPlanes(of frame: UnsafePointer<AVFrame>, to picture: Picture) {
        copyPlane(0, frame.pointee.data.0, frame.pointee.linesize.0, to: picture)
        copyPlane(1, frame.pointee.data.1, frame.pointee.linesize.1, to: picture)
        copyPlane(2, frame.pointee.data.2, frame.pointee.linesize.2, to: picture)
    }

    private static func copyPlane(
        _ plane: Int, _ source: UnsafeMutablePointer<UInt8>?, _ stride: CInt, to picture: Picture
    ) {
        guard let source else { return }
        // av_image_copy_plane also takes negative strides (pictures stored upside down).
        av_image_copy_plane(
            picture.plane(plane), CInt(picture.stride(plane)), source, stride, CInt(picture.rowBytes(plane)),
            CInt(picture.rows(plane)))
    }

    private func makeScaler(for kind: Kind) throws(GantryError) {
        sws_freeContext(scaler)
        scaler = nil
        self.kind = nil
        guard sws_isSupportedInput(kind.format) != 0, let context = sws_alloc_context() else {
            throw Self.unsupported(kind.format)
        }
        scaler = context
        let object = UnsafeMutableRawPointer(context)
        av_opt_set_int(object, "srcw", Int64(kind.width), 0)
        av_opt_set_int(object, "srch", Int64(kind.height), 0)
        av_opt_set_int(object, "src_format", Int64(kind.format.rawValue), 0)
        av_opt_set_int(object, "dstw", Int64(kind.width), 0)
        av_opt_set_int(object, "dsth", Int64(kind.height), 0)
        av_opt_set_int(object, "dst_format", Int64(AV_PIX_FMT_YUV420P.rawValue), 0)
        av_opt_set_int(object, "src_range", kind.isFullRange ? 1 : 0, 0)
        av_opt_set_int(object, "dst_range", 0, 0)
        av_opt_set_int(object, "sws_flags", Int64(SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INP), 0)
        let status = sws_init_context(context, nil, nil)
        guard status >= 0 else { throw Self.unsupported(kind.format) }
        // The same coefficients on both sides: only the range changes. Brightness 0, contrast and saturation 1.0.
        let coefficients = sws_getCoefficients(Self.coefficientTable(kind.matrix))
        sws_setColorspaceDetails(
            context, coefficients, kind.isFullRange ? 1 : 0, coefficients, 0, 0, 1 << 16, 1 << 16)
        self.kind = kind
    }

    /// SWS_CS_… for an H.273 matrix; the numbers agree where swscale knows the matrix.
    private static func coefficientTable(_ matrix: UInt8) -> CInt {
        switch matrix {
        case 1: CInt(SWS_CS_ITU709)
        case 4: CInt(SWS_CS_FCC)
        case 7: CInt(SWS_CS_SMPTE240M)
        case 9, 10: CInt(SWS_CS_BT2020)
        default: CInt(SWS_CS_ITU601)
        }
    }

    private func scale(_ frame: UnsafePointer<AVFrame>, into picture: Picture) throws(GantryError) {
        let data = frame.pointee.data
        let lines = frame.pointee.linesize
        let height = frame.pointee.height
        let rows = withUnsafeTemporaryAllocation(of: UnsafePointer<UInt8>?.self, capacity: 4) { source in
            withUnsafeTemporaryAllocation(of: UnsafeMutablePointer<UInt8>?.self, capacity: 4) { target in
                withUnsafeTemporaryAllocation(of: CInt.self, capacity: 8) { strides -> CInt in
                    guard let s = source.baseAddress, let t = target.baseAddress, let n = strides.baseAddress else {
                        return -1
                    }
                    (s[0], s[1], s[2], s[3]) = (
                        UnsafePointer(data.0), UnsafePointer(data.1), UnsafePointer(data.2), UnsafePointer(data.3)
                    )
                    (n[0], n[1], n[2], n[3]) = (lines.0, lines.1, lines.2, lines.3)
                    (t[0], t[1], t[2], t[3]) = (picture.plane(0), picture.plane(1), picture.plane(2), nil)
                    n[4] = CInt(picture.stride(0))
                    n[5] = CInt(picture.stride(1))
                    n[6] = CInt(picture.stride(2))
                    n[7] = 0
                    return sws_scale(scaler, s, n, 0, height, t, n + 4)
                }
            }
        }
        guard rows >= 0 else {
            throw GantryError(.decoder, "A picture could not be converted.", cause: libAVText(rows))
        }
    }

    private static func unsupported(_ format: AVPixelFormat) -> GantryError {
        let name = av_get_pix_fmt_name(format).map { String(cString: $0) } ?? "number \(format.rawValue)"
        return GantryError(
            .unsupportedCodec,
            "Pictures in the pixel format \(name) cannot be shown. Convert the file first, with: "
                + "ffmpeg -i FILE -pix_fmt yuv420p OUT.mp4")
    }
}
