import CLibAV
import CYUV
import GantryCore
import GantryPlatform

/// Makes pictures of decoded frames; a new size or format starts a new pool.
///
/// 8 bits of 4:2:0, which H.264 from a producer always is, stay where the decoder has put them: the picture holds a reference
/// to that memory, and the decoder takes other memory for what follows. Other layouts are converted into memory of the pool.
/// Belongs to the decoder's thread.
final class DecodedPictures {
    private let poolSize: Int
    private var pool: ReusePool<Picture>?
    private var width: CInt = 0
    private var height: CInt = 0
    private var isShared = false

    init(poolSize: Int) { self.poolSize = max(2, poolSize) }

    /// The visible part of `frame` (libavcodec has applied the crop rectangle of the SPS), which may be empty afterwards. Nil
    /// when all pictures are in use.
    ///
    /// - Throws: `unsupportedCodec` for other than 8-bit 4:2:0, 4:2:2, 4:4:4 and grey, or a side over the limit.
    func take(_ frame: UnsafeMutablePointer<AVFrame>) throws(GantryError) -> Picture? {
        let source = frame.pointee
        guard 1...CInt(Picture.maximumSide) ~= source.width, 1...CInt(Picture.maximumSide) ~= source.height else {
            throw GantryError(
                .unsupportedCodec,
                "The video is \(source.width)x\(source.height): at most \(Picture.maximumSide) pixels a side are possible."
            )
        }
        let format = AVPixelFormat(rawValue: source.format)
        let isShared = format == AV_PIX_FMT_YUV420P || format == AV_PIX_FMT_YUVJ420P
        guard let picture = pooled(width: source.width, height: source.height, isShared: isShared) else { return nil }
        guard isShared ? picture.show(frame) : convert(source, to: picture) else {
            throw GantryError(
                .unsupportedCodec,
                "The video has a pixel format that is not handled. Send 8-bit 4:2:0 video.",
                cause: av_get_pix_fmt_name(format).map { String(cString: $0) })
        }
        picture.color = color(of: source)
        return picture
    }

    private func pooled(width: CInt, height: CInt, isShared: Bool) -> Picture? {
        if pool == nil || width != self.width || height != self.height || isShared != self.isShared {
            self.width = width
            self.height = height
            self.isShared = isShared
            pool = ReusePool(capacity: poolSize) {
                guard isShared else { return Picture(format: .i420, width: Int(width), height: Int(height)) }
                do throws(GantryError) {
                    return Picture(decodedInto: try LibAVFrame(), width: Int(width), height: Int(height))
                } catch {
                    return nil
                }
            }
        }
        return pool?.take()
    }

    private func convert(_ source: AVFrame, to picture: Picture) -> Bool {
        let (y, u, v) = (source.data.0, source.data.1, source.data.2)
        let (strideY, strideU, strideV) = (source.linesize.0, source.linesize.1, source.linesize.2)
        let (toY, toU, toV) = (picture.plane(0), picture.plane(1), picture.plane(2))
        let (toStrideY, toStrideU, toStrideV) = (
            CInt(picture.stride(0)), CInt(picture.stride(1)), CInt(picture.stride(2))
        )
        let (width, height) = (source.width, source.height)
        switch AVPixelFormat(rawValue: source.format) {
        case AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P:
            return I422ToI420(
                y, strideY, u, strideU, v, strideV, toY, toStrideY, toU, toStrideU, toV, toStrideV, width, height) == 0
        case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P:
            return I444ToI420(
                y, strideY, u, strideU, v, strideV, toY, toStrideY, toU, toStrideU, toV, toStrideV, width, height) == 0
        case AV_PIX_FMT_GRAY8:
            return I400ToI420(y, strideY, toY, toStrideY, toU, toStrideU, toV, toStrideV, width, height) == 0
        default:
            return false
        }
    }

    /// From the VUI or the JPEG header; what is not said there is assumed by size, as players do.
    private func color(of source: AVFrame) -> ColorDescription {
        var color = ColorDescription(
            primaries: UInt8(clamping: source.color_primaries.rawValue),
            transfer: UInt8(clamping: source.color_trc.rawValue),
            matrix: UInt8(clamping: source.colorspace.rawValue),
            isFullRange: source.color_range == AVCOL_RANGE_JPEG)
        let assumed = ColorDescription.assumed(forHeight: Int(source.height))
        let unspecified = ColorDescription.unspecified
        if color.primaries == unspecified.primaries { color.primaries = assumed.primaries }
        if color.transfer == unspecified.transfer { color.transfer = assumed.transfer }
        if color.matrix == unspecified.matrix { color.matrix = assumed.matrix }
        return color
    }
}
