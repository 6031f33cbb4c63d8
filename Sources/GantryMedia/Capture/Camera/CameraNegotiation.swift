import GantryCore
import Glibc

/// The choice of a camera's mode. Pure.
enum CameraNegotiation {
    /// The offer that comes nearest to the wish, or nil when there is none with a size that is possible.
    ///
    /// Measured in octaves: how much larger the picture is, twice how much smaller, twice how much slower. Among equals
    /// the pixels that need less work win, then the order of the driver.
    static func choose(_ offers: [CameraOffer], wish: CameraWish) -> CameraMode? {
        var best: (penalty: Double, mode: CameraMode)?
        for offer in offers {
            let size = offer.size(nearest: wish)
            guard 16...Picture.maximumSide ~= size.width, 16...Picture.maximumSide ~= size.height else { continue }
            let mode = CameraMode(
                pixels: offer.pixels, width: size.width, height: size.height, frameRate: offer.frameRate)
            let penalty = penalty(of: mode, wish)
            if let best, best.penalty <= penalty { continue }
            best = (penalty, mode)
        }
        return best?.mode
    }

    private static func penalty(of mode: CameraMode, _ wish: CameraWish) -> Double {
        let octaves = log2(Double(mode.width * mode.height) / Double(max(1, wish.width) * max(1, wish.height)))
        var penalty = octaves >= 0 ? octaves : -2 * octaves
        // Of one area, the shape that was asked for.
        let shape = Double(mode.width * max(1, wish.height)) / Double(mode.height * max(1, wish.width))
        penalty += abs(log2(shape)) / 2
        if let rate = mode.frameRate {
            penalty += 2 * max(0, log2(wish.frameRate.framesPerSecond / rate.framesPerSecond))
        }
        return penalty + Double(mode.pixels.cost) / 100
    }

    /// What the numbers of a V4L2 format say about colours: linux/videodev2.h, enum v4l2_colorspace,
    /// v4l2_ycbcr_encoding and v4l2_quantization, and its V4L2_MAP_…_DEFAULT rules.
    ///
    /// RGB is converted with the matrix of BT.601 in limited range; JPEG pictures are BT.601 in full range (JFIF).
    static func color(
        pixels: CameraPixels, colorspace: UInt32, encoding: UInt32, quantization: UInt32
    ) -> ColorDescription {
        var color = ColorDescription(primaries: 1, transfer: 1, matrix: 6)
        switch colorspace {
        case 1: (color.primaries, color.transfer) = (6, 6)  // SMPTE170M
        case 3: color.matrix = 1  // REC709
        case 5: (color.primaries, color.transfer) = (4, 4)  // 470_SYSTEM_M
        case 6: (color.primaries, color.transfer) = (5, 6)  // 470_SYSTEM_BG
        case 10: (color.primaries, color.transfer, color.matrix) = (9, 14, 9)  // BT2020
        default: break
        }
        switch encoding {
        case 1, 3: color.matrix = 6  // 601, XV601
        case 2, 4: color.matrix = 1  // 709, XV709
        case 6: color.matrix = 9  // BT2020
        default: break
        }
        if pixels.isRGB || pixels == .mjpeg { color.matrix = 6 }
        // 1: full range; the default is limited, except for V4L2_COLORSPACE_JPEG (7).
        let isFull = quantization == 1 || quantization == 0 && colorspace == 7
        color.isFullRange = pixels == .mjpeg || isFull && !pixels.isRGB
        return color
    }
}
