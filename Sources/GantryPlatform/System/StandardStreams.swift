import Glibc
import Synchronization

/// Standard output and standard error by descriptor (`stdout` and `stderr` are shared mutable state in Swift 6).
package enum StandardStreams {
    package static func writeOutput(_ text: String) { write(text, to: STDOUT_FILENO) }
    package static func writeError(_ text: String) { write(text, to: STDERR_FILENO) }

    /// Puts something in the place of a standard stream that is closed (`>&-`): otherwise the next file or socket gets
    /// its number, and text goes into that. Reading gives the end, writing fails with EBADF. Before anything is opened.
    package static func fillClosed() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) < 0 {
            // The kernel gives the lowest number that is free: this one.
            _ = open("/dev/null", O_RDONLY)
        }
    }

    package static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }
    package static var isInputTerminal: Bool { isatty(STDIN_FILENO) == 1 }

    private static let firstFailure = Atomic<CInt>(0)

    /// Why text could not be written to standard output, the first time: a full disk, a fault of the device. Nil where
    /// nobody reads any more, or the stream is closed.
    package static var outputFailure: SystemError? {
        let number = firstFailure.load(ordering: .relaxed)
        return number == 0 ? nil : SystemError(errno: number, during: "write")
    }

    /// Writes all to `descriptor`; gives up in silence when nobody reads any more; see `outputFailure`.
    package static func write(_ text: String, to descriptor: CInt) {
        var text = text
        text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                if count < 0, descriptor == STDOUT_FILENO, errno != EPIPE, errno != EBADF {
                    _ = firstFailure.compareExchange(expected: 0, desired: errno, ordering: .relaxed)
                }
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
