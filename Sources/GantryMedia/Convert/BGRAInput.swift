import CYUV
package import GantryCore
import GantryPlatform

/// Turns BGRA memory of the application into pooled I420 pictures. Any thread; pictures of one size are used again.
///
/// The result is BT.601 limited, and says so: that is the matrix of libyuv's ARGBToI420.
package final class BGRAInput: @unchecked Sendable {  // `pool` and `size` are guarded by `lock`.
    /// One with the encoder, one that waits, one being filled, one to spare.
    private static let poolSize = 4
    private let lock = Lock()
    private var pool: ReusePool<Picture>?
    private var size = (width: 0, height: 0)

    package init() {}

    /// - Parameters:
    ///   - pixels: `height` rows of `stride` bytes; of the last row only `width` × 4 need be there.
    /// - Returns: nil when all pooled pictures are in use.
    /// - Throws: `invalidArgument` when size, stride and byte count do not fit each other.
    package func picture(
        from pixels: UnsafeRawBufferPointer, width: Int, height: Int, stride: Int
    ) throws(GantryError) -> Picture? {
        guard 16...Picture.maximumSide ~= width, 16...Picture.maximumSide ~= height else {
            throw GantryError(.invalidArgument, "A picture of \(width)x\(height) is outside 16x16…8192x8192.")
        }
        guard stride >= width * 4, stride <= Int(CInt.max) / 2,
            pixels.count >= stride * (height - 1) + width * 4, let base = pixels.baseAddress
        else {
            throw GantryError(
                .invalidArgument,
                "\(pixels.count) bytes with a stride of \(stride) are not a BGRA picture of \(width)x\(height).")
        }
        guard let picture = takePicture(width: width & ~1, height: height & ~1) else { return nil }
        // "ARGB" of libyuv names the bits of a little-endian word: the bytes are B, G, R, A.
        let status = ARGBToI420(
            base.assumingMemoryBound(to: UInt8.self), CInt(stride), picture.plane(0), CInt(picture.stride(0)),
            picture.plane(1), CInt(picture.stride(1)), picture.plane(2), CInt(picture.stride(2)),
            CInt(picture.width), CInt(picture.height))
        guard status == 0 else { throw GantryError(.invalidArgument, "The picture could not be converted.") }
        picture.color = .bt601
        return picture
    }

    private func takePicture(width: Int, height: Int) -> Picture? {
        let current = lock.withLock { () -> ReusePool<Picture> in
            if let pool, size == (width, height) { return pool }
            let new = ReusePool<Picture>(capacity: Self.poolSize) {
                Picture(format: .i420, width: width, height: height, color: .bt601)
            }
            pool = new
            size = (width, height)
            return new
        }
        return current.take()
    }
}
