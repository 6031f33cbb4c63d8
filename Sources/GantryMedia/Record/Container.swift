package import GantryCore

/// The file formats that packets are copied into.
package enum Container: Sendable, CaseIterable {
    case mp4, matroska, mpegTS

    /// By the ending of a recording's name.
    ///
    /// - Throws: `invalidArgument`, which lists the endings.
    package static func ofRecording(_ path: String) throws(GantryError) -> Container {
        let name = path.lowercased()
        if name.hasSuffix(".mp4") { return .mp4 }
        if name.hasSuffix(".mkv") { return .matroska }
        throw GantryError(
            .invalidArgument, "The format of a recording is taken from its name: \(path) must end in .mp4 or .mkv.")
    }

    /// libavformat's name of the muxer.
    var muxerName: String {
        switch self {
        case .mp4: "mp4"
        case .matroska: "matroska"
        case .mpegTS: "mpegts"
        }
    }

    /// Options of libavformat's muxer (libavformat/movenc.c, matroskaenc.c, mpegtsenc.c).
    var options: [(name: String, value: String)] {
        switch self {
        case .mp4:
            // The index (moov) comes first, so the file plays whenever it ends; fragments end when we flush.
            [("movflags", "empty_moov+default_base_moof+frag_custom"), ("write_tmcd", "0")]
        case .matroska:
            // The flush ends clusters; the limits only bound what a missing flush could gather.
            [("cluster_time_limit", "1000"), ("cluster_size_limit", "33554432")]
        case .mpegTS:
            // One PES packet per Opus packet instead of gathering 2930 bytes of them: no delay.
            [("pes_payload_size", "0"), ("mpegts_flags", "resend_headers")]
        }
    }
}
