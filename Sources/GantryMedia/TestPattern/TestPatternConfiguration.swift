package import GantryCore

package struct TestPatternConfiguration: Sendable, Hashable {
    package static let minimumWidth = 160
    package static let minimumHeight = 120

    /// Pixels; even, at least 160x120.
    package var width: Int
    package var height: Int
    package var frameRate: FrameRate
    package var audio: Bool
    /// Stop by itself at that point of the pattern's own time line; nil runs until `stop`.
    package var duration: MediaDuration?
    /// False makes pictures as fast as the sink takes them: for tests.
    package var isPaced: Bool
    /// Noise over the bars: the stream then takes the whole bitrate.
    package var hasGrain: Bool

    package init(
        width: Int = 1280, height: Int = 720, frameRate: FrameRate = .fps30, audio: Bool = true,
        duration: MediaDuration? = nil, isPaced: Bool = true, hasGrain: Bool = false
    ) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.audio = audio
        self.duration = duration
        self.isPaced = isPaced
        self.hasGrain = hasGrain
    }
}
