/// What a preview has shown so far.
package struct PreviewStatistics: Sendable, Equatable {
    /// Pictures that were drawn.
    package var shown = 0
    /// Pictures that another one has displaced before.
    package var notShown = 0
    /// Of live pictures, from capture until the window system had them, in microseconds: how many were measured (the last
    /// 8192 at most), and their percentiles.
    package var latencyCount = 0
    package var p50 = 0
    package var p95 = 0
    package var p99 = 0
}
