import Glibc

/// An errno and what was tried.
package struct SystemError: Error, Hashable, CustomStringConvertible {
    package let errno: CInt
    package let operation: String

    package init(errno: CInt, during operation: String) {
        self.errno = errno
        self.operation = operation
    }

    /// The kernel's words, for example "Permission denied".
    package var reason: String { String(cString: strerror(errno)) }
    package var description: String { "\(operation): \(reason)" }
}

/// Calls `body`, again after EINTR, and throws what the kernel said when it returns a negative number.
@discardableResult
package func syscall<N: SignedInteger>(_ operation: @autoclosure () -> String, _ body: () -> N) throws(SystemError) -> N
{
    while true {
        let result = body()
        if result >= 0 { return result }
        let error = errno
        if error != EINTR { throw SystemError(errno: error, during: operation()) }
    }
}
