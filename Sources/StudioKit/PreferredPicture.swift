public import GantryCore

/// What a studio would like the producer to send. A wish: the producer may send something else. What is nil is left to it.
public struct PreferredPicture: Hashable, Sendable {
    /// Pixels, 1…8192 each; both or neither.
    public var width: Int?
    /// Pixels; nil: as it was wished before.
    public var height: Int?
    /// Nil: as it was wished before.
    public var frameRate: FrameRate?
    /// Bits a second.
    public var maximumBitrate: Int?

    /// What is left out stays as it was wished before.
    public init(width: Int? = nil, height: Int? = nil, frameRate: FrameRate? = nil, maximumBitrate: Int? = nil) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.maximumBitrate = maximumBitrate
    }

    /// The same with what `other` says instead.
    func changed(by other: PreferredPicture) -> PreferredPicture {
        var result = self
        if other.width != nil {
            result.width = other.width
            result.height = other.height
        }
        result.frameRate = other.frameRate ?? frameRate
        result.maximumBitrate = other.maximumBitrate ?? maximumBitrate
        return result
    }

    /// - Throws: `invalidArgument` for what cannot be said on the wire.
    func check() throws(GantryError) {
        guard (width == nil) == (height == nil), width == nil || size != nil else {
            throw GantryError(
                .invalidArgument,
                "The size that is preferred cannot be. Give width and height, each 1 to \(WireLimits.maximumSide).")
        }
        if let maximumBitrate, !(1...Int(UInt32.max) ~= maximumBitrate) {
            throw GantryError(
                .invalidArgument, "The bitrate that is preferred cannot be. Give 1 to \(UInt32.max) bits a second.")
        }
    }

    private var size: PictureSize? {
        guard let width, let height else { return nil }
        return PictureSize(width: width, height: height)
    }

    /// As the wire says it.
    var message: Prefer {
        Prefer(size: size, frameRate: frameRate, maximumBitrate: maximumBitrate.flatMap { UInt32(exactly: $0) })
    }
}
