/// What a `StudioController` is made with.
public struct StudioConfiguration: Sendable {
    /// The name that producers show. At most 64 bytes; nil: the host's name.
    public var name: String?
    /// Where identity and paired devices are kept. Nil: `GANTRY_STATE_DIR`, or `gantry` in the user's state folder.
    public var stateDirectory: String?

    /// What is left out is as the properties say.
    public init(name: String? = nil, stateDirectory: String? = nil) {
        self.name = name
        self.stateDirectory = stateDirectory
    }
}
