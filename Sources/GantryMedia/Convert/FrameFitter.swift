import CLibAV
import GantryCore

/// Brings decoded frames into the one shape that a source has promised: I420 limited, turned upright, cropped to even or
/// scaled to fit. Owned by one thread; pictures in between are kept and used again.
final class FrameFitter {
    private let rotation: Int
    private let converter = FrameConverter()
    private var plain: Picture?
    private var upright: Picture?

    /// - Parameter rotation: Clockwise degrees: 0, 90, 180, 270.
    init(rotation: Int) { self.rotation = rotation }

    /// The even size of a frame after rotation.
    static func evenSize(width: Int, height: Int, rotation: Int) -> (width: Int, height: Int) {
        let (w, h) = rotation % 180 == 0 ? (width, height) : (height, width)
        return (max(2, w & ~1), max(2, h & ~1))
    }

    /// Fills `picture` (i420); its colour is set, its stamps are not. The shape of the pixels (sample aspect ratio) is
    /// not looked at.
    ///
    /// - Throws: As `FrameConverter.convert`.
    func fit(_ frame: UnsafePointer<AVFrame>, into picture: Picture) throws(GantryError) {
        let (width, height) = (Int(frame.pointee.width), Int(frame.pointee.height))
        if rotation == 0, width == picture.width, height == picture.height {
            try converter.convert(frame, into: picture)
            return
        }
        let plain = try Self.reuse(&plain, width, height)
        try converter.convert(frame, into: plain)
        var source = plain
        if rotation != 0 {
            let isTurned = rotation % 180 != 0
            let upright = try Self.reuse(&upright, isTurned ? height : width, isTurned ? width : height)
            try PixelConverter.rotate(source, by: rotation, to: upright)
            source = upright
        }
        if 0...1 ~= source.width - picture.width, 0...1 ~= source.height - picture.height {
            try PixelConverter.convert(source, to: picture)
        } else {
            try PixelConverter.scale(source, to: picture)
        }
    }

    private static func reuse(_ kept: inout Picture?, _ width: Int, _ height: Int) throws(GantryError) -> Picture {
        if let kept, kept.width == width, kept.height == height { return kept }
        guard let fresh = Picture(format: .i420, width: width, height: height) else {
            throw GantryError(
                .sourceUnreadable,
                "A picture of \(width)x\(height) is larger than 8192x8192. Scale the file down first.")
        }
        kept = fresh
        return fresh
    }
}
