package import GantryCore

/// One way in which a camera can work, as its driver lists it.
package struct CameraOffer: Hashable, Sendable, CustomStringConvertible {
    package var pixels: CameraPixels
    package var width: ClosedRange<Int>
    package var height: ClosedRange<Int>
    /// Sizes grow by these, from the least; 1 where there is one size only.
    package var widthStep = 1
    package var heightStep = 1
    /// The highest at this size; nil when the driver does not say.
    package var frameRate: FrameRate?

    package init(
        pixels: CameraPixels, width: ClosedRange<Int>, height: ClosedRange<Int>, widthStep: Int = 1,
        heightStep: Int = 1, frameRate: FrameRate? = nil
    ) {
        self.pixels = pixels
        self.width = width
        self.height = height
        self.widthStep = widthStep
        self.heightStep = heightStep
        self.frameRate = frameRate
    }

    package var description: String {
        let least = "\(width.lowerBound)x\(height.lowerBound)"
        let most = "\(width.upperBound)x\(height.upperBound)"
        let size = least == most ? least : "\(least) to \(most)"
        return "\(size) \(pixels)" + (frameRate.map { " \($0) fps" } ?? "")
    }

    /// The size on offer that is nearest to a wish.
    func size(nearest wish: CameraWish) -> (width: Int, height: Int) {
        (
            Self.nearest(wish.width, in: width, step: widthStep),
            Self.nearest(wish.height, in: height, step: heightStep)
        )
    }

    private static func nearest(_ wish: Int, in range: ClosedRange<Int>, step: Int) -> Int {
        let clamped = min(max(wish, range.lowerBound), range.upperBound)
        let step = max(1, step)
        return range.lowerBound + (clamped - range.lowerBound) / step * step
    }
}
