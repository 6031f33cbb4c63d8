public import GantryCore

/// What the producer's encoder does now, as it has told.
public struct VideoRate: Sendable, Hashable {
    /// Bits a second at most.
    public let bitrate: Int
    /// Nil: as the format says.
    public let frameRate: FrameRate?
    /// How far the quality has been lowered: 0 is full quality, each step is worse.
    public let step: Int
}

/// Whether the producer sends the picture, and why not.
public struct VideoStatus: Sendable, Hashable {
    /// What becomes of the picture.
    public enum State: Sendable {
        /// The link has so little room that the picture may go.
        case warning
        /// The danger is over.
        case warningLifted
        /// No picture comes; sound goes on.
        case disabled
        /// The picture comes again.
        case enabled
    }

    /// Why.
    public enum Reason: Sendable {
        /// Somebody at the producer wants it so.
        case publisher
        /// The link.
        case quality
        /// This studio wants it so.
        case subscriber
        /// It cannot be coded in a way that the studio decodes.
        case codec
        /// One that this version does not know.
        case other
    }

    /// What becomes of the picture.
    public let state: State
    /// Why, where it was told.
    public let reason: Reason

    /// Nil for a state that this version does not know.
    init?(_ message: VideoState) {
        switch message.state {
        case .warning: state = .warning
        case .warningLifted: state = .warningLifted
        case .disabled: state = .disabled
        case .enabled: state = .enabled
        default: return nil
        }
        reason =
            switch message.reason {
            case .publisher: .publisher
            case .quality: .quality
            case .subscriber: .subscriber
            case .codec: .codec
            default: .other
            }
    }
}
