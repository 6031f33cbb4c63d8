public import GantryCore
import GantryMedia

/// One picture of the application, as `ProducerController.enqueueVideo` takes it: where its bytes lie and what they mean. A
/// description only, which owns nothing and costs nothing to make.
public struct CapturedFrame {
    /// How the bytes lie.
    public enum Format: String, Sendable, CaseIterable {
        /// One plane, 4 bytes a pixel: blue, green, red, alpha (not looked at).
        case bgra
        /// One plane, 4 bytes a pixel: red, green, blue, alpha (not looked at).
        case rgba
        /// Two planes: Y; U and V interleaved, half as wide and high (rounded up). The encoder reads it as it is.
        case nv12
        /// Three planes: Y, U, V; U and V half as wide and high (rounded up). The encoder reads it as it is.
        case i420
        /// One plane, 4 bytes for 2 pixels: Y, U, Y, V (YUY2).
        case yuyv
        /// One plane, 4 bytes for 2 pixels: U, Y, V, Y.
        case uyvy
        /// A JPEG picture.
        case mjpeg
        /// An access unit of H.264: all of one picture, units behind 00 00 01 or 00 00 00 01 (Annex B), SPS and PPS in front of
        /// key frames. No B frames.
        case h264

        var layout: RawFrame.Layout? { RawFrame.Layout(rawValue: rawValue) }

        var codec: MediaCodec? {
            switch self {
            case .mjpeg: .mjpeg
            case .h264: .h264
            default: nil
            }
        }
    }

    /// A part of a picture: rows of bytes.
    public struct Plane {
        /// The first byte of the first row, and on; of the last row only the pixels need be there.
        public var bytes: UnsafeRawBufferPointer
        /// Bytes from one row to the next: at least those of the pixels, more where rows are padded.
        public var stride: Int

        /// Rows in `bytes`, each `stride` bytes behind the one before.
        public init(_ bytes: UnsafeRawBufferPointer, stride: Int) {
            self.bytes = bytes
            self.stride = stride
        }
    }

    /// How the bytes lie.
    public let format: Format
    /// Pixels, 16…8192; odd ones lose their last column. 0 for coded pictures, which say it themselves.
    public let width: Int
    /// Pixels, 16…8192; odd ones lose their last row. 0 for coded pictures.
    public let height: Int
    /// What the numbers mean, for NV12, I420, YUYV and UYVY; nil: BT.709 limited from 720 rows on, else BT.601. Not looked at for
    /// the others: BGRA and RGBA are taken as sRGB, and coded pictures say it themselves.
    public var color: ColorDescription?
    /// Clockwise degrees that make the picture upright: 0, 90, 180, 270.
    public var rotation = 0
    /// When it was captured, on `CLOCK_MONOTONIC`, in microseconds; nil: now. A picture from before the last `resume()` is let go.
    public var captureTime: MediaTimestamp?

    let planes: (Plane, Plane?, Plane?)

    /// A picture whose planes lie anywhere. Whether they fit is looked at by `enqueueVideo`.
    ///
    /// - Parameters:
    ///   - format: how the bytes are pixels.
    ///   - width: pixels.
    ///   - height: pixels.
    ///   - first: all of BGRA, RGBA, YUYV and UYVY; Y of the others.
    ///   - second: U and V of NV12; U of I420.
    ///   - third: V of I420.
    public init(
        _ format: Format, width: Int, height: Int, _ first: Plane, _ second: Plane? = nil, _ third: Plane? = nil
    ) {
        self.format = format
        self.width = width
        self.height = height
        planes = (first, second, third)
    }

    /// A picture whose planes lie one behind the other, as V4L2 and most libraries give it.
    ///
    /// - Parameters:
    ///   - format: how the bytes are pixels.
    ///   - width: pixels.
    ///   - height: pixels.
    ///   - bytes: all planes. Those of chroma begin `height` rows behind the first; of I420 their rows are half as long.
    ///   - stride: bytes from one row of the first plane to the next; nil: rows are not padded.
    public init(_ format: Format, width: Int, height: Int, bytes: UnsafeRawBufferPointer, stride: Int? = nil) {
        let usual = RawFrame.sides ~= width ? format.layout?.rowBytes(plane: 0, width: width) ?? 0 : 0
        let stride = stride ?? usual
        var planes: (Plane, Plane?, Plane?) = (Plane(bytes, stride: stride), nil, nil)
        func rest(behind rows: Int, of stride: Int, in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
            let (begin, isOver) = rows.multipliedReportingOverflow(by: stride)
            guard !isOver, 0...bytes.count ~= begin else { return UnsafeRawBufferPointer(start: nil, count: 0) }
            return UnsafeRawBufferPointer(rebasing: bytes[begin...])
        }
        let chroma = rest(behind: height, of: stride, in: bytes)
        switch format {
        case .nv12: planes.1 = Plane(chroma, stride: stride &+ stride % 2)
        case .i420:
            let half = stride / 2 &+ stride % 2
            planes.1 = Plane(chroma, stride: half)
            planes.2 = Plane(rest(behind: height / 2 &+ height % 2, of: half, in: chroma), stride: half)
        default: break
        }
        self.format = format
        self.width = width
        self.height = height
        self.planes = planes
    }

    /// A JPEG picture.
    public init(mjpeg bytes: UnsafeRawBufferPointer) { self.init(coded: .mjpeg, bytes) }

    /// An access unit of H.264, as `Format.h264` describes it.
    public init(h264 bytes: UnsafeRawBufferPointer) { self.init(coded: .h264, bytes) }

    private init(coded format: Format, _ bytes: UnsafeRawBufferPointer) {
        self.init(format, width: 0, height: 0, Plane(bytes, stride: 0))
    }

    /// - Throws: `invalidArgument` when size, strides and byte counts do not fit each other.
    func raw(_ layout: RawFrame.Layout) throws(GantryError) -> RawFrame {
        func plane(_ plane: Plane) -> RawFrame.Plane { .init(plane.bytes, stride: plane.stride) }
        return try RawFrame(
            layout, width: width, height: height, color: color, plane(planes.0), planes.1.map(plane),
            planes.2.map(plane))
    }
}
