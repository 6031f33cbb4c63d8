import Glibc

/// How raw pictures go through a pipe without waiting more than they must.
///
/// A pipe has one lock, which a `write` or `read` holds until it is done or the pipe is full or empty. In 64 KiB, the size
/// that a pipe begins with, writer and reader wake each other 22 times for a picture of 1280x720; in one large write the reader cannot begin
/// until the pipe is full. 64 KiB at a time through 256 KiB, which the second-level cache still holds: 0.78 ms a picture of 1280x720, 0.90 for one
/// write into 1 MiB, 1.4 to 1.8 through 64 KiB (medians of eight runs in turn on a busy machine).
package enum RawPipe {
    /// Bytes of one `write`.
    package static let chunk = 64 << 10
    /// Bytes that the pipe holds. Below the 1 MiB that everybody may have (/proc/sys/fs/pipe-max-size, pipe(7)).
    package static let capacity = 256 << 10

    // linux/fcntl.h; Glibc's module leaves them out.
    private static let (setSize, getSize): (CInt, CInt) = (1031, 1032)

    /// Bytes that the pipe behind `descriptor` holds; nil for anything else.
    package static func capacity(of descriptor: CInt) -> Int? {
        let size = fcntl(descriptor, getSize)
        return size > 0 ? Int(size) : nil
    }

    /// Makes the pipe behind `descriptor` as large as `capacity`, if it is one and smaller. One that cannot grow stays as it is.
    package static func widen(_ descriptor: CInt, to capacity: Int = capacity) {
        guard let size = Self.capacity(of: descriptor), size < capacity else { return }
        _ = fcntl(descriptor, setSize, CInt(capacity))
    }
}
