import GantryCore

/// The limits of the control protocol; `docs/control-socket.md` says the same.
enum ControlLimits {
    /// Bytes of a request, newline not counted.
    static let request = 4096
    /// Bytes of an answer or event: some thousand devices.
    static let answer = 1 << 20
    /// Clients at one time; a newcomer takes the place of one that asks for nothing.
    static let connections = 8
    /// Requests of one client that wait for their answer.
    static let openCalls = 8
    /// How long the rest of a request may take after its first byte.
    static let requestTime = MediaDuration.seconds(5)
    /// How long a client may take to read an answer.
    static let answerTime = MediaDuration.seconds(2)
    /// How long a client waits until its connection is taken, in whole seconds.
    static let queueTime = MediaDuration.seconds(2)
    /// How long a client waits for an answer.
    static let patience = MediaDuration.seconds(10)
}
