import CYUV

/// A grey picture without row padding, in memory that is kept and used again. Owned by one thread.
final class GrayPlane {
    private(set) var width = 0
    private(set) var height = 0
    private(set) var pixels: UnsafeMutableBufferPointer<UInt8> = .allocate(capacity: 0)

    init() {}

    deinit {
        // What was drawn may have been a secret.
        pixels.update(repeating: 0)
        pixels.deallocate()
    }

    var area: Int { width * height }
    private var stride: CInt { CInt(clamping: width) }

    private func resize(_ width: Int, _ height: Int) -> UnsafeMutablePointer<UInt8>? {
        if width * height > pixels.count {
            pixels.update(repeating: 0)
            pixels.deallocate()
            pixels = .allocate(capacity: width * height)
            pixels.initialize(repeating: 0)
        }
        (self.width, self.height) = (width, height)
        return pixels.baseAddress
    }

    /// - Parameter luma: `height` rows of `width` bytes, `stride` bytes apart.
    func load(_ luma: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int) {
        guard let base = resize(width, height) else { return }
        CopyPlane(luma, CInt(stride), base, self.stride, self.stride, CInt(height))
    }

    /// `source` in another size: the mean of what falls together where it shrinks, bilinear where it grows.
    func scale(_ source: GrayPlane, toWidth width: Int, height: Int) {
        guard let from = source.pixels.baseAddress, let base = resize(max(1, width), max(1, height)) else { return }
        ScalePlane(
            from, source.stride, source.stride, CInt(source.height), base, stride, stride, CInt(self.height),
            kFilterBox)
    }

    /// Black and white: what is darker than the mean around it becomes black. Uneven light, shadows and reflections go.
    ///
    /// The mean is that of the picture shrunk to `cells` along its longer side and grown again.
    ///
    /// - Parameters:
    ///   - cell, mean: room for the work.
    func threshold(_ source: GrayPlane, cells: Int, _ cell: GrayPlane, _ mean: GrayPlane) {
        let longer = max(source.width, source.height)
        cell.scale(source, toWidth: source.width * cells / longer, height: source.height * cells / longer)
        mean.scale(cell, toWidth: source.width, height: source.height)
        guard let from = source.pixels.baseAddress, let around = mean.pixels.baseAddress,
            let base = resize(source.width, source.height)
        else { return }
        // Noise in an even area stays white: two steps below the mean are not dark yet.
        for index in 0..<area { base[index] = UInt16(from[index]) + 2 < UInt16(around[index]) ? 0 : 255 }
    }
}
