public import GantryCore

/// What a session takes, and where it goes.
///
/// What outputs take decoded is decoded, and nothing else: pictures for `videoOutputs`, sound for `audioOutputs`. A session without
/// any outputs decodes both, to measure it.
public struct StudioSessionConfiguration: Sendable {
    /// Whether pictures are asked for.
    public var wantsVideo = true
    /// Whether sound is asked for.
    public var wantsAudio = true
    /// Without it nothing is observed, and nothing can be sent.
    public var wantsData = true
    /// Ends the session when this much media has come, by the producer's stamps: nothing later reaches any output. Nil:
    /// goes on.
    public var duration: MediaDuration?
    /// Whether the session outlives its connection.
    public var reconnection = Reconnection.never
    /// Arms the replay from the start; nil: `StudioSession.replay` can be armed later.
    public var replay: ReplaySettings?
    /// How media comes from a producer on the network.
    public var transport = MediaTransport.auto
    /// Each gets every decoded picture, in this order.
    public var videoOutputs: [any VideoOutput] = []
    /// Each gets all decoded sound, in this order.
    public var audioOutputs: [any AudioOutput] = []
    /// Each gets every packet as it came, in this order.
    public var packetOutputs: [any PacketOutput] = []

    /// Picture, sound and data, no outputs, no second try.
    public init() {}

    var decodedMedia: MediaSelection {
        if videoOutputs.isEmpty, audioOutputs.isEmpty, packetOutputs.isEmpty { return .all }
        var media: MediaSelection = []
        if !videoOutputs.isEmpty { media.insert(.video) }
        if !audioOutputs.isEmpty { media.insert(.audio) }
        return media
    }

    var wantedMedia: MediaSelection {
        var media: MediaSelection = []
        if wantsVideo { media.insert(.video) }
        if wantsAudio { media.insert(.audio) }
        return media
    }
}
