import Glibc

/// The variables of the process's environment.
package enum Environment {
    /// Nil when it is not set or no valid UTF-8.
    package static subscript(_ name: String) -> String? { getenv(name).flatMap { String(validatingCString: $0) } }
}
