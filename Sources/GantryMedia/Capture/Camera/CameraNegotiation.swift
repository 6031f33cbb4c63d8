import GantryCore
import Glibc

/// The choice of a camera's mode. Pure.
enum CameraNegotiation {
    /// The offers with a size that is possible, the nearest to the wish first.
    ///
    /// Measured in octaves: how much larger the picture is, twice how much smaller, twice how much slower. Among equals
    /// the pixels that need less work win, then the order of the driver.
    static func rank(
        _ offers: [CameraOffer], wish: CameraWish, options: CameraOptions = CameraOptions()
    ) -> [CameraCandidate] {
        var found: [CameraCandidate] = []
        for (index, offer) in offers.enumerated() where options.permits(offer.pixels) {
            let size = offer.size(nearest: wish)
            guard 16...Picture.maximumSide ~= size.width, 16...Picture.maximumSide ~= size.height else { continue }
            let mode = CameraMode(
                pixels: offer.pixels, width: size.width, height: size.height, frameRate: offer.frameRate)
            found.append(candidate(mode, index, wish))
        }
        return found.sorted { ($0.penalty, $0.offer) < ($1.penalty, $1.offer) }
    }

    /// The first of `rank`, or nil when there is none.
    static func choose(
        _ offers: [CameraOffer], wish: CameraWish, options: CameraOptions = CameraOptions()
    ) -> CameraMode? {
        rank(offers, wish: wish, options: options).first?.mode
    }

    private static func candidate(_ mode: CameraMode, _ offer: Int, _ wish: CameraWish) -> CameraCandidate {
        let (width, height) = (Double(max(1, wish.width)), Double(max(1, wish.height)))
        let octaves = log2(Double(mode.width) * Double(mode.height) / (width * height))
        let shape = Double(mode.width) * height / (Double(mode.height) * width)
        let slowness = mode.frameRate.map { log2(wish.frameRate.framesPerSecond / $0.framesPerSecond) } ?? 0
        return CameraCandidate(
            mode: mode, offer: offer, size: octaves >= 0 ? octaves : -2 * octaves, shape: abs(log2(shape)) / 2,
            rate: 2 * max(0, slowness), format: Double(mode.pixels.cost) / 100)
    }

    /// The choice in words, a line each; the best candidates only.
    static func explanation(_ ranked: [CameraCandidate], wish: CameraWish) -> [String] {
        guard let best = ranked.first else { return [] }
        var lines = [
            "asked for \(wish.width)x\(wish.height) \(wish.frameRate) fps; takes \(best.mode), which has the least penalty of "
                + "\(ranked.count) (1 for each doubling of the area, 2 for each halving of area or rate)"
        ]
        lines += ranked.prefix(explained).map { "penalty \($0)" }
        if ranked.count > explained { lines.append("and \(ranked.count - explained) more, further away") }
        return lines
    }

    private static let explained = 16

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
        // 1: full range; the default is limited, except for V4L2_COLORSPACE_JPEG (7), and for what is no YCbCr.
        let isFull = quantization == 1 || quantization == 0 && (colorspace == 7 || pixels == .grey)
        color.isFullRange = pixels == .mjpeg || isFull && !pixels.isRGB
        return color
    }
}
