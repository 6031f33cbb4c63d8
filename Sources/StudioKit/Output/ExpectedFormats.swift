import GantryCore

/// Gathers the formats of the streams that will come: a container is opened when all are known. A plain value.
struct ExpectedFormats {
    private(set) var video: VideoStreamFormat?
    private(set) var audio: AudioStreamFormat?
    private var expectsVideo = false
    private var expectsAudio = false

    mutating func expect(video: Bool, audio: Bool) {
        expectsVideo = video
        expectsAudio = audio
    }

    mutating func set(_ format: StreamFormat) {
        switch format {
        case .video(let new): video = new
        case .audio(let new): audio = new
        }
    }

    /// Nil: it is not known, or will not come.
    var expectedVideo: VideoStreamFormat? { expectsVideo ? video : nil }
    var expectedAudio: AudioStreamFormat? { expectsAudio ? audio : nil }

    var areComplete: Bool {
        (expectsVideo || expectsAudio) && (video != nil || !expectsVideo) && (audio != nil || !expectsAudio)
    }
}
