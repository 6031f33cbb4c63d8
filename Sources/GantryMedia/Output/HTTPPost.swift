import CLibAV
package import GantryCore
import GantryPlatform

/// Sends small documents by HTTP POST, with libavformat, which speaks TLS as well and looks at the server's certificate.
///
/// One thread sends; any may call `stop`.
package final class HTTPPost: Sendable {
    /// How long one exchange may take.
    package static let patience = MediaDuration.seconds(5)

    private let url: String
    private let guardian = LibAVInput.Guardian()

    /// - Parameter url: http or https. A password in it is never told.
    package init(url: String) { self.url = url }

    /// What is being sent is given up, and nothing is sent any more.
    package func stop() { guardian.stop() }

    /// Blocks until the server has answered, at most for `patience`.
    ///
    /// - Throws: `outputFailed` when the server is not reached, or answers with an error; `cancelled` after `stop`.
    package func send(json: String) throws(GantryError) {
        silenceLibAV()
        guardian.deadline = MonotonicClock.now() + Self.patience
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        // A document that is given at the start goes with its length, not in pieces, and what the server says is looked
        // at. Options of bytes are written as hexadecimal digits.
        let settings = [
            ("method", "POST"), ("post_data", Self.hexadecimal(json)),
            ("headers", "Content-Type: application/json\r\n"),
            ("user_agent", "gantry/\(GantryVersion.text)"), ("tls_verify", "1"),
            ("protocol_whitelist", "http,https,tcp,tls"),
        ]
        for (name, value) in settings { av_dict_set(&options, name, value, 0) }
        var interrupt = AVIOInterruptCB()
        interrupt.callback = shouldInterrupt
        interrupt.opaque = Unmanaged.passUnretained(guardian).toOpaque()
        var context: UnsafeMutablePointer<AVIOContext>?
        let status = avio_open2(&context, url, AVIO_FLAG_READ, &interrupt, &options)
        avio_closep(&context)
        guard status < 0 else { return }
        if guardian.isStopped { throw GantryError(.cancelled, "The report was cancelled.") }
        throw GantryError(
            .outputFailed,
            "Statistics could not be reported to \(place). Check that the server runs and takes POST.",
            cause: guardian.status(status) == LibAVError.exit ? "no answer within 5 s" : libAVText(status))
    }

    private static func hexadecimal(_ text: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 { result += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: result, as: UTF8.self)
    }

    /// Scheme, host and port alone.
    package var place: String {
        let parts = url.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: true)
        guard parts.count >= 2, let host = parts[1].split(separator: "@").last else { return "the server" }
        return "\(parts[0])//\(host)"
    }
}
