/// What is encoded: how many pictures a second, and how many lines each has.
package struct QualityStep: Hashable, Sendable {
    /// 0 is full quality; each step is worse.
    package var index: UInt8
    package var frameRate: FrameRate
    /// Nil: as the pictures come.
    package var lines: Int?

    package init(index: UInt8, frameRate: FrameRate, lines: Int? = nil) {
        self.index = index
        self.frameRate = frameRate
        self.lines = lines
    }
}
