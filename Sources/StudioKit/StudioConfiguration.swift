public import GantryCore

/// What a `StudioController` is made with. `StudioController.configure` changes it later.
public struct StudioConfiguration: Sendable {
    /// The name that producers show: at most 32 characters and 64 bytes; nil: the host's name.
    public var name: String?
    /// Where identity and paired devices are kept. Nil: `GANTRY_STATE_DIR`, or `gantry` in the user's state folder.
    public var stateDirectory: String?
    /// What is told on standard error, of the whole process; nil leaves it as it is.
    public var logLevel: LogLevel?
    /// Only producers that it matches are shown and connected; an empty one matches all.
    public var fieldOfUse = FieldOfUse()

    // What `StudioController.sessionConfiguration` begins with.
    /// Whether sessions take the picture.
    public var wantsVideo = true
    /// Whether sessions take sound.
    public var wantsAudio = true
    /// Whether sessions take data channels.
    public var wantsData = true
    /// How media comes over a network.
    public var transport = MediaTransport.auto
    /// Whether sessions go on when their connection has ended.
    public var reconnection = Reconnection.never
    /// How much of the past a session holds from its start on, 1 s to 10 min; nil: nothing.
    public var replay: MediaDuration?
    /// Ends a session after this much media; nil: goes on.
    public var duration: MediaDuration?

    /// What is left out is as the properties say.
    public init(name: String? = nil, stateDirectory: String? = nil) {
        self.name = name
        self.stateDirectory = stateDirectory
    }
}
