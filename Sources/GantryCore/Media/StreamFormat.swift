/// What a decoder must know before the first packet of a channel; the content of FORMAT.
public enum StreamFormat: Hashable, Sendable {
    /// Of pictures.
    case video(VideoStreamFormat)
    /// Of sound.
    case audio(AudioStreamFormat)
}

/// What the coded pictures of a stream are.
public struct VideoStreamFormat: Hashable, Sendable {
    /// How they are coded.
    public var codec: MediaCodec
    /// The visible picture, in pixels.
    public var width: Int
    /// Pixels.
    public var height: Int
    /// The nominal rate; the stream may be slower or uneven, its stamps are the truth.
    public var frameRate: FrameRate
    /// What the numbers of a pixel mean.
    public var color: ColorDescription
    /// Clockwise turn that the viewer must apply: 0, 90, 180, 270 degrees.
    public var rotation: Int
    /// SPS and PPS in Annex B form (H.264), otherwise empty.
    public var parameterSets: [UInt8]

    /// Upright, and without parameter sets, where nothing else is said.
    public init(
        codec: MediaCodec, width: Int, height: Int, frameRate: FrameRate, color: ColorDescription, rotation: Int = 0,
        parameterSets: [UInt8] = []
    ) {
        self.codec = codec
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.color = color
        self.rotation = rotation
        self.parameterSets = parameterSets
    }
}

/// What the coded sound of a stream is.
public struct AudioStreamFormat: Hashable, Sendable {
    /// How it is coded.
    public var codec: MediaCodec
    /// Hertz; 48000 for Opus.
    public var sampleRate: Int
    /// 1: mono, 2: left and right.
    public var channels: Int
    /// Samples of each channel in a packet.
    public var samplesPerPacket: Int
    /// The identification header ("OpusHead", RFC 7845 section 5.1). Its pre-skip is 0: packet stamps already
    /// take the encoder's look-ahead into account.
    public var head: [UInt8]

    /// All of it.
    public init(codec: MediaCodec, sampleRate: Int, channels: Int, samplesPerPacket: Int, head: [UInt8]) {
        self.codec = codec
        self.sampleRate = sampleRate
        self.channels = channels
        self.samplesPerPacket = samplesPerPacket
        self.head = head
    }
}
