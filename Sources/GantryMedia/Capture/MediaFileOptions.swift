package import GantryCore

package struct MediaFileOptions: Sendable, Hashable {
    package struct Size: Sendable, Hashable {
        package var width: Int
        package var height: Int
        package init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// Begin again at the end, without a gap; the stamps go on.
    package var loops: Bool
    /// False leaves the sound out, as if there were none.
    package var audio: Bool
    /// Even; pictures are shown whole inside it, with black beside them. Nil keeps the file's size, cropped to even.
    package var size: Size?
    /// At most that many pictures a second: others are left out. Nil keeps all.
    package var frameRate: FrameRate?
    /// False plays as fast as the sink takes it: for tests.
    package var isPaced: Bool

    package init(
        loops: Bool = false, audio: Bool = true, size: Size? = nil, frameRate: FrameRate? = nil, isPaced: Bool = true
    ) {
        self.loops = loops
        self.audio = audio
        self.size = size
        self.frameRate = frameRate
        self.isPaced = isPaced
    }
}
