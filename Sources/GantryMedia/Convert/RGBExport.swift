import CYUV
package import GantryCore

/// Turns I420 pictures into packed RGB with 4 bytes a pixel, in memory of the application. Any thread; nothing is allocated.
package enum RGBExport {
    /// The order of the bytes in memory; alpha is 255.
    package enum Order: Sendable {
        case bgra, rgba
    }

    /// By the picture's own matrix and range.
    ///
    /// - Parameters:
    ///   - pixels: at least `stride` × (height − 1) + width × 4 bytes.
    ///   - stride: bytes from one row to the next.
    /// - Throws: `invalidArgument` when stride and byte count do not fit the picture.
    package static func copy(
        _ picture: Picture, to pixels: UnsafeMutableRawBufferPointer, stride: Int, order: Order
    ) throws(GantryError) {
        let (width, height) = (picture.width, picture.height)
        guard picture.format == .i420, stride >= width * 4, stride <= Int(CInt.max) / 2,
            pixels.count >= stride * (height - 1) + width * 4,
            let base = pixels.baseAddress?.assumingMemoryBound(to: UInt8.self)
        else {
            throw GantryError(
                .invalidArgument,
                "\(pixels.count) bytes with a stride of \(stride) do not hold a picture of \(width)x\(height). It takes a "
                    + "stride of \(width * 4) or more, and as many bytes for each of the \(height) rows.")
        }
        let (first, second) = order == .bgra ? (1, 2) : (2, 1)
        let status = I420ToARGBMatrix(
            picture.plane(0), CInt(picture.stride(0)), picture.plane(first), CInt(picture.stride(first)),
            picture.plane(second), CInt(picture.stride(second)), base, CInt(stride), constants(picture, order),
            CInt(width), CInt(height))
        guard status == 0 else { throw GantryError(.general, "The picture could not be converted to RGB.") }
    }

    /// MatrixCoefficients of H.273: 1 BT.709, 9 and 10 BT.2020; 5 and 6 are BT.601, and the rest is taken for it.
    static func constants(_ picture: Picture, _ order: Order) -> UnsafePointer<YuvConstants>? {
        var matrix = picture.color.matrix
        if matrix == ColorDescription.unspecified.matrix {
            matrix = ColorDescription.assumed(forHeight: picture.height).matrix
        }
        let isBGRA = order == .bgra
        switch (matrix, picture.color.isFullRange) {
        case (1, false): return isBGRA ? CYUV_constants_709() : CYUV_swapped_709()
        case (1, true): return isBGRA ? CYUV_constants_709_full() : CYUV_swapped_709_full()
        case (9...10, false): return isBGRA ? CYUV_constants_2020() : CYUV_swapped_2020()
        case (9...10, true): return isBGRA ? CYUV_constants_2020_full() : CYUV_swapped_2020_full()
        case (_, true): return isBGRA ? CYUV_constants_601_full() : CYUV_swapped_601_full()
        default: return isBGRA ? CYUV_constants_601() : CYUV_swapped_601()
        }
    }
}
