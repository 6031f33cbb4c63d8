import CYUV
import GantryCore
import GantryPlatform

/// Makes pooled I420 pictures of a camera's bytes. Belongs to the capturing thread.
final class CameraPictures {
    enum Outcome {
        case picture(Picture)
        /// Too short, or not what it says it is.
        case damaged
        /// Cannot be decoded before a key frame comes.
        case waiting
        /// All pictures are in use.
        case full
    }

    private let pixels: CameraPixels
    private let width: Int
    private let height: Int
    private let stride: Int
    private let color: ColorDescription
    private let pool: ReusePool<Picture>
    private let decoder: VideoDecoder?
    private let packets: CameraPackets?

    /// One that is being filled, one with the reader, a few that wait.
    private static let poolSize = 6
    /// Nil when the size, or the length of a row, is not possible.
    init?(pixels: CameraPixels, width: Int, height: Int, stride: Int, color: ColorDescription) throws(GantryError) {
        // Odd rows and columns are cut off: encoders want even sizes.
        let (evenWidth, evenHeight) = (width & ~1, height & ~1)
        let stride = stride == 0 ? pixels.rowBytes(width: width) : stride
        guard 16...Picture.maximumSide ~= width, 16...Picture.maximumSide ~= height,
            stride <= Picture.maximumSide * 8, stride >= pixels.rowBytes(width: width)
        else { return nil }
        (self.pixels, self.width, self.height, self.stride, self.color) = (pixels, width, height, stride, color)
        pool = ReusePool(capacity: Self.poolSize) {
            Picture(format: .i420, width: evenWidth, height: evenHeight, color: color)
        }
        if let codec = pixels.codec {
            decoder = try VideoDecoder(codec: codec, poolSize: Self.poolSize)
            packets = CameraPackets(codec: codec, capacity: 1)
        } else {
            (decoder, packets) = (nil, nil)
        }
    }

    /// Nothing comes out before the camera gives a key frame.
    var needsKeyFrame: Bool { pixels == .h264 && decoder?.needsKeyFrame == true }

    /// - Parameter sequence: counts what the camera gives; a gap is a loss, which matters to H.264.
    /// - Throws: `unsupportedCodec`, `decoder` (coded pictures only).
    func convert(_ bytes: UnsafeRawBufferPointer, sequence: UInt32 = 0) throws(GantryError) -> Outcome {
        if let decoder, let packets { return try decode(bytes, sequence, packets, decoder) }
        guard bytes.count >= pixels.pictureBytes(width: width, height: height, stride: stride),
            let base = bytes.baseAddress
        else { return .damaged }
        guard let picture = pool.take() else { return .full }
        picture.color = color
        return fill(picture, from: base.assumingMemoryBound(to: UInt8.self)) == 0 ? .picture(picture) : .damaged
    }

    private func decode(
        _ bytes: UnsafeRawBufferPointer, _ sequence: UInt32, _ packets: CameraPackets, _ decoder: VideoDecoder
    ) throws(GantryError) -> Outcome {
        let packed = packets.pack(bytes, sequence: sequence, stamp: MediaTimestamp(microseconds: 0))
        guard case .packet(let packet) = packed else { return .damaged }
        let (dropped, damaged) = (decoder.droppedCount, decoder.damagedCount)
        let mustWait = decoder.needsKeyFrame && !packet.header.isKey
        if let picture = try decoder.decode(packet) {
            // Its size is the camera's own word; readers count on the mode's.
            return picture.width == width && picture.height == height ? .picture(picture) : .damaged
        }
        if decoder.droppedCount != dropped { return .full }
        if pixels == .mjpeg { return .damaged }
        return mustWait || decoder.damagedCount == damaged ? .waiting : .damaged
    }

    /// libyuv's status; 0 is good. Its names give the order of bits in a little-endian word: "ARGB" is B, G, R, A in
    /// memory, "RAW" is R, G, B, and "RGB24" is B, G, R.
    private func fill(_ picture: Picture, from y: UnsafePointer<UInt8>) -> CInt {
        let (toY, toU, toV) = (picture.plane(0), picture.plane(1), picture.plane(2))
        let (strideY, strideU, strideV) = (
            CInt(picture.stride(0)), CInt(picture.stride(1)), CInt(picture.stride(2))
        )
        let (w, h, row) = (CInt(picture.width), CInt(picture.height), CInt(stride))
        let second = y + stride * height
        switch pixels {
        case .yuyv: return YUY2ToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .yvyu: return YUY2ToI420(y, row, toY, strideY, toV, strideV, toU, strideU, w, h)
        case .vyuy: return UYVYToI420(y, row, toY, strideY, toV, strideV, toU, strideU, w, h)
        case .uyvy: return UYVYToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .nv12: return NV12ToI420(y, row, second, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .nv21: return NV21ToI420(y, row, second, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        // Of the twice as many rows of colour every second is taken.
        case .nv16: return NV12ToI420(y, row, second, 2 * row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .nv61: return NV21ToI420(y, row, second, 2 * row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .yuv422p:
            let v = second + stride / 2 * height
            return I422ToI420(y, row, second, row / 2, v, row / 2, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .yu12, .yv12:
            let third = second + stride / 2 * ((height + 1) / 2)
            let (u, v) = pixels == .yu12 ? (second, third) : (third, second)
            return I420Copy(y, row, u, row / 2, v, row / 2, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .grey: return I400ToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .bgr24: return RGB24ToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .rgb24: return RAWToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .bgrx32: return ARGBToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .rgbx32: return ABGRToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .xrgb32: return BGRAToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .xbgr32: return RGBAToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .rgb565: return RGB565ToI420(y, row, toY, strideY, toU, strideU, toV, strideV, w, h)
        case .mjpeg, .h264: return -1
        }
    }
}
