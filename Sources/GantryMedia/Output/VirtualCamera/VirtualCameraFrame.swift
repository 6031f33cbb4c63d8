import CYUV
import GantryCore
import GantryPlatform

/// The two pictures that a virtual camera has at hand, ready to be written: the newest of the stream, and the card.
///
/// Readers take YUV of a camera for BT.601 limited: v4l2loopback announces sRGB, whose default encoding is that
/// (linux/videodev2.h, V4L2_MAP_YCBCR_ENC_DEFAULT), and programs that do not ask assume it. So pictures of another
/// matrix or range are converted, by way of RGB (by libyuv, whose error is 2, and 8 for the purest colours). Owned by one thread; memory is taken when a size is first met, not by
/// picture.
final class VirtualCameraFrame {
    let layout: VirtualCameraLayout
    private let pictureBytes: UnsafeMutableRawBufferPointer
    private let cardBytes: UnsafeMutableRawBufferPointer
    private var plain: Picture?
    private var fitted: Picture?
    private var rgb: Picture?

    init(_ layout: VirtualCameraLayout) {
        self.layout = layout
        // Spare bytes: SIMD code of libyuv may write whole vectors.
        pictureBytes = .allocate(byteCount: layout.byteCount + 64, alignment: 64)
        cardBytes = .allocate(byteCount: layout.byteCount + 64, alignment: 64)
        _ = pictureBytes.initializeMemory(as: UInt8.self, repeating: 0)
        _ = cardBytes.initializeMemory(as: UInt8.self, repeating: 0)
    }

    deinit {
        pictureBytes.deallocate()
        cardBytes.deallocate()
    }

    var picture: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: pictureBytes[..<layout.byteCount]) }
    var card: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: cardBytes[..<layout.byteCount]) }

    /// Takes over a picture of any size, whole and undistorted, with black beside it.
    func fill(_ picture: Picture) throws(GantryError) {
        var source = picture
        if picture.format != .i420 {
            let kept = try Self.reuse(&plain, .i420, picture.width, picture.height)
            try PixelConverter.convert(picture, to: kept)
            source = kept
        }
        if source.width != layout.width || source.height != layout.height {
            let kept = try Self.reuse(&fitted, .i420, layout.width, layout.height)
            // The colour of the bars depends on the range, and is set before they are drawn.
            kept.color = source.color
            // What is not said goes by the size of the stream, not by that of the device.
            let assumed = ColorDescription.assumed(forHeight: source.height)
            try PixelConverter.scale(source, to: kept)
            if kept.color.matrix == ColorDescription.unspecified.matrix { kept.color.matrix = assumed.matrix }
            source = kept
        }
        try pack(source, into: pictureBytes)
    }

    func draw(_ card: VirtualCameraCard) throws(GantryError) {
        guard let canvas = Picture(format: .i420, width: layout.width, height: layout.height, color: .bt601) else {
            throw GantryError(.general, "A card of \(layout.width)x\(layout.height) cannot be drawn.")
        }
        card.draw(on: canvas)
        try pack(canvas, into: cardBytes)
    }

    private static func reuse(
        _ kept: inout Picture?, _ format: PixelFormat, _ width: Int, _ height: Int
    ) throws(GantryError) -> Picture {
        if let kept, kept.width == width, kept.height == height { return kept }
        guard let fresh = Picture(format: format, width: width, height: height) else {
            throw GantryError(.invalidArgument, "A picture of \(width)x\(height) is too large to be shown.")
        }
        kept = fresh
        return fresh
    }

    // MARK: Packing

    private func pack(_ source: Picture, into bytes: UnsafeMutableRawBufferPointer) throws(GantryError) {
        guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        var status: CInt
        if let constants = Self.constants(source) {
            let rgb = try Self.reuse(&rgb, .bgra, layout.width, layout.height)
            status = I420ToARGBMatrix(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), rgb.plane(0), CInt(rgb.stride(0)), constants, CInt(layout.width),
                CInt(layout.height))
            if status == 0 { status = packRGB(rgb, base) }
        } else {
            status = packPlanes(source, base)
        }
        guard status == 0 else {
            throw GantryError(.general, "A picture could not be converted.", cause: "libyuv returned \(status)")
        }
    }

    /// Nil for what readers assume anyway.
    private static func constants(_ picture: Picture) -> UnsafePointer<YuvConstants>? {
        let wanted = RGBExport.constants(picture, .bgra)
        return wanted == CYUV_constants_601() ? nil : wanted
    }

    private func packPlanes(_ source: Picture, _ base: UnsafeMutablePointer<UInt8>) -> CInt {
        let (width, height) = (CInt(layout.width), CInt(layout.height))
        let luma = layout.width * layout.height
        switch layout.pixels {
        case .yuyv:
            return I420ToYUY2(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), base, width * 2, width, height)
        case .yu12:
            return I420Copy(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), base, width, base + luma, width / 2, base + luma + luma / 4, width / 2, width,
                height)
        case .nv12:
            return I420ToNV12(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), base, width, base + luma, width, width, height)
        }
    }

    /// To BT.601 limited: the matrix of these functions.
    private func packRGB(_ rgb: Picture, _ base: UnsafeMutablePointer<UInt8>) -> CInt {
        let (width, height) = (CInt(layout.width), CInt(layout.height))
        let luma = layout.width * layout.height
        switch layout.pixels {
        case .yuyv: return ARGBToYUY2(rgb.plane(0), CInt(rgb.stride(0)), base, width * 2, width, height)
        case .yu12:
            return ARGBToI420(
                rgb.plane(0), CInt(rgb.stride(0)), base, width, base + luma, width / 2, base + luma + luma / 4,
                width / 2, width, height)
        case .nv12:
            return ARGBToNV12(rgb.plane(0), CInt(rgb.stride(0)), base, width, base + luma, width, width, height)
        }
    }
}
