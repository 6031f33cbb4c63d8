public import GantryCore
package import GantryMedia

/// A decoded picture as a `VideoOutput` gets it. Holding it keeps its memory out of the pool: copy what you need for
/// longer than a moment.
public struct VideoFrame: Sendable {
    package let picture: Picture

    /// The nominal rate of the stream; stamps are the truth.
    public let frameRate: FrameRate
    /// When it had been decoded, on this machine's monotonic clock.
    public let decodedTime: MediaTimestamp
    /// The producer's clock minus ours, as it is estimated; 0 before the first estimate.
    public let clockOffset: MediaDuration
    /// Comes from the replay: its age says nothing about the delay of the stream.
    public let isReplayed: Bool

    package init(
        _ picture: Picture, frameRate: FrameRate, decodedTime: MediaTimestamp? = nil,
        clockOffset: MediaDuration = .zero,
        isReplayed: Bool = false
    ) {
        self.picture = picture
        self.frameRate = frameRate
        self.decodedTime = decodedTime ?? picture.arrivalTime
        self.clockOffset = clockOffset
        self.isReplayed = isReplayed
    }

    /// Pixels.
    public var width: Int { picture.width }
    /// Pixels.
    public var height: Int { picture.height }
    /// Always `.i420` in this version.
    public var format: PixelFormat { picture.format }
    /// What the numbers of a pixel mean.
    public var color: ColorDescription { picture.color }
    /// When to show it, on the producer's clock.
    public var presentationTime: MediaTimestamp { picture.presentationTime }
    /// When it was captured, on the producer's clock.
    public var captureTime: MediaTimestamp { picture.captureTime }
    /// When its last byte arrived, on this machine's monotonic clock.
    public var arrivalTime: MediaTimestamp { picture.arrivalTime }

    /// Calls `body` with the bytes of `plane` (`rows` × `stride`, valid during the call) and the stride in bytes.
    ///
    /// Nil for a plane that the format does not have.
    public func withPlane<R>(_ plane: Int, _ body: (UnsafeRawBufferPointer, _ stride: Int) throws -> R) rethrows -> R? {
        guard 0..<picture.format.planeCount ~= plane else { return nil }
        let stride = picture.stride(plane)
        let size = stride * (picture.rows(plane) - 1) + picture.rowBytes(plane)
        return try body(UnsafeRawBufferPointer(start: picture.plane(plane), count: size), stride)
    }
}
