/// How the payload of a media channel is coded. The raw value is the number on the wire.
public enum MediaCodec: UInt8, Sendable, CaseIterable {
    /// One access unit of H.264 in Annex B form a message.
    case h264 = 1
    /// One JPEG picture a message.
    case mjpeg = 2
    /// One Opus packet a message (RFC 6716), without container.
    case opus = 16

    /// Whether it codes pictures.
    public var isVideo: Bool {
        switch self {
        case .h264, .mjpeg: true
        case .opus: false
        }
    }
}

/// What a channel carries. The raw value is the number on the wire.
public enum MediaKind: UInt8, Sendable, CaseIterable {
    /// Pictures.
    case video = 1
    /// Sound.
    case audio = 2
    /// Bytes of the application: see `LabeledData`.
    case data = 3
}
