package import GantryCore

/// How the pixels of a camera can lie in memory for us to use them; the names are those of V4L2.
package enum CameraPixels: Sendable, Hashable, CaseIterable {
    case yuyv, yvyu, uyvy, vyuy, nv12, nv21, nv16, nv61, yu12, yv12, yuv422p, grey
    /// Blue, green, red.
    case bgr24
    /// Red, green, blue.
    case rgb24
    /// Blue, green, red, one byte without meaning.
    case bgrx32
    /// Red, green, blue, one byte without meaning.
    case rgbx32
    /// One byte without meaning, red, green, blue.
    case xrgb32
    /// One byte without meaning, blue, green, red.
    case xbgr32
    /// 16 bits, little-endian: 5 of red at the top, 6 of green, 5 of blue.
    case rgb565
    /// A JPEG picture each.
    case mjpeg
    /// An access unit each, in Annex B form.
    case h264

    /// Nil for a format that is not handled, such as raw sensor data.
    package init?(_ code: FourCC) {
        guard let found = Self.allCases.first(where: { $0.codes.contains(code) }) else { return nil }
        self = found
    }

    /// V4L2_PIX_FMT_… of linux/videodev2.h.
    private var codes: [FourCC] {
        switch self {
        case .yuyv: [FourCC("YUYV")]
        case .yvyu: [FourCC("YVYU")]
        case .uyvy: [FourCC("UYVY")]
        case .vyuy: [FourCC("VYUY")]
        case .nv12: [FourCC("NV12")]
        case .nv21: [FourCC("NV21")]
        case .nv16: [FourCC("NV16")]
        case .nv61: [FourCC("NV61")]
        case .yu12: [FourCC("YU12")]
        case .yv12: [FourCC("YV12")]
        case .yuv422p: [FourCC("422P")]
        case .grey: [FourCC("GREY")]
        case .bgr24: [FourCC("BGR3")]
        case .rgb24: [FourCC("RGB3")]
        case .bgrx32: [FourCC("XR24"), FourCC("AR24"), FourCC("BGR4")]
        case .rgbx32: [FourCC("XB24"), FourCC("AB24")]
        case .xrgb32: [FourCC("BX24"), FourCC("BA24"), FourCC("RGB4")]
        case .xbgr32: [FourCC("RX24"), FourCC("RA24")]
        case .rgb565: [FourCC("RGBP")]
        case .mjpeg: [FourCC("MJPG"), FourCC("JPEG")]
        case .h264: [FourCC("H264")]
        }
    }

    /// Work and loss on the way to I420, the less the better: the order of choice among equals.
    var cost: Int {
        switch self {
        case .yu12, .yv12, .nv12, .nv21: 0
        case .yuyv, .yvyu, .uyvy, .vyuy, .nv16, .nv61, .yuv422p: 1
        case .bgrx32, .rgbx32, .xrgb32, .xbgr32, .bgr24, .rgb24: 2
        case .mjpeg, .rgb565: 3
        case .h264: 4
        case .grey: 5
        }
    }

    var isRGB: Bool {
        switch self {
        case .bgr24, .rgb24, .bgrx32, .rgbx32, .xrgb32, .xbgr32, .rgb565: true
        default: false
        }
    }

    /// What the camera has coded itself; nil for raw pictures.
    package var codec: MediaCodec? {
        switch self {
        case .mjpeg: .mjpeg
        case .h264: .h264
        default: nil
        }
    }

    /// The least bytes of a row of the first plane; 0 for coded pictures.
    func rowBytes(width: Int) -> Int {
        switch self {
        case .nv12, .nv21, .nv16, .nv61, .yu12, .yv12, .yuv422p, .grey: width
        case .yuyv, .yvyu, .uyvy, .vyuy: (width + 1) / 2 * 4
        case .rgb565: width * 2
        case .bgr24, .rgb24: width * 3
        case .bgrx32, .rgbx32, .xrgb32, .xbgr32: width * 4
        case .mjpeg, .h264: 0
        }
    }

    /// The bytes that a picture takes whose first plane has rows of `stride` bytes, without the padding behind the last
    /// row; 0 for coded pictures.
    func pictureBytes(width: Int, height: Int, stride: Int) -> Int {
        let chromaRows = (height + 1) / 2
        switch self {
        case .nv12, .nv21: return stride * height + stride * (chromaRows - 1) + (width + 1) / 2 * 2
        case .nv16, .nv61: return stride * (2 * height - 1) + (width + 1) / 2 * 2
        case .yu12, .yv12: return stride * height + stride / 2 * (2 * chromaRows - 1) + (width + 1) / 2
        case .yuv422p: return stride * height + stride / 2 * (2 * height - 1) + (width + 1) / 2
        case .mjpeg, .h264: return 0
        default: return stride * (height - 1) + rowBytes(width: width)
        }
    }
}
