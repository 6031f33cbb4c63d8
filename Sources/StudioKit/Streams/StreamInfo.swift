public import GantryCore

/// One stream that a producer, or a URL, offers in this session. A value.
public struct StreamInfo: Sendable, Hashable, Identifiable {
    /// What the stream is of, as the producer says.
    public enum Source: Sendable, Hashable {
        /// A camera.
        case camera
        /// A screen, or a part of one.
        case screen
        /// A file, played in real time.
        case file
        /// What a program makes.
        case custom
        /// One that this version does not know.
        case other
    }

    /// 1…8, unique in a session at any time; one that is destroyed may come again as another stream.
    public let channel: Int
    /// Picture, sound or data.
    public let kind: MediaKind
    /// Nil for data, and for what a URL has in a coding that is not kept.
    public let codec: MediaCodec?
    /// Safe to print.
    public let name: String
    /// What it is of, as the producer says.
    public let source: Source
    /// On the producer's monotonic clock, in microseconds.
    public let created: MediaTimestamp
    /// What it comes over.
    public let connection: StreamConnection
    /// What comes on it now; nil until the producer has begun to send it.
    public internal(set) var format: StreamFormat?

    public var id: Int { channel }
    /// Whether it is a picture.
    public var hasVideo: Bool { kind == .video }
    /// Whether it is sound.
    public var hasAudio: Bool { kind == .audio }
    /// Pixels; nil until the picture has begun, and for other kinds.
    public var width: Int? { videoFormat?.width }
    /// Pixels; nil as `width`.
    public var height: Int? { videoFormat?.height }
    /// Nominal; nil as `width`.
    public var frameRate: FrameRate? { videoFormat?.frameRate }

    private var videoFormat: VideoStreamFormat? { if case .video(let video) = format { video } else { nil } }

    init(
        channel: Int, kind: MediaKind, codec: MediaCodec?, name: String, source: Source, created: MediaTimestamp,
        connection: StreamConnection
    ) {
        self.channel = channel
        self.kind = kind
        self.codec = codec
        self.name = name
        self.source = source
        self.created = created
        self.connection = connection
    }

    init(_ stream: StreamDescription, connection: StreamConnection) {
        let source: Source =
            switch stream.source {
            case .camera: .camera
            case .screen: .screen
            case .file: .file
            case .custom: .custom
            default: .other
            }
        self.init(
            channel: Int(stream.channel), kind: stream.kind, codec: stream.codec, name: DisplayName(stream.name).text,
            source: source, created: stream.created, connection: connection)
    }
}
