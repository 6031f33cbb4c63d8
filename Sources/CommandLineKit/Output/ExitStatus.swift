package import GantryCore

/// How a tool ends, for scripts. `docs/exit-statuses.md` says the same for people; numbers never change their meaning.
package struct ExitStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }

    package static let success = Self(rawValue: 0)
    /// A failure that none of the others names.
    package static let failure = Self(rawValue: 1)
    /// The command line is wrong, or a value in it.
    package static let usage = Self(rawValue: 2)
    /// The source is missing, damaged, or nothing that can be played.
    package static let source = Self(rawValue: 3)
    /// A file or pipe cannot be written, or the disk is full.
    package static let output = Self(rawValue: 4)
    /// No connection, the port is in use, the peer was lost or said no.
    package static let network = Self(rawValue: 5)
    /// The peer is not paired, or is not who was paired.
    package static let notPaired = Self(rawValue: 6)
    /// Pairing did not succeed.
    package static let pairing = Self(rawValue: 7)
    /// The peer speaks another version, or breaks the protocol.
    package static let protocolMismatch = Self(rawValue: 8)
    /// The state folder, the store of paired devices or the identity key cannot be used.
    package static let state = Self(rawValue: 9)
    /// The USB path cannot be used: no device or controller, taken, or not permitted.
    package static let usb = Self(rawValue: 10)

    /// `doctor` has found a problem.
    package static let problemsFound = Self(rawValue: 11)

    /// All of them in order, in a word or two each.
    static let meanings: [(status: Self, meaning: String)] = [
        (.success, "well"), (.failure, "failed"), (.usage, "wrong usage"), (.source, "source"), (.output, "output"),
        (.network, "network"), (.notPaired, "not paired"), (.pairing, "pairing failed"),
        (.protocolMismatch, "other version"), (.state, "state folder or key"), (.usb, "USB"),
        (.problemsFound, "doctor found a problem"),
    ]

    /// The status for an error. Codes that no other status names end with `failure`.
    package init(_ code: GantryError.Code) {
        switch code {
        case .invalidArgument: self = .usage
        case .stateFolder, .store, .identity: self = .state
        case .unknownDevice, .notPaired, .unpairedByPeer, .wrongPeer: self = .notPaired
        case .cannotConnect, .portInUse, .peerLost, .rejected, .timeout, .discoveryUnavailable, .udpBlocked,
            .otherFieldOfUse:
            self = .network
        case .versionMismatch, .protocolError, .tls: self = .protocolMismatch
        default:
            switch code.rawValue {
            case 200..<300: self = .pairing
            case 400..<500: self = .usb
            case 500..<600: self = .source
            case 700..<800: self = .output
            default: self = .failure
            }
        }
    }
}
