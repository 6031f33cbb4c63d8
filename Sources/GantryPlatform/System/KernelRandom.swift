import CLinux
import Glibc

/// The kernel's random source, getrandom(2). Any thread.
package enum KernelRandom {
    /// So many random bytes. Waits at early boot until the source is ready.
    package static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: max(count, 0))
        var filled = 0
        while filled < bytes.count {
            let start = filled
            // 256 bytes at most are never interrupted.
            let got = bytes.withUnsafeMutableBytes { buffer in
                getrandom(buffer.baseAddress.map { $0 + start }, min(256, buffer.count - start), 0)
            }
            // Only a kernel without the call (before 3.17) gets here; there is no safe way on.
            if got < 0 && errno != EINTR { preconditionFailure("The kernel gives no random bytes") }
            if got > 0 { filled += got }
        }
        return bytes
    }
}
