import CLibAV
import GantryCore
import GantryPlatform
import Glibc

/// An open file or URL of libavformat. Owned by one thread at a time; `stop` may be called from any.
package final class LibAVInput: @unchecked Sendable {  // The context belongs to the owning thread; the rest is atomic.
    /// A source in the network that stays silent for that long is lost.
    static let networkTimeout = MediaDuration.seconds(10)

    private(set) var context: UnsafeMutablePointer<AVFormatContext>
    let isNetwork: Bool
    /// Sends at its own pace: not seekable, not paced.
    let isLive: Bool
    private let guardian: Guardian

    /// Opens and probes.
    ///
    /// - Throws: `sourceNotFound`, `sourceUnreadable`, `cancelled` after `stop` on `guardian`.
    init(url: String, guardian: Guardian) throws(GantryError) {
        let scheme = Self.scheme(of: url)
        if scheme == nil { try Self.checkFile(url) }
        isNetwork = scheme != nil && scheme != "file"
        isLive = scheme.map { Self.liveSchemes.contains($0) } ?? false
        self.guardian = guardian
        guard let fresh = avformat_alloc_context() else { throw GantryError(.general, "There is no memory left.") }
        fresh.pointee.interrupt_callback.callback = shouldInterrupt
        fresh.pointee.interrupt_callback.opaque = Unmanaged.passUnretained(guardian).toOpaque()
        if isLive { fresh.pointee.flags |= AVFMT_FLAG_NOBUFFER }
        guardian.deadline = isNetwork ? MonotonicClock.now() + Self.networkTimeout : nil
        var options: OpaquePointer?
        av_dict_set(&options, "rtsp_flags", "prefer_tcp", 0)
        if isNetwork { av_dict_set(&options, "protocol_whitelist", Self.networkProtocols, 0) }
        var opened: UnsafeMutablePointer<AVFormatContext>? = fresh
        // "file:" so that a colon in a file's name is not taken for a protocol. Frees the context when it fails.
        let status = avformat_open_input(&opened, scheme == nil ? "file:\(url)" : url, nil, &options)
        av_dict_free(&options)
        guard status >= 0, let opened else { throw Self.openError(url, status, isNetwork: isNetwork, guardian) }
        context = opened
        try probe(url)
    }

    deinit {
        var closing: UnsafeMutablePointer<AVFormatContext>? = context
        avformat_close_input(&closing)
    }

    /// What a playlist or a redirection of a server may lead to: nothing on this machine.
    private static let networkProtocols =
        "http,https,httpproxy,tls,tcp,udp,udplite,rtp,srtp,rtmp,rtmps,rtmpt,rtmpts,ffrtmphttp,srt,crypto,data,ftp,sctp,rist"

    private static let liveSchemes: Set<String> = ["rtsp", "rtsps", "rtmp", "rtmps", "rtp", "udp", "srt", "tcp"]

    /// What libavformat takes any text for: terminal art.
    private static let textFormats: Set<String> = ["tty", "bin", "xbin", "adf", "idf"]

    /// The part before "://", in lower case; nil for a path.
    static func scheme(of url: String) -> String? {
        guard let colon = url.firstIndex(of: ":"), url[colon...].hasPrefix("://"), colon > url.startIndex else {
            return nil
        }
        let scheme = url[..<colon]
        guard scheme.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "+") }) else { return nil }
        return scheme.lowercased()
    }

    /// A URL as it may be shown: without name and password, and without what stands behind "?", where tokens are; printable.
    package static func shown(_ url: String) -> String {
        guard scheme(of: url) != nil, let slashes = url.firstRange(of: "://") else { return url }
        var rest = url[slashes.upperBound...]
        // A password may have a question mark in it.
        let host = rest.prefix { $0 != "/" }
        if let at = host.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        if let question = rest.firstIndex(of: "?") { rest = rest[..<question] }
        return DisplayName.sanitized(String(url[..<slashes.upperBound] + rest), graphemes: 200, bytes: 400)
    }

    private static func checkFile(_ path: String) throws(GantryError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let error = SystemError(errno: errno, during: "open \(path)")
            if error.errno == EACCES { throw unreadable(path, error.reason) }
            throw GantryError(
                .sourceNotFound,
                "There is no file \(path). Check the name and the folder. What else can be sent is shown by: "
                    + "gantry-producer sources", cause: error.description)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw GantryError(.sourceUnreadable, "\(path) is a folder. Name a file in it.")
        }
        if access(path, R_OK) != 0 { throw unreadable(path, SystemError(errno: errno, during: "open").reason) }
    }

    private static func unreadable(_ path: String, _ reason: String) -> GantryError {
        GantryError(.sourceUnreadable, "\(path) may not be read. Allow it with: chmod u+r \(path)", cause: reason)
    }

    private static func openError(
        _ url: String, _ status: CInt, isNetwork: Bool, _ guardian: Guardian
    ) -> GantryError {
        let url = shown(url)
        if guardian.isStopped { return GantryError(.cancelled, "Opening \(url) was cancelled.") }
        if isNetwork {
            return GantryError(
                .sourceNotFound, "\(url) could not be opened. Check the address, and that its server is running.",
                cause: guardian.status(status) == LibAVError.exit ? "no answer within 10 s" : libAVText(status))
        }
        // A path was looked at before; this is a URL. AVERROR(ENOENT).
        if status == -ENOENT {
            return GantryError(.sourceUnreadable, "There is no file \(url). Check the name and the folder.")
        }
        return GantryError(
            .sourceUnreadable,
            "\(url) is not a media file, or it is damaged or cut short. Check it with: ffprobe \(url)",
            cause: libAVText(status))
    }

    private func probe(_ url: String) throws(GantryError) {
        let format = context.pointee.iformat.flatMap { $0.pointee.name }.map { String(cString: $0) } ?? ""
        // A low score is a guess: arbitrary bytes pass for MP3 with a score of 1.
        let isText = Self.textFormats.contains(format)
        guard !isText, isNetwork || context.pointee.probe_score > 5 else {
            throw GantryError(
                .sourceUnreadable,
                "\(Self.shown(url)) is not a media file. Check it with: ffprobe \(Self.shown(url))",
                cause: "looks like \(format)")
        }
        allowRead()
        let status = avformat_find_stream_info(context, nil)
        guard status >= 0 else { throw Self.openError(url, status, isNetwork: isNetwork, guardian) }
    }

    /// Starts the time-out of the next blocking call anew.
    func allowRead() {
        guardian.deadline = isNetwork ? MonotonicClock.now() + Self.networkTimeout : nil
    }

    /// Back to the beginning. False when the input cannot do that.
    func rewind() -> Bool {
        allowRead()
        let start = context.pointee.start_time == libAVNoTimestamp ? 0 : context.pointee.start_time
        if av_seek_frame(context, -1, start, AVSEEK_FLAG_BACKWARD) >= 0 { return true }
        return av_seek_frame(context, -1, 0, AVSEEK_FLAG_BYTE) >= 0
    }

    /// Microseconds of the first stamp in the file.
    var startTime: Int64 { context.pointee.start_time == libAVNoTimestamp ? 0 : context.pointee.start_time }

    typealias Guardian = InputGuardian
}

/// The callback for libavformat's blocking calls; its context is a `Guardian`.
func shouldInterrupt(_ context: UnsafeMutableRawPointer?) -> CInt {
    guard let context else { return 0 }
    return Unmanaged<LibAVInput.Guardian>.fromOpaque(context).takeUnretainedValue().shouldInterrupt ? 1 : 0
}
