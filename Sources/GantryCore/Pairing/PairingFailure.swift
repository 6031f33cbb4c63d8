/// Why a pairing did not come about. The raw value is the number on the wire; unknown numbers are kept.
package struct PairingFailure: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The secret is not the one that the studio shows, or a proof was wrong.
    package static let badCode = Self(rawValue: 1)
    package static let unsupportedVersion = Self(rawValue: 2)
    package static let noStudioAnswered = Self(rawValue: 3)
    package static let declined = Self(rawValue: 4)
    package static let cancelled = Self(rawValue: 5)
    package static let timeout = Self(rawValue: 6)
    package static let storeError = Self(rawValue: 7)
    package static let ownCode = Self(rawValue: 8)
    /// A message out of order, or broken.
    package static let protocolError = Self(rawValue: 9)
    /// The code was right, and has paired another device already.
    package static let codeUsed = Self(rawValue: 10)
    /// Two devices knew the code: neither is paired.
    package static let codeShared = Self(rawValue: 11)

    /// What a person reads, and a program tests.
    ///
    /// - Parameter isOwn: this end has decided it; else the other one has told it.
    package func error(cause: String? = nil, isOwn: Bool = false) -> GantryError {
        switch self {
        case .declined where isOwn:
            GantryError(
                .pairingDeclined,
                "Declined: nobody is paired. If the two numbers differed, somebody else has the code: run "
                    + "`gantry-studio pair` again where only you see it.", cause: cause)
        case .cancelled where isOwn: GantryError(.pairingCancelled, "The pairing was cancelled.", cause: cause)
        case .badCode:
            GantryError(
                .pairingProof, "The code is not the one that the studio shows now. Scan the code on its screen again.",
                cause: cause)
        case .codeUsed:
            GantryError(
                .pairingCodeExpired,
                "The code has been used already. Run `gantry-studio pair` again and scan the new code.", cause: cause)
        case .codeShared:
            GantryError(
                .pairingProof,
                "Two devices knew the code: somebody else has seen it. Neither is paired. Run `gantry-studio pair` "
                    + "again, and show the new code to nobody else.", cause: cause)
        case .unsupportedVersion:
            GantryError(
                .versionMismatch, "The two ends speak different versions. Update Gantry on both machines.", cause: cause
            )
        case .noStudioAnswered:
            GantryError(
                .noStudioAnswered,
                "No studio answered. Keep `gantry-studio pair` running, and put both machines on the same network.",
                cause: cause)
        case .declined: GantryError(.pairingDeclined, "The pairing was declined at the other end.", cause: cause)
        case .cancelled: GantryError(.pairingCancelled, "The pairing was cancelled at the other end.", cause: cause)
        case .timeout:
            GantryError(.pairingTimeout, "The pairing was not finished in time. Scan the code again.", cause: cause)
        case .storeError:
            GantryError(
                .store, "The new device could not be saved. See the message of the store, then pair again.",
                cause: cause)
        case .ownCode:
            GantryError(
                .pairingCodeOwn, "This is the code of this very installation. Scan the code that the studio shows.",
                cause: cause)
        case .protocolError:
            GantryError(
                .protocolError, "The other end broke the pairing protocol. Update both ends and pair again.",
                cause: cause)
        default: GantryError(.pairingDeclined, "The other end refused to pair (reason \(rawValue)).", cause: cause)
        }
    }
}
