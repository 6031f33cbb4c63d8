package import GantryCore
import Glibc

/// Writes I420 pictures as YUV4MPEG2, the raw format that ffmpeg, ffplay, mpv and x264 read. One thread drives it; a
/// slow reader of a pipe blocks `write`.
///
/// The format knows no time stamps: pictures follow each other at the rate of the header. Nor does it know another size: what
/// comes later in one is scaled to the first.
package final class Y4MWriter {
    package private(set) var frameCount = 0
    private let output: OutputFile
    private let rate: FrameRate
    /// The size of the first picture; the format has no way to change it.
    private var size: (width: Int, height: Int)?
    /// Of that size, for pictures that have another one.
    private var scaled: Picture?
    /// For the planes of pictures whose rows have padding.
    private var packed: UnsafeMutableRawBufferPointer?

    /// - Parameter rate: frames a second, as the stream says.
    package init(output: OutputFile, rate: FrameRate) {
        self.output = output
        self.rate = rate
    }

    deinit { packed?.deallocate() }

    /// - Throws: `invalidArgument` for another format than I420, and what `OutputFile.write` throws.
    package func write(_ picture: Picture) throws(GantryError) {
        guard picture.format == .i420 else {
            throw GantryError(.invalidArgument, "YUV4MPEG2 takes I420 pictures only.")
        }
        if size == nil { try begin(with: picture) }
        guard let size else { return }
        let picture = try fitted(picture, size)
        try output.write(Self.marker)
        if (0..<3).allSatisfy({ picture.stride($0) == picture.rowBytes($0) }) {
            for plane in 0..<3 {
                try output.write(
                    UnsafeRawBufferPointer(
                        start: picture.plane(plane), count: picture.rowBytes(plane) * picture.rows(plane)))
            }
        } else {
            try output.write(pack(picture))
        }
        frameCount &+= 1
    }

    private func begin(with picture: Picture) throws(GantryError) {
        size = (picture.width, picture.height)
        // H.264 sites chroma left, as MPEG-2; JPEG in the centre.
        let chroma = picture.color.isFullRange ? "420jpeg" : "420mpeg2"
        let range = picture.color.isFullRange ? "FULL" : "LIMITED"
        try output.write(
            "YUV4MPEG2 W\(picture.width) H\(picture.height) F\(rate.numerator):\(rate.denominator) Ip A1:1 C\(chroma) "
                + "XCOLORRANGE=\(range)\n")
    }

    private func fitted(_ picture: Picture, _ size: (width: Int, height: Int)) throws(GantryError) -> Picture {
        guard size != (picture.width, picture.height) else { return picture }
        scaled = scaled ?? Picture(format: .i420, width: size.width, height: size.height)
        guard let scaled else {
            throw GantryError(.general, "There is no memory for a picture of \(size.width)x\(size.height).")
        }
        try PixelConverter.scale(picture, to: scaled)
        return scaled
    }

    /// The planes without padding, in memory that is used again.
    private func pack(_ picture: Picture) -> UnsafeRawBufferPointer {
        let count = (0..<3).reduce(0) { $0 + picture.rowBytes($1) * picture.rows($1) }
        let packed = packed ?? .allocate(byteCount: count, alignment: 16)
        self.packed = packed
        var offset = 0
        for plane in 0..<3 {
            let (bytes, stride) = (picture.rowBytes(plane), picture.stride(plane))
            for row in 0..<picture.rows(plane) {
                UnsafeMutableRawBufferPointer(rebasing: packed[offset..<offset + bytes]).copyMemory(
                    from: UnsafeRawBufferPointer(start: picture.plane(plane) + row * stride, count: bytes))
                offset += bytes
            }
        }
        return UnsafeRawBufferPointer(packed)
    }

    private static let marker = Array("FRAME\n".utf8)
}
