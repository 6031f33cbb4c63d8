import Testing

@testable import CommandLineKit

@Suite struct HTTPRequestTests {
    private func read(_ text: String) -> HTTPRequest.Reading { HTTPRequest.read(Array(text.utf8)) }

    @Test func whatAScraperSendsIsRead() {
        let text = "GET /metrics?x=1 HTTP/1.1\r\nHost: 127.0.0.1:9750\r\nAccept: text/plain;version=0.0.4\r\n\r\n"
        #expect(read(text) == .request(HTTPRequest(method: "GET", path: "/metrics")))
        // Every part of it is not enough yet.
        let bytes = Array(text.utf8)
        for length in 0..<bytes.count { #expect(HTTPRequest.read(Array(bytes.prefix(length))) == .incomplete) }
        #expect(read("GET / HTTP/1.0\n\n") == .request(HTTPRequest(method: "GET", path: "/")))
    }

    @Test(arguments: [
        "\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET metrics HTTP/1.1\r\n\r\n", "GET /  HTTP/1.1\r\n\r\n",
        "GET / HTTP/2.0\r\n\r\n", "GET /\u{7} HTTP/1.1\r\n\r\n", "GET /ü HTTP/1.1\r\n\r\n", " / HTTP/1.1\r\n\r\n",
    ])
    func whatIsNoRequestIsRefused(text: String) {
        let reading = read(text)
        #expect(reading == .refused(.badRequest))
    }

    @Test func aHeadThatIsTooLongIsRefused() {
        let long = "GET / HTTP/1.1\r\nX: " + String(repeating: "a", count: 5000)
        #expect(read(long) == .refused(.headTooLarge))
        #expect(read(long + "\r\n\r\n") == .refused(.headTooLarge))
        let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        _ = HTTPRequest.read(bytes)
    }

    @Test func answersSayWhatTheyAre() {
        func answer(_ method: String, _ path: String) -> String {
            let response = HTTPResponse.answer(HTTPRequest(method: method, path: path)) { "up 1\n" }
            return String(decoding: response.bytes, as: UTF8.self)
        }
        let good = answer("GET", "/metrics")
        #expect(good.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
        #expect(good.contains("Content-Length: 5\r\n") && good.hasSuffix("\r\n\r\nup 1\n"))
        let head = answer("HEAD", "/metrics")
        #expect(head.contains("Content-Length: 5\r\n") && head.hasSuffix("\r\n\r\n"))
        #expect(answer("GET", "/other").hasPrefix("HTTP/1.1 404 "))
        #expect(answer("POST", "/metrics").hasPrefix("HTTP/1.1 405 "))
        #expect(answer("POST", "/metrics").contains("Allow: GET, HEAD\r\n"))
    }
}
