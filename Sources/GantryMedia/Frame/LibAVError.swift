import CLibAV
import GantryPlatform

/// The words of the FFmpeg libraries for one of their error numbers, for example "Invalid data found when processing
/// input". Safe from any thread.
func libAVText(_ code: CInt) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { text in
        text.initialize(repeating: 0)
        guard let base = text.baseAddress else { return "error \(code)" }
        av_strerror(code, base, text.count)
        return String(cString: base)
    }
}

/// Error numbers of the FFmpeg libraries (libavutil/error.h), negative as their functions return them.
enum LibAVError {
    static let endOfFile = CLibAV_ERROR_EOF
    /// The interrupt callback said stop.
    static let exit = CLibAV_ERROR_EXIT
    static let invalidData = CLibAV_ERROR_INVALIDDATA
    /// Needs more input, or the output must be taken first.
    static let again = CLibAV_ERROR_EAGAIN
    static let noMemory = CLibAV_ERROR_ENOMEM
    static let noSpace = CLibAV_ERROR_ENOSPC
}

/// AV_NOPTS_VALUE: a stamp that is not known.
let libAVNoTimestamp = CLibAV_NOPTS_VALUE

/// The FFmpeg libraries write to standard error by themselves. What matters is in our errors: let them be quiet, unless
/// the log level is `debug`.
func silenceLibAV() {
    av_log_set_level(Log.level >= .debug ? AV_LOG_INFO : AV_LOG_QUIET)
}
