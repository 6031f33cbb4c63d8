package import GantryCore
import Glibc

/// One uncompressed picture in memory of its own, used again through a `ReusePool`.
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
    private let memory: UnsafeMutableRawPointer
    private let offsets: [Int]
    private let strides: [Int]
    private let size: Int

    package static let maximumSide = 8192

    /// Nil when a side is outside 1…8192.
    package init?(format: PixelFormat, width: Int, height: Int, color: ColorDescription? = nil) {
        guard 1...Self.maximumSide ~= width, 1...Self.maximumSide ~= height else { return nil }
        self.format = format
        self.width = width
        self.height = height
        self.color = color ?? .assumed(forHeight: height)
        var offsets: [Int] = []
        var strides: [Int] = []
        var size = 0
        for plane in 0..<format.planeCount {
            // Rows start at multiples of 64 bytes, for SIMD.
            let stride = (format.rowBytes(plane: plane, width: width) + 63) & ~63
            offsets.append(size)
            strides.append(stride)
            size += stride * format.rows(plane: plane, height: height)
        }
        self.offsets = offsets
        self.strides = strides
        self.size = size
        // 64 spare bytes: SIMD code of libyuv and swscale may read past the last row.
        memory = .allocate(byteCount: size + 64, alignment: 64)
        memset(memory, 0, size + 64)
    }

    deinit { memory.deallocate() }

    /// The first byte of `plane` (0..<`format.planeCount`). Valid while the picture is held.
    package func plane(_ plane: Int) -> UnsafeMutablePointer<UInt8> {
        (memory + offsets[plane]).assumingMemoryBound(to: UInt8.self)
    }

    /// Bytes from one row of `plane` to the next.
    package func stride(_ plane: Int) -> Int { strides[plane] }

    package func rowBytes(_ plane: Int) -> Int { format.rowBytes(plane: plane, width: width) }
    package func rows(_ plane: Int) -> Int { format.rows(plane: plane, height: height) }
}
