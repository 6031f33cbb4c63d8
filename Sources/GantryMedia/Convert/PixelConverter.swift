import CYUV
package import GantryCore

/// Changes the format, size or orientation of pictures by libyuv. Free functions without state: any thread, as long as
/// nobody else writes to the destination. Nothing is allocated, except by `rotate` of nv12 (not offered) and by
/// libyuv's scaler, which takes a row buffer.
package enum PixelConverter {
    /// Fills `destination` (i420, of the source's size, or one row or column less, which is cut off) from `source` in
    /// any format; stamps are copied.
    ///
    /// BGRA becomes BT.601 limited: that is the matrix of libyuv's ARGBToI420, so the destination's `color` is then
    /// `.bt601` whatever its height, and the encoder must say so in the VUI. Other formats keep their colour.
    ///
    /// - Throws: `invalidArgument` when the sizes or the destination's format do not fit.
    package static func convert(_ source: Picture, to destination: Picture) throws(GantryError) {
        let (width, height) = (destination.width, destination.height)
        guard destination.format == .i420, 0...1 ~= source.width - width, 0...1 ~= source.height - height else {
            throw mismatch(source, destination)
        }
        let (w, h) = (CInt(width), CInt(height))
        let status: CInt
        switch source.format {
        case .bgra:
            // "ARGB" of libyuv names the bits of a little-endian word: the bytes are B, G, R, A.
            status = ARGBToI420(
                source.plane(0), CInt(source.stride(0)), destination.plane(0), CInt(destination.stride(0)),
                destination.plane(1), CInt(destination.stride(1)), destination.plane(2), CInt(destination.stride(2)),
                w, h)
        case .nv12:
            status = NV12ToI420(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)),
                destination.plane(0), CInt(destination.stride(0)), destination.plane(1), CInt(destination.stride(1)),
                destination.plane(2), CInt(destination.stride(2)), w, h)
        case .i420:
            status = I420Copy(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), destination.plane(0), CInt(destination.stride(0)), destination.plane(1),
                CInt(destination.stride(1)), destination.plane(2), CInt(destination.stride(2)), w, h)
        }
        try check(status, "convert")
        copyStamps(from: source, to: destination)
        destination.color = source.format == .bgra ? .bt601 : source.color
    }

    /// Where a picture of one size lies inside another when it is shown whole and undistorted: even, centred.
    package static func fit(width: Int, height: Int, into outer: (width: Int, height: Int)) -> (
        x: Int, y: Int, width: Int, height: Int
    ) {
        guard width > 0, height > 0 else { return (0, 0, outer.width, outer.height) }
        var inner = outer
        // Within one sample of the same shape: fill it.
        if width * outer.height > height * outer.width {
            inner.height = min(outer.height, (outer.width * height + width / 2) / width)
        } else {
            inner.width = min(outer.width, (outer.height * width + height / 2) / height)
        }
        if outer.width - inner.width < 2 { inner.width = outer.width }
        if outer.height - inner.height < 2 { inner.height = outer.height }
        inner.width = max(2, inner.width & ~1)
        inner.height = max(2, inner.height & ~1)
        return ((outer.width - inner.width) / 2 & ~1, (outer.height - inner.height) / 2 & ~1, inner.width, inner.height)
    }

    /// Scales an i420 picture into `destination` (i420, another size), whole and undistorted with black beside it;
    /// stamps and colour are copied. Box filter, which is bilinear when the picture grows.
    ///
    /// - Throws: `invalidArgument` when a format is not i420.
    package static func scale(_ source: Picture, to destination: Picture) throws(GantryError) {
        guard source.format == .i420, destination.format == .i420 else { throw mismatch(source, destination) }
        let area = fit(
            width: source.width, height: source.height, into: (destination.width, destination.height))
        if area.width < destination.width || area.height < destination.height { fillBlack(destination) }
        func target(_ plane: Int) -> UnsafeMutablePointer<UInt8> {
            let shift = plane == 0 ? 0 : 1
            return destination.plane(plane) + (area.y >> shift) * destination.stride(plane) + (area.x >> shift)
        }
        try check(
            I420Scale(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), CInt(source.width), CInt(source.height), target(0),
                CInt(destination.stride(0)), target(1), CInt(destination.stride(1)), target(2),
                CInt(destination.stride(2)), CInt(area.width), CInt(area.height), kFilterBox), "scale")
        copyStamps(from: source, to: destination)
        destination.color = source.color
    }

    /// Turns an i420 picture clockwise by 0, 90, 180 or 270 degrees into `destination`, whose sides are exchanged for
    /// 90 and 270; stamps and colour are copied.
    ///
    /// - Throws: `invalidArgument` for other angles, formats or sizes.
    package static func rotate(_ source: Picture, by degrees: Int, to destination: Picture) throws(GantryError) {
        let mode: RotationMode
        switch degrees {
        case 0: mode = kRotate0
        case 90: mode = kRotate90
        case 180: mode = kRotate180
        case 270: mode = kRotate270
        default: throw GantryError(.invalidArgument, "Pictures turn by 90, 180 or 270 degrees, not \(degrees).")
        }
        let isTurned = degrees % 180 != 0
        guard source.format == .i420, destination.format == .i420,
            destination.width == (isTurned ? source.height : source.width),
            destination.height == (isTurned ? source.width : source.height)
        else { throw mismatch(source, destination) }
        try check(
            I420Rotate(
                source.plane(0), CInt(source.stride(0)), source.plane(1), CInt(source.stride(1)), source.plane(2),
                CInt(source.stride(2)), destination.plane(0), CInt(destination.stride(0)), destination.plane(1),
                CInt(destination.stride(1)), destination.plane(2), CInt(destination.stride(2)), CInt(source.width),
                CInt(source.height), mode), "rotate")
        copyStamps(from: source, to: destination)
        destination.color = source.color
    }

    private static func fillBlack(_ picture: Picture) {
        let luma: UInt8 = picture.color.isFullRange ? 0 : 16
        for plane in 0..<3 {
            picture.plane(plane).update(
                repeating: plane == 0 ? luma : 128, count: picture.stride(plane) * picture.rows(plane))
        }
    }

    private static func copyStamps(from source: Picture, to destination: Picture) {
        destination.captureTime = source.captureTime
        destination.presentationTime = source.presentationTime
        destination.arrivalTime = source.arrivalTime
    }

    private static func check(_ status: CInt, _ what: String) throws(GantryError) {
        guard status == 0 else {
            throw GantryError(
                .general, "A picture could not be processed.", cause: "libyuv: \(what) returned \(status)")
        }
    }

    private static func mismatch(_ source: Picture, _ destination: Picture) -> GantryError {
        GantryError(
            .invalidArgument,
            "A \(source.format) picture of \(source.width)x\(source.height) does not fit a \(destination.format) picture "
                + "of \(destination.width)x\(destination.height).")
    }
}
