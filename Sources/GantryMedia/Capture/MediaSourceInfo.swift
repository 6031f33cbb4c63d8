package import GantryCore

/// What a source delivers.
package struct MediaSourceInfo: Sendable, Hashable {
    package struct Video: Sendable, Hashable {
        /// Of the pictures that come out: rotated, scaled, even.
        package var width: Int
        package var height: Int
        /// Nominal; the stamps are the truth.
        package var frameRate: FrameRate
        package var color: ColorDescription
        /// The name of the codec in the source ("h264"), or "raw".
        package var codec: String
        /// The source delivers no pictures but what its device has coded, by `MediaSink.coded`; nil for pictures.
        package var codedAs: MediaCodec?

        package init(
            width: Int, height: Int, frameRate: FrameRate, color: ColorDescription, codec: String,
            codedAs: MediaCodec? = nil
        ) {
            self.width = width
            self.height = height
            self.frameRate = frameRate
            self.color = color
            self.codec = codec
            self.codedAs = codedAs
        }
    }

    /// Of the sound in the source; what comes out is always 48 kHz stereo.
    package struct Audio: Sendable, Hashable {
        package var sampleRate: Int
        package var channels: Int
        package var codec: String

        package init(sampleRate: Int, channels: Int, codec: String) {
            self.sampleRate = sampleRate
            self.channels = channels
            self.codec = codec
        }
    }

    package var video: Video?
    package var audio: Audio?
    /// Nil when unknown or endless.
    package var duration: MediaDuration?
    /// Comes at its own pace from elsewhere and cannot be paced or looped.
    package var isLive: Bool

    package init(video: Video? = nil, audio: Audio? = nil, duration: MediaDuration? = nil, isLive: Bool = false) {
        self.video = video
        self.audio = audio
        self.duration = duration
        self.isLive = isLive
    }
}
