/// How the pixels of a camera can lie in memory for us to use them; the names are those of V4L2.
package enum CameraPixels: Sendable, Hashable, CaseIterable {
    case yuyv, uyvy, nv12, nv21, yu12, yv12, grey
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
    /// A JPEG picture each.
    case mjpeg

    /// Nil for a format that is not handled, such as H.264 and raw sensor data.
    package init?(_ code: FourCC) {
        guard let found = Self.allCases.first(where: { $0.codes.contains(code) }) else { return nil }
        self = found
    }

    /// V4L2_PIX_FMT_… of linux/videodev2.h.
    private var codes: [FourCC] {
        switch self {
        case .yuyv: [FourCC("YUYV")]
        case .uyvy: [FourCC("UYVY")]
        case .nv12: [FourCC("NV12")]
        case .nv21: [FourCC("NV21")]
        case .yu12: [FourCC("YU12")]
        case .yv12: [FourCC("YV12")]
        case .grey: [FourCC("GREY")]
        case .bgr24: [FourCC("BGR3")]
        case .rgb24: [FourCC("RGB3")]
        case .bgrx32: [FourCC("XR24"), FourCC("AR24"), FourCC("BGR4")]
        case .rgbx32: [FourCC("XB24"), FourCC("AB24")]
        case .xrgb32: [FourCC("BX24"), FourCC("BA24"), FourCC("RGB4")]
        case .mjpeg: [FourCC("MJPG"), FourCC("JPEG")]
        }
    }

    /// Work and loss on the way to I420, the less the better: the order of choice among equals.
    var cost: Int {
        switch self {
        case .yu12, .yv12, .nv12, .nv21: 0
        case .yuyv, .uyvy: 1
        case .bgrx32, .rgbx32, .xrgb32, .bgr24, .rgb24: 2
        case .mjpeg: 3
        case .grey: 4
        }
    }

    var isRGB: Bool {
        switch self {
        case .bgr24, .rgb24, .bgrx32, .rgbx32, .xrgb32: true
        default: false
        }
    }

    /// The least bytes of a row of the first plane; 0 for JPEG.
    func rowBytes(width: Int) -> Int {
        switch self {
        case .nv12, .nv21, .yu12, .yv12, .grey: width
        case .yuyv, .uyvy: (width + 1) / 2 * 4
        case .bgr24, .rgb24: width * 3
        case .bgrx32, .rgbx32, .xrgb32: width * 4
        case .mjpeg: 0
        }
    }

    /// The bytes that a picture takes whose first plane has rows of `stride` bytes, without the padding behind the last
    /// row; 0 for JPEG.
    func pictureBytes(width: Int, height: Int, stride: Int) -> Int {
        let chromaRows = (height + 1) / 2
        switch self {
        case .nv12, .nv21: return stride * height + stride * (chromaRows - 1) + (width + 1) / 2 * 2
        case .yu12, .yv12: return stride * height + stride / 2 * (2 * chromaRows - 1) + (width + 1) / 2
        case .mjpeg: return 0
        default: return stride * (height - 1) + rowBytes(width: width)
        }
    }
}
