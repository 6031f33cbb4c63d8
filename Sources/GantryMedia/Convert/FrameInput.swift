import CYUV
package import GantryCore
import GantryPlatform

/// Turns pictures in memory of the application into pooled I420 pictures of even size, upright. Any thread; pictures of one
/// size are used again.
///
/// BGRA and RGBA become BT.601 limited, and say so: that is the matrix of libyuv's ARGBToI420. Others keep their colour.
package final class FrameInput: @unchecked Sendable {  // The pools are guarded by `lock`.
    /// One with the encoder, one that waits, one being filled, one to spare.
    private static let poolSize = 4

    private let lock = Lock()
    private var ready: SizedPool?
    /// Pictures that are still to be turned.
    private var unturned: SizedPool?

    private struct SizedPool {
        let width: Int
        let height: Int
        let pool: ReusePool<Picture>
    }

    package init() {}

    /// - Parameter rotation: clockwise degrees that make the picture upright: 0, 90, 180, 270.
    /// - Returns: nil when all pooled pictures are in use. Its stamps are not set.
    /// - Throws: `invalidArgument` for another rotation.
    package func picture(from frame: RawFrame, rotation: Int = 0) throws(GantryError) -> Picture? {
        let (width, height) = (frame.width & ~1, frame.height & ~1)
        guard rotation != 0 else {
            guard let picture = take(\.ready, width, height) else { return nil }
            try Self.fill(picture, from: frame)
            return picture
        }
        try Self.check(rotation)
        guard let plain = take(\.unturned, width, height) else { return nil }
        try Self.fill(plain, from: frame)
        return try turned(plain, by: rotation)
    }

    /// An I420 picture turned clockwise. Nil when all pooled pictures are in use.
    ///
    /// - Throws: `invalidArgument` for another rotation than 0, 90, 180, 270.
    package func turned(_ picture: Picture, by rotation: Int) throws(GantryError) -> Picture? {
        try Self.check(rotation)
        guard rotation != 0 else { return picture }
        let isSideways = rotation % 180 != 0
        let (width, height) =
            isSideways ? (picture.height, picture.width) : (picture.width, picture.height)
        guard let upright = take(\.ready, width, height) else { return nil }
        try PixelConverter.rotate(picture, by: rotation, to: upright)
        return upright
    }

    private static func check(_ rotation: Int) throws(GantryError) {
        guard [0, 90, 180, 270].contains(rotation) else {
            throw GantryError(
                .invalidArgument, "Pictures turn by 0, 90, 180 or 270 degrees clockwise, not by \(rotation).")
        }
    }

    private func take(
        _ kept: ReferenceWritableKeyPath<FrameInput, SizedPool?>, _ width: Int, _ height: Int
    ) -> Picture? {
        let pool = lock.withLock { () -> ReusePool<Picture> in
            if let sized = self[keyPath: kept], sized.width == width, sized.height == height { return sized.pool }
            let new = ReusePool<Picture>(capacity: Self.poolSize) {
                Picture(format: .i420, width: width, height: height)
            }
            self[keyPath: kept] = SizedPool(width: width, height: height, pool: new)
            return new
        }
        return pool.take()
    }

    /// The picture may have one row or column less, which is cut off. libyuv's names give the order of bits in a little-endian
    /// word: "ARGB" is B, G, R, A in memory, "ABGR" is R, G, B, A.
    private static func fill(_ picture: Picture, from frame: RawFrame) throws(GantryError) {
        guard let first = frame.planes.0.base else { return }
        let row = frame.planes.0.step
        let (toY, toU, toV) = (picture.plane(0), picture.plane(1), picture.plane(2))
        let (y, u, v) = (CInt(picture.stride(0)), CInt(picture.stride(1)), CInt(picture.stride(2)))
        let (w, h) = (CInt(picture.width), CInt(picture.height))
        picture.color = frame.color
        let status: CInt
        switch frame.layout {
        case .bgra, .rgba:
            picture.color = .bt601
            status =
                frame.layout == .bgra
                ? ARGBToI420(first, row, toY, y, toU, u, toV, v, w, h)
                : ABGRToI420(first, row, toY, y, toU, u, toV, v, w, h)
        case .yuyv: status = YUY2ToI420(first, row, toY, y, toU, u, toV, v, w, h)
        case .uyvy: status = UYVYToI420(first, row, toY, y, toU, u, toV, v, w, h)
        case .nv12:
            guard let second = frame.planes.1 else { return }
            status = NV12ToI420(first, row, second.base, second.step, toY, y, toU, u, toV, v, w, h)
        case .i420:
            guard let second = frame.planes.1, let third = frame.planes.2 else { return }
            status = I420Copy(
                first, row, second.base, second.step, third.base, third.step, toY, y, toU, u, toV, v, w, h)
        }
        guard status == 0 else { throw GantryError(.invalidArgument, "The picture could not be converted.") }
    }
}
