/// The beginning of an HTTP/1 request, as far as `MetricsServer` cares (RFC 9112 section 3): method and path.
struct HTTPRequest: Equatable {
    enum Reading: Equatable {
        /// More is to come.
        case incomplete
        case request(HTTPRequest)
        case refused(HTTPResponse.Status)
    }

    /// Longer heads are refused: a scraper's has a few hundred bytes.
    static let longestHead = 4096

    let method: String
    /// Without the query.
    let path: String

    /// What has come so far, at most `longestHead` bytes and a few.
    static func read(_ bytes: [UInt8]) -> Reading {
        guard let end = headEnd(bytes) else { return bytes.count > longestHead ? .refused(.headTooLarge) : .incomplete }
        guard end <= longestHead else { return .refused(.headTooLarge) }
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        guard line.allSatisfy({ 0x20...0x7E ~= $0 }) else { return .refused(.badRequest) }
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, !words[0].isEmpty, words[1].hasPrefix("/") else { return .refused(.badRequest) }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { return .refused(.badRequest) }
        let path = words[1].prefix { $0 != "?" }
        return .request(HTTPRequest(method: String(words[0]), path: String(path)))
    }

    /// Behind the empty line; a lone line feed counts as well (RFC 9112 section 2.2).
    private static func headEnd(_ bytes: [UInt8]) -> Int? {
        var lineLength = 0
        var isFirst = true
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "\n"):
                if lineLength == 0, !isFirst { return index + 1 }
                lineLength = 0
                isFirst = false
            case UInt8(ascii: "\r"): break
            default: lineLength += 1
            }
        }
        return nil
    }
}

/// An answer, after which the connection is closed.
struct HTTPResponse {
    enum Status: Int {
        case ok = 200
        case badRequest = 400
        case notFound = 404
        case methodNotAllowed = 405
        case headTooLarge = 431

        var reason: String {
            switch self {
            case .ok: "OK"
            case .badRequest: "Bad Request"
            case .notFound: "Not Found"
            case .methodNotAllowed: "Method Not Allowed"
            case .headTooLarge: "Request Header Fields Too Large"
            }
        }
    }

    let bytes: [UInt8]

    init(_ status: Status, type: String = "text/plain; charset=utf-8", body: String? = nil, isHead: Bool = false) {
        let body = Array((body ?? "\(status.rawValue) \(status.reason)\n").utf8)
        var head = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\nContent-Type: \(type)\r\n"
        head += "Content-Length: \(body.count)\r\nCache-Control: no-store\r\nConnection: close\r\n"
        if status == .methodNotAllowed { head += "Allow: GET, HEAD\r\n" }
        bytes = Array((head + "\r\n").utf8) + (isHead ? [] : body)
    }

    /// What `/metrics` of a tool answers.
    static func answer(_ request: HTTPRequest, metrics: () -> String) -> HTTPResponse {
        guard request.method == "GET" || request.method == "HEAD" else { return HTTPResponse(.methodNotAllowed) }
        let isHead = request.method == "HEAD"
        switch request.path {
        case "/metrics":
            return HTTPResponse(.ok, type: MetricSet.prometheusType, body: metrics(), isHead: isHead)
        case "/": return HTTPResponse(.ok, body: "Gantry \(request.path)metrics\n", isHead: isHead)
        default: return HTTPResponse(.notFound, isHead: isHead)
        }
    }
}
