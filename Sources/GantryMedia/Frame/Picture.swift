import CLibAV
package import GantryCore
import Glibc

/// One uncompressed picture in memory of its own, used again through a `ReusePool`, in memory of the application
/// (`init(borrowing:release:)`), or in that of a decoder (`init(decodedInto:width:height:)`).
///
/// Filled by the one thread that took it from its pool; from the moment it is passed on, nobody writes to it any more.
package final class Picture: @unchecked Sendable {  // Written by its one owner before it is shared, then read only.
    package let format: PixelFormat
    /// Pixels; 1…8192 each, odd values allowed.
    package let width: Int
    package let height: Int
    package var color: ColorDescription
    /// When the picture was captured, on the producer's clock.
    package var captureTime = MediaTimestamp(microseconds: 0)
    /// When it is to be shown, on the producer's clock.
    package var presentationTime = MediaTimestamp(microseconds: 0)
    /// Receiver only: when the packet it came from had arrived, on this machine's clock.
    package var arrivalTime = MediaTimestamp(microseconds: 0)
    /// Of its own; nil otherwise.
    private let memory: UnsafeMutableRawPointer?
    private let release: (@Sendable () -> Void)?
    /// What holds the decoder's memory; nil otherwise.
    private let decoded: LibAVFrame?
    private var planes: (UnsafeMutableRawPointer, UnsafeMutableRawPointer, UnsafeMutableRawPointer)
    private var strides: (Int, Int, Int)

    package static let maximumSide = 8192

    /// Nil when a side is outside 1…8192.
    package init?(format: PixelFormat, width: Int, height: Int, color: ColorDescription? = nil) {
        guard 1...Self.maximumSide ~= width, 1...Self.maximumSide ~= height else { return nil }
        self.format = format
        self.width = width
        self.height = height
        self.color = color ?? .assumed(forHeight: height)
        var offsets = (0, 0, 0)
        var strides = (0, 0, 0)
        var size = 0
        for plane in 0..<format.planeCount {
            // Rows start at multiples of 64 bytes, for SIMD.
            let stride = (format.rowBytes(plane: plane, width: width) + 63) & ~63
            switch plane {
            case 0: (offsets.0, strides.0) = (size, stride)
            case 1: (offsets.1, strides.1) = (size, stride)
            default: (offsets.2, strides.2) = (size, stride)
            }
            size += stride * format.rows(plane: plane, height: height)
        }
        self.strides = strides
        // 64 spare bytes: SIMD code of libyuv and swscale may read past the last row.
        let memory = UnsafeMutableRawPointer.allocate(byteCount: size + 64, alignment: 64)
        memset(memory, 0, size + 64)
        self.memory = memory
        planes = (memory, memory + offsets.1, memory + offsets.2)
        release = nil
        decoded = nil
    }

    /// A picture in memory of the application, which nobody writes to: only for readers.
    ///
    /// - Parameter release: called when nobody holds the picture any more, on the thread that let go of it last.
    /// - Returns: nil for a layout that is not read as it is (`RawFrame.Layout.pixelFormat`); `release` is not called then.
    package init?(borrowing frame: RawFrame, release: @escaping @Sendable () -> Void) {
        guard let format = frame.layout.pixelFormat, let first = frame.planes.0.base else { return nil }
        self.format = format
        width = frame.width
        height = frame.height
        color = frame.color
        memory = nil
        let second = frame.planes.1
        let third = frame.planes.2
        planes = (
            UnsafeMutableRawPointer(mutating: first), UnsafeMutableRawPointer(mutating: second?.base ?? first),
            UnsafeMutableRawPointer(mutating: third?.base ?? first)
        )
        strides = (frame.planes.0.stride, second?.stride ?? 0, third?.stride ?? 0)
        self.release = release
        decoded = nil
    }

    /// An I420 picture that shows what a decoder has made, where it has made it. Nothing may read it before the first `show`.
    ///
    /// - Parameter frame: for this picture alone.
    init(decodedInto frame: LibAVFrame, width: Int, height: Int) {
        format = .i420
        self.width = width
        self.height = height
        color = .assumed(forHeight: height)
        memory = nil
        release = nil
        decoded = frame
        // Replaced by the first `show`: until then there is nothing to point at.
        let nowhere = UnsafeMutableRawPointer(frame.frame)
        planes = (nowhere, nowhere, nowhere)
        strides = (0, 0, 0)
    }

    /// Takes over what `frame` refers to (8 bits, 4:2:0, this size), and lets go of what was shown before. `frame` is empty
    /// afterwards. The decoder may go on reading that memory, and nobody writes to it.
    ///
    /// - Returns: false when there is nothing in it, or this picture is of another kind; `frame` is as before then.
    func show(_ frame: UnsafeMutablePointer<AVFrame>) -> Bool {
        guard let decoded, let y = frame.pointee.data.0, let u = frame.pointee.data.1, let v = frame.pointee.data.2,
            frame.pointee.width == CInt(width), frame.pointee.height == CInt(height), frame.pointee.linesize.0 > 0,
            frame.pointee.linesize.1 > 0, frame.pointee.linesize.2 > 0
        else { return false }
        planes = (UnsafeMutableRawPointer(y), UnsafeMutableRawPointer(u), UnsafeMutableRawPointer(v))
        strides = (Int(frame.pointee.linesize.0), Int(frame.pointee.linesize.1), Int(frame.pointee.linesize.2))
        av_frame_unref(decoded.frame)
        av_frame_move_ref(decoded.frame, frame)
        return true
    }

    deinit {
        memory?.deallocate()
        release?()
    }

    /// The first byte of `plane` (0..<`format.planeCount`). Valid while the picture is held.
    package func plane(_ plane: Int) -> UnsafeMutablePointer<UInt8> {
        let base = plane == 0 ? planes.0 : plane == 1 ? planes.1 : planes.2
        return base.assumingMemoryBound(to: UInt8.self)
    }

    /// Bytes from one row of `plane` to the next.
    package func stride(_ plane: Int) -> Int { plane == 0 ? strides.0 : plane == 1 ? strides.1 : strides.2 }

    package func rowBytes(_ plane: Int) -> Int { format.rowBytes(plane: plane, width: width) }
    package func rows(_ plane: Int) -> Int { format.rows(plane: plane, height: height) }
}
