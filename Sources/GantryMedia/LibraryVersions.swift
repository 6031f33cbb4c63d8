import CALSA
import CLibAV
import COpus
import CX264
import GantryCore

/// Of what does the work, as it is loaded; for bug reports.
package enum LibraryVersions {
    /// "Gantry 0.1, libavcodec 59.37, …".
    package static var text: String {
        let libraries = [
            ("libavcodec", number(avcodec_version())), ("libavformat", number(avformat_version())),
            ("x264", "\(X264_BUILD)"), ("ALSA", String(cString: snd_asoundlib_version())),
            // "libopus 1.3.1"
            ("Opus", String(cString: opus_get_version_string()).split(separator: " ").last.map(String.init) ?? "?"),
        ]
        return "Gantry \(GantryVersion.text), " + libraries.map { "\($0.0) \($0.1)" }.joined(separator: ", ") + "."
    }

    /// AV_VERSION_INT of libavutil/version.h.
    private static func number(_ version: CUnsignedInt) -> String { "\(version >> 16).\(version >> 8 & 255)" }
}
