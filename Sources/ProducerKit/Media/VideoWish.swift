import GantryCore
import GantryMedia

/// What a studio would rather receive than the picture as it is: smaller, with fewer pictures or bits. Nil: as it is.
struct VideoWish: Hashable, Sendable {
    /// The picture is made to fit into it, in its own shape.
    var size: PictureSize?
    /// At most so many a second.
    var frameRate: FrameRate?
    /// Bits a second at most.
    var bitrate: Int?

    /// Narrower pictures are no pictures.
    private static let smallestSide = 32

    /// What is left out in a wish stays as it was.
    mutating func merge(_ wish: Prefer) {
        size = wish.size ?? size
        frameRate = wish.frameRate ?? frameRate
        bitrate = wish.maximumBitrate.map { max(H264EncoderConfiguration.minimumBitrate, Int($0)) } ?? bitrate
    }

    /// The same without what changes nothing in pictures of that size and rate.
    func narrowed(width: Int, height: Int, frameRate nominal: FrameRate) -> VideoWish {
        var result = self
        let fitted = fit(width: width, height: height)
        if fitted == (width & ~1, height & ~1) { result.size = nil }
        if let frameRate, frameRate.framesPerSecond >= nominal.framesPerSecond * 0.95 { result.frameRate = nil }
        return result
    }

    /// Even, never larger than it comes.
    func fit(width: Int, height: Int) -> (width: Int, height: Int) {
        guard let size, width > 0, height > 0, size.width < width || size.height < height else {
            return (width & ~1, height & ~1)
        }
        let scale = min(Double(size.width) / Double(width), Double(size.height) / Double(height))
        func side(_ length: Int) -> Int {
            min(length & ~1, max(Self.smallestSide, Int((Double(length) * scale / 2).rounded()) * 2))
        }
        return (side(width), side(height))
    }

    /// The nominal rate of what is sent.
    func rate(of nominal: FrameRate) -> FrameRate {
        guard let frameRate, frameRate.framesPerSecond < nominal.framesPerSecond else { return nominal }
        return frameRate
    }
}
