import Glibc

/// The time of day, for records that people read. Never for deadlines: it can be set.
package enum WallClock {
    /// Unix seconds.
    package static func now() -> Int64 { Int64(time(nil)) }
}
