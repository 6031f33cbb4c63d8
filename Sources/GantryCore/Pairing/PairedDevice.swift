/// A device that this one is paired with, as the store keeps it. A value; any thread.
public struct PairedDevice: Sendable, Hashable, Identifiable {
    /// What the device does.
    public enum Kind: Int, Sendable, CaseIterable {
        /// It sends.
        case producer = 1
        /// It receives.
        case studio = 2
    }

    /// The way that the pairing took.
    public enum Via: Int, Sendable, CaseIterable {
        /// By a code that was shown as a picture or text.
        case qr = 1
        /// By a USB cable.
        case usb = 2
    }

    /// Whether the other side still knows us.
    public enum State: Int, Sendable, CaseIterable {
        /// As far as is known, it does.
        case active = 1
        /// The device has removed us: nothing dials it by itself any more. Pairing again makes it active.
        case rejectedByPeer = 2
    }

    /// Of its key: who it is.
    public var keyID: KeyID
    /// SubjectPublicKeyInfo, DER. `keyID` is its SHA-256.
    public var publicKeyInfo: [UInt8]
    /// What it does.
    public var kind: Kind
    /// The name that the device gave itself, cleaned for display.
    public var name: String
    /// The name that the user gave it here, or "NAME (2)" where two devices call themselves the same.
    public var alias: String?
    /// How the two were paired.
    public var via: Via
    /// Whether a person compared the six digits.
    public var confirmed: Bool
    /// Whether the other side still knows us.
    public var state: State
    /// Unix seconds.
    public var pairedAt: Int64
    /// Unix seconds, or nil when it never connected after pairing.
    public var lastSeen: Int64?
    /// Where it was last seen, "host:port".
    public var lastAddress: String?

    public var id: KeyID { keyID }
    /// The name to show, unique in the store.
    public var displayedName: String { alias ?? name }

    package init(
        keyID: KeyID, publicKeyInfo: [UInt8], kind: Kind, name: String, alias: String? = nil, via: Via = .qr,
        confirmed: Bool = false, state: State = .active, pairedAt: Int64, lastSeen: Int64? = nil,
        lastAddress: String? = nil
    ) {
        self.keyID = keyID
        self.publicKeyInfo = publicKeyInfo
        self.kind = kind
        self.name = name
        self.alias = alias
        self.via = via
        self.confirmed = confirmed
        self.state = state
        self.pairedAt = pairedAt
        self.lastSeen = lastSeen
        self.lastAddress = lastAddress
    }
}
