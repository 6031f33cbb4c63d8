import CLibAV
import GantryCore
import Glibc

/// What a media server's refusal means, and what mends it.
enum RelayFailure {
    /// - Parameter status: libavformat's error.
    static func opening(_ address: RelayAddress, _ status: CInt, _ guardian: InputGuardian) -> GantryError {
        if guardian.isStopped { return cancelled(address) }
        let status = guardian.status(status)
        let cause = status == LibAVError.exit ? "no answer within 10 s" : libAVText(status)
        switch status {
        case -ECONNREFUSED:
            return GantryError(
                .cannotConnect,
                "Nothing listens at \(address.place). Start the media server, or mend the port in the URL.",
                cause: cause)
        case -EHOSTUNREACH, -ENETUNREACH:
            return GantryError(
                .cannotConnect, "There is no way to \(address.place). Look at the address, and at: ip route",
                cause: cause)
        case CLibAV_ERROR_HTTP_UNAUTHORIZED, CLibAV_ERROR_HTTP_FORBIDDEN:
            return GantryError(
                .rejected,
                "\(address.shown) wants another name and password. They stand in the URL: NAME:PASSWORD@HOST",
                cause: cause)
        case CLibAV_ERROR_HTTP_NOT_FOUND, CLibAV_ERROR_HTTP_BAD_REQUEST, CLibAV_ERROR_HTTP_OTHER_4XX:
            return GantryError(
                .rejected,
                "The server takes nothing at \(address.shown). Look at the path in the URL, and whether the server lets one "
                    + "publish there.", cause: cause)
        case CLibAV_ERROR_PROTOCOL_NOT_FOUND, CLibAV_ERROR_MUXER_NOT_FOUND:
            return GantryError(
                .unsupportedCodec, "The FFmpeg libraries here know no \(address.kind). Install the distribution's own.",
                cause: cause)
        case LibAVError.exit, -ETIMEDOUT:
            return GantryError(
                .cannotConnect,
                "\(address.place) does not answer. Look at host and port in the URL, and at firewalls between.",
                cause: cause
            )
        default:
            let looks =
                switch address.kind {
                case .rtmp: "the application and the key behind the host"
                case .rtsp: "the path, and whether the server lets one publish there"
                case .srt: "port, streamid and passphrase"
                }
            return GantryError(
                .cannotConnect,
                "\(address.shown) could not be opened. Look whether the server runs, at the host's name in the URL, and at \(looks).",
                cause: cause)
        }
    }

    static func writing(_ address: RelayAddress, _ status: CInt, _ guardian: InputGuardian) -> GantryError {
        if guardian.isStopped { return cancelled(address) }
        return GantryError(
            .peerLost, "The media server at \(address.place) takes nothing any more.",
            cause: status == LibAVError.exit ? "stands still for 10 s" : libAVText(status))
    }

    private static func cancelled(_ address: RelayAddress) -> GantryError {
        GantryError(.cancelled, "Relaying to \(address.shown) was ended.")
    }
}
