public import GantryCore
import GantryMedia

/// For views and files of the application's own. Colours come by the stream's own matrix and range.
extension VideoFrame {
    /// Bytes from one row to the next in RGB without padding.
    public var packedStride: Int { width * 4 }

    /// Fills `pixels` with blue, green, red, alpha (255) for each pixel: what SDL calls ARGB8888, Cairo RGB24, GTK B8G8R8A8.
    /// About 0.3 ms at 1280x720.
    ///
    /// - Parameters:
    ///   - pixels: `height` rows of `stride` bytes; of the last row only `width` × 4 need be there.
    ///   - stride: `packedStride` or more; nil: that.
    /// - Throws: `invalidArgument` when stride and byte count do not fit the picture.
    public func copyBGRA(to pixels: UnsafeMutableRawBufferPointer, stride: Int? = nil) throws(GantryError) {
        try RGBExport.copy(picture, to: pixels, stride: stride ?? packedStride, order: .bgra)
    }

    /// The same with red, green, blue, alpha (255).
    public func copyRGBA(to pixels: UnsafeMutableRawBufferPointer, stride: Int? = nil) throws(GantryError) {
        try RGBExport.copy(picture, to: pixels, stride: stride ?? packedStride, order: .rgba)
    }

    /// Writes the picture as PNG (RGB, 8 bits). Slow, 20 to 60 ms at 1280x720: hand the frame to a thread of your own, or use a
    /// `SnapshotOutput`.
    ///
    /// - Parameters:
    ///   - path: a file, which appears whole or not at all, or "-" for standard output.
    ///   - overwrite: replaces a file that exists.
    /// - Throws: `outputNotWritable`, `outputFull`, `outputClosed`, `outputFailed`, `encoder`.
    public func writePNG(to path: String, overwrite: Bool = true) throws(GantryError) {
        try PNGSnapshot.write(picture, to: path, overwrite: overwrite)
    }
}
