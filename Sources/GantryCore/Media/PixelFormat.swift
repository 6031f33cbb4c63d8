/// How the samples of a picture lie in memory.
public enum PixelFormat: Sendable, Hashable, CaseIterable {
    /// Three planes Y, U, V; chroma at half width and height (rounded up).
    case i420
    /// Two planes: Y, then U and V interleaved at half width and height (rounded up).
    case nv12
    /// One plane, 4 bytes a pixel: blue, green, red, alpha (ignored).
    case bgra

    /// How many planes its memory has.
    public var planeCount: Int {
        switch self {
        case .i420: 3
        case .nv12: 2
        case .bgra: 1
        }
    }

    /// Bytes in a row of `plane`, without padding.
    public func rowBytes(plane: Int, width: Int) -> Int {
        switch self {
        case .i420: plane == 0 ? width : (width + 1) / 2
        case .nv12: plane == 0 ? width : (width + 1) / 2 * 2
        case .bgra: width * 4
        }
    }

    /// Rows of `plane`.
    public func rows(plane: Int, height: Int) -> Int {
        switch self {
        case .i420, .nv12: plane == 0 ? height : (height + 1) / 2
        case .bgra: height
        }
    }
}
