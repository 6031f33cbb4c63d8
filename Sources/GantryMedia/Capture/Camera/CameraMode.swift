package import GantryCore

/// What a camera is asked for; it gives what comes nearest.
package struct CameraWish: Sendable, Hashable {
    package var width: Int
    package var height: Int
    package var frameRate: FrameRate

    package init(width: Int = 1280, height: Int = 720, frameRate: FrameRate = .fps30) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
    }
}

/// What a camera delivers.
package struct CameraMode: Sendable, Hashable, CustomStringConvertible {
    package var pixels: CameraPixels
    package var width: Int
    package var height: Int
    /// Nil when the driver does not say.
    package var frameRate: FrameRate?

    package init(pixels: CameraPixels, width: Int, height: Int, frameRate: FrameRate?) {
        self.pixels = pixels
        self.width = width
        self.height = height
        self.frameRate = frameRate
    }

    package var description: String {
        "\(width)x\(height) \(pixels)" + (frameRate.map { " \($0) fps" } ?? "")
    }
}
