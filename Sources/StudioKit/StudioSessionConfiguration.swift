/// What a session takes, and where it goes.
public struct StudioSessionConfiguration: Sendable {
    public var wantsVideo = true
    public var wantsAudio = true
    /// Each gets every decoded picture, in this order.
    public var videoOutputs: [any VideoOutput] = []
    /// Each gets all decoded sound, in this order.
    public var audioOutputs: [any AudioOutput] = []
    /// Each gets every packet as it came.
    package var packetOutputs: [any PacketOutput] = []

    public init() {}
}
