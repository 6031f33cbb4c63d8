/// Counts of a virtual camera since its start.
package struct VirtualCameraStatistics: Sendable, Hashable {
    /// Pictures of the stream that were written.
    package var written = 0
    /// Times that a picture or the card was written to keep readers supplied.
    package var repeated = 0
    /// Pictures that were not shown: a newer one came first, or there was no device.
    package var dropped = 0
    /// Times that the device was lost.
    package var losses = 0

    package init() {}
}
