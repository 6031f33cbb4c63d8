import COpenSSL

/// The error queue of OpenSSL: one for each thread, filled by failing calls, emptied here.
enum OpenSSLErrors {
    /// Before a call whose failure is read afterwards: what stands in the queue is somebody else's.
    static func clear() { ERR_clear_error() }

    /// Takes all entries, oldest first, and passes each to `body`.
    static func drain(_ body: (UInt) -> Void) {
        var rounds = 0
        while rounds < 32 {
            let error = ERR_get_error()
            if error == 0 { return }
            body(error)
            rounds += 1
        }
        ERR_clear_error()
    }

    /// The words for an error, in English.
    static func text(_ error: UInt) -> String {
        if let reason = ERR_reason_error_string(error) { return String(cString: reason) }
        return "OpenSSL error \(error)"
    }

    /// The words of the oldest error; the queue is empty afterwards.
    static func oldest() -> String? {
        var first: UInt?
        drain { error in if first == nil { first = error } }
        return first.map(text)
    }
}
