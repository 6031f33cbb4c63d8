import COpenSSL
import GantryCore

/// Turns what OpenSSL says, what the peer's alert says and what we refused into an error for people.
enum TLSFailure {
    enum Moment { case handshake, session }

    /// Takes the error queue of this thread. `refusal`: why we ended the handshake, if we did.
    static func error(role: TLSEngine.Role, refusal: PeerGate.Refusal?, during moment: Moment) -> GantryError {
        var alert: CInt?
        var reason: CInt?
        var text: String?
        // Newer versions put more general entries on top, so the whole queue is looked through.
        OpenSSLErrors.drain { error in
            if alert == nil, COpenSSL_alert_of(error) >= 0 { alert = COpenSSL_alert_of(error) }
            if reason == nil, COpenSSL_reason_of(error) >= 0 { reason = COpenSSL_reason_of(error) }
            if text == nil { text = OpenSSLErrors.text(error) }
        }
        if let refusal { return own(refusal, role) }
        if let alert { return peers(alert, role, moment, text) }
        if let reason, isForeign(reason) { return notAPeer(cause: text) }
        if reason == SSL_R_NO_APPLICATION_PROTOCOL { return otherVersion(cause: text) }
        switch moment {
        case .handshake: return GantryError(.tls, "No secure connection could be made.", cause: text)
        case .session:
            return GantryError(.protocolError, "What came over the connection was damaged on the way.", cause: text)
        }
    }

    /// The peer does not speak TLS 1.3, or not TLS at all.
    static func notAPeer(cause: String?) -> GantryError {
        GantryError(
            .protocolError, "What answers there is not a Gantry peer. Check the address and the port.", cause: cause)
    }

    private static func own(_ refusal: PeerGate.Refusal, _ role: TLSEngine.Role) -> GantryError {
        switch refusal {
        case .stranger:
            GantryError(.notPaired, "The other device is not paired with this one. Pair them: \(remedy(role))")
        case .removed:
            GantryError(
                .notPaired,
                "The other device was removed from the paired devices here. Pair them again: \(remedy(role))")
        case .ownKey:
            GantryError(
                .wrongPeer,
                "What answers there has the key of this very device: it is this one, or a copy of its "
                    + "state folder. Give each device a state folder of its own.")
        case .badCertificate:
            GantryError(
                .protocolError,
                "The other end shows a certificate that no Gantry peer has. Check the address and the port.")
        case .otherProtocol: otherVersion(cause: nil)
        }
    }

    /// Numbers: RFC 8446 section 6.
    ///
    /// A server looks at our certificate when our handshake is complete, and its own key is proved by then: what comes
    /// earlier about us as a client comes from anybody.
    private static func peers(
        _ alert: CInt, _ role: TLSEngine.Role, _ moment: Moment, _ text: String?
    ) -> GantryError {
        let isFromAnybody = role == .client && moment == .handshake
        return switch alert {
        case SSL_AD_UNKNOWN_CA where !isFromAnybody:
            GantryError(
                .notPaired, "The other device does not know this one. Pair them again: \(remedy(role))", cause: text)
        case SSL_AD_CERTIFICATE_REVOKED where !isFromAnybody:
            GantryError(
                .unpairedByPeer, "The other device has removed this one. Pair them again: \(remedy(role))", cause: text)
        case SSL_AD_NO_APPLICATION_PROTOCOL: otherVersion(cause: text)
        case SSL_AD_PROTOCOL_VERSION: notAPeer(cause: text)
        default: GantryError(.tls, "The other end refused the secure connection.", cause: text)
        }
    }

    private static func otherVersion(cause: String?) -> GantryError {
        GantryError(
            .versionMismatch,
            "The other end has another version of Gantry, or expects something else on this port. "
                + "Bring both to the same version, and check the port.", cause: cause)
    }

    /// What a person types on this side, and on the other.
    private static func remedy(_ role: TLSEngine.Role) -> String {
        switch role {
        case .client: "gantry-studio pair (here), gantry-producer pair (there)"
        case .server: "gantry-producer pair (here), gantry-studio pair (there)"
        }
    }

    private static func isForeign(_ reason: CInt) -> Bool {
        [
            SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_UNSUPPORTED_PROTOCOL,
            SSL_R_UNKNOWN_PROTOCOL, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_NO_PROTOCOLS_AVAILABLE,
        ].contains(reason)
    }
}
