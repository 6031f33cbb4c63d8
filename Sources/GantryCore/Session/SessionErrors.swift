extension SessionEnd {
    /// The peer said BYE.
    init(_ bye: Bye) {
        func error(_ code: GantryError.Code, _ message: String) -> GantryError {
            GantryError(code, message, cause: bye.text)
        }
        let failure: GantryError? =
            switch bye.reason {
            case .normal, .shutdown: nil
            case .unpaired:
                error(.unpairedByPeer, "The other end has removed this device. Pair again: `gantry-studio pair`.")
            case .replaced: error(.rejected, "A newer connection of this device took the place of this one.")
            case .duplicate: error(.rejected, "This device is connected already. Stop the other one first.")
            case .protocolError:
                error(.protocolError, "The other end did not understand this one. Update Gantry on both machines.")
            case .overload: error(.rejected, "The other end has too much to do. Try again later.")
            case .timeout: error(.peerLost, "The other end heard nothing for too long. Check the network.")
            case .cancelled: error(.cancelled, "The other end cancelled.")
            default: error(.rejected, "The other end closed the session (reason \(bye.reason.rawValue)).")
            }
        self.init(reason: bye.reason, isFromPeer: true, error: failure)
    }

    /// The producer said REJECT.
    init(_ reject: Reject) {
        func error(_ code: GantryError.Code, _ message: String) -> GantryError {
            GantryError(code, message, cause: reject.text)
        }
        let failure =
            switch reject.reason {
            case .notReady: error(.rejected, "The producer is not ready yet. Try again in a moment.")
            case .declined: error(.rejected, "The producer declined the connection.")
            case .busy: error(.rejected, "The producer serves as many studios as it can. Stop one, or try again later.")
            case .versionMismatch:
                GantryError.versionMismatch(update: reject.updateSide, own: .studio, cause: reject.text)
            case .unsupported: error(.rejected, "The producer cannot send what was asked for. Ask for another format.")
            default: error(.rejected, "The producer refused the connection (reason \(reject.reason.rawValue)).")
            }
        self.init(reason: .normal, isFromPeer: true, retryAfter: reject.retryAfter, error: failure)
    }
}

extension GantryError {
    /// Says which side is the older one; nil when that is not known.
    static func versionMismatch(update side: SessionRole?, own: SessionRole, cause: String? = nil) -> GantryError {
        let name = own.other == .producer ? "producer" : "studio"
        let advice =
            switch side {
            case nil: "Update Gantry on both machines."
            case own: "Update Gantry on this machine."
            default: "Update Gantry on the \(name)'s machine."
            }
        return GantryError(
            .versionMismatch, "This end and the \(name) speak different versions. \(advice)", cause: cause)
    }

    static func otherField(_ offered: FieldOfUse, wanted: FieldOfUse) -> GantryError {
        GantryError(
            .otherFieldOfUse,
            "The producer is for another use (it offers \(offered), this studio wants \(wanted)). Set the same venue, owner and "
                + "app on both, or leave them out here.")
    }

    static func outOfOrder(_ type: MessageType) -> GantryError {
        GantryError(
            .protocolError,
            "The other end broke the protocol: message \(type) at the wrong time. Update both ends and connect again.")
    }
}
