package import GantryCore

/// The address of a media server that takes what we send. It may hold a password or a key: only `shown` is ever told.
package struct RelayAddress: Sendable, Hashable {
    /// How the media travel.
    package enum Kind: Sendable, Hashable {
        /// FLV over RTMP: H.264 and AAC.
        case rtmp
        /// ANNOUNCE and RECORD (RFC 2326) over one TCP connection: H.264 and Opus.
        case rtsp
        /// An MPEG transport stream over SRT: H.264 and Opus.
        case srt

        /// libavformat's name of the muxer.
        var muxerName: String {
            switch self {
            case .rtmp: "flv"
            case .rtsp: "rtsp"
            case .srt: "mpegts"
            }
        }

        /// Opus in FLV is understood by few servers.
        var takesOpus: Bool { self != .rtmp }
    }

    package let kind: Kind
    let url: String
    /// For people and logs: scheme, host, port, and the path where that is no secret. Printable.
    package let shown: String
    /// Scheme, host and port alone.
    let place: String
    /// Name, password, passphrase or stream key: whoever reads the URL may send in our place.
    package let hasSecret: Bool

    /// Of RTMP's URLs, rtmp://HOST/APPLICATION/KEY, the key is as good as a password.
    ///
    /// - Throws: `invalidArgument` for another scheme, and for a URL without a host.
    package init(_ text: String) throws(GantryError) {
        let scheme = LibAVInput.scheme(of: text)
        guard let kind = scheme.flatMap({ Self.kinds[$0] }), !text.utf8.contains(0), text.utf8.count <= 4096 else {
            throw GantryError(
                .invalidArgument,
                "\(scheme.map { DisplayName($0).text + "://" } ?? "What was given") is nothing that can be relayed to. The "
                    + "server's URL begins with rtmp://, rtmps://, rtsp:// or srt://.")
        }
        let shown = LibAVInput.shown(text)
        let parts = shown.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2 else {
            throw GantryError(
                .invalidArgument,
                "The URL names no server. It looks like rtmp://HOST/live/KEY, rtsp://HOST:8554/NAME or srt://HOST:PORT."
            )
        }
        self.kind = kind
        url = text
        place = "\(parts[0])//\(parts[1])"
        if kind == .rtmp, parts.count >= 4 {
            self.shown = (["\(parts[0])/"] + parts[1..<3].map(String.init) + ["…"]).joined(separator: "/")
        } else {
            self.shown = shown
        }
        let rest = text.drop { $0 != ":" }.dropFirst(3)
        hasSecret =
            kind == .rtmp && parts.count >= 4 || rest.prefix { $0 != "/" }.contains("@") || rest.contains("?")
    }

    private static let kinds: [String: Kind] = ["rtmp": .rtmp, "rtmps": .rtmp, "rtsp": .rtsp, "srt": .srt]
}
