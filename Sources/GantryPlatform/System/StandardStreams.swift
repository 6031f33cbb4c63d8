import Glibc

/// Standard output and standard error by descriptor (`stdout` and `stderr` are shared mutable state in Swift 6).
package enum StandardStreams {
    package static func writeOutput(_ text: String) { write(text, to: STDOUT_FILENO) }
    package static func writeError(_ text: String) { write(text, to: STDERR_FILENO) }

    package static var isOutputTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Writes all to `descriptor`; gives up in silence when nobody reads any more.
    package static func write(_ text: String, to descriptor: CInt) {
        var text = text
        text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0 && errno == EINTR { continue }
                if count <= 0 { return }
                rest = rest.dropFirst(count)
            }
        }
    }
}
