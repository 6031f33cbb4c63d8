import CSDL2
import GantryCore
import GantryMedia
import StudioKit

/// A picture in the memory of the renderer. Belongs to the thread of the window; memory is taken when a size is first met.
///
/// Planes go up as they are where the graphics card makes RGB of them in the right way. Otherwise libyuv does, by the stream's
/// own matrix and range: that is faster than SDL, and SDL knows neither BT.709 of full range nor BT.2020.
final class PictureTexture {
    private var texture: OpaquePointer?
    private(set) var width = 0
    private(set) var height = 0
    private var format = SDL_PIXELFORMAT_ARGB8888
    private var mode = SDL_YUV_CONVERSION_BT709

    var isEmpty: Bool { texture == nil }

    /// The renderer has lost it, or nothing is to be shown; to be called before the window goes.
    func removeAll() {
        if let texture { SDL_DestroyTexture(texture) }
        texture = nil
        (width, height) = (0, 0)
    }

    /// - Throws: `outputFailed` when it is too large for the graphics card.
    func fill(_ frame: VideoFrame, _ window: SDLWindow) throws(GantryError) {
        let mode = window.takesYUV && frame.format == .i420 ? Self.mode(frame) : nil
        let format = mode == nil ? SDL_PIXELFORMAT_ARGB8888 : SDL_PIXELFORMAT_IYUV
        let texture = try reuse(frame, format, window)
        if let mode {
            self.mode = mode
            try upload(frame, texture)
        } else {
            try convert(frame, texture)
        }
    }

    private func reuse(
        _ frame: VideoFrame, _ format: SDL_PixelFormatEnum, _ window: SDLWindow
    ) throws(GantryError) -> OpaquePointer {
        if let texture, frame.width == width, frame.height == height, format == self.format { return texture }
        removeAll()
        guard
            let texture = SDL_CreateTexture(
                window.renderer, UInt32(format.rawValue), Int32(SDL_TEXTUREACCESS_STREAMING.rawValue),
                Int32(clamping: frame.width), Int32(clamping: frame.height))
        else { throw SDLWindow.failure("A picture of \(frame.width)x\(frame.height) cannot be shown.") }
        (self.texture, self.format, width, height) = (texture, format, frame.width, frame.height)
        return texture
    }

    /// How SDL has to understand the planes; nil when it cannot. H.273: matrix 1 is BT.709, 9 and 10 are BT.2020; what is not
    /// known is BT.601, as in `VideoFrame.copyBGRA`.
    private static func mode(_ frame: VideoFrame) -> SDL_YUV_CONVERSION_MODE? {
        var matrix = frame.color.matrix
        if matrix == ColorDescription.unspecified.matrix {
            matrix = ColorDescription.assumed(forHeight: frame.height).matrix
        }
        return switch (matrix, frame.color.isFullRange) {
        case (1, false): SDL_YUV_CONVERSION_BT709
        case (1, true), (9...10, _): nil
        case (_, true): SDL_YUV_CONVERSION_JPEG
        default: SDL_YUV_CONVERSION_BT601
        }
    }

    private func upload(_ frame: VideoFrame, _ texture: OpaquePointer) throws(GantryError) {
        let status = frame.withPlane(0) { y, strideY in
            frame.withPlane(1) { u, strideU in
                frame.withPlane(2) { v, strideV in
                    SDL_UpdateYUVTexture(
                        texture, nil, y.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: strideY),
                        u.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: strideU),
                        v.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: strideV))
                }
            }
        }
        guard status == .some(.some(.some(0))) else { throw SDLWindow.failure("A picture could not be shown.") }
    }

    private func convert(_ frame: VideoFrame, _ texture: OpaquePointer) throws(GantryError) {
        var pixels: UnsafeMutableRawPointer?
        var stride: Int32 = 0
        guard SDL_LockTexture(texture, nil, &pixels, &stride) == 0, let pixels, stride > 0 else {
            throw SDLWindow.failure("A picture could not be shown.")
        }
        defer { SDL_UnlockTexture(texture) }
        let count = Int(stride) * (height - 1) + frame.packedStride
        try frame.copyBGRA(to: UnsafeMutableRawBufferPointer(start: pixels, count: count), stride: Int(stride))
    }

    /// Draws it whole, undistorted and in the middle of the window, after so many quarter turns clockwise.
    func draw(_ window: SDLWindow, turns: Int) {
        guard let texture else { return }
        SDL_SetYUVConversionMode(mode)
        let outer = window.size
        let isUpright = turns % 2 == 0
        let inner = PixelConverter.fit(
            width: isUpright ? width : height, height: isUpright ? height : width, into: outer)
        guard turns % 4 != 0 else {
            var place = SDL_Rect(
                x: Int32(inner.x), y: Int32(inner.y), w: Int32(inner.width), h: Int32(inner.height))
            SDL_RenderCopy(window.renderer, texture, nil, &place)
            return
        }
        // SDL turns what it has placed about its middle: it is placed as it is before the turn.
        let (placedWidth, placedHeight) = isUpright ? (inner.width, inner.height) : (inner.height, inner.width)
        var place = SDL_FRect(
            x: Float(inner.x) + Float(inner.width - placedWidth) / 2,
            y: Float(inner.y) + Float(inner.height - placedHeight) / 2, w: Float(placedWidth), h: Float(placedHeight))
        SDL_RenderCopyExF(window.renderer, texture, nil, &place, Double(turns) * 90, nil, SDL_FLIP_NONE)
    }
}
