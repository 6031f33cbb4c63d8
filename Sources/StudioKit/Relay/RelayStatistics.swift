/// What a `RelayOutput` has done so far.
public struct RelayStatistics: Hashable, Sendable {
    /// The media server takes what comes.
    public internal(set) var isConnected = false
    /// Pictures that were sent.
    public internal(set) var framesSent = 0
    /// Packets of sound that were taken, to be sent as they are or as AAC.
    public internal(set) var audioPacketsSent = 0
    /// Bytes of both, as they came.
    public internal(set) var bytesSent: Int64 = 0
    /// Pictures and packets of sound that were left out: the server was away, or too slow.
    public internal(set) var packetsDropped = 0
    /// Connections to the server that stood.
    public internal(set) var connections = 0

    /// Nothing.
    public init() {}
}
