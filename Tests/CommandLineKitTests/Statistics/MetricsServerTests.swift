import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Testing

@testable import CommandLineKit

@Suite struct MetricsServerTests {
    private func serving<Value: Sendable>(
        at endpoint: Endpoint = Endpoint(host: "127.0.0.1", port: 0),
        _ text: String = "up 1\n", _ body: (Endpoint) async throws -> Value
    ) async throws -> Value {
        let server = try MetricsServer(endpoint) { text }
        try server.start()
        defer { server.stop() }
        return try await body(server.endpoint)
    }

    /// What an independent client gets.
    private func get(_ endpoint: Endpoint, _ path: String = "/metrics") async throws -> Oracle.Result {
        let program =
            "import sys, urllib.request as r\nwith r.urlopen(sys.argv[1], timeout=20) as a: "
            + "print(a.status, a.headers['content-type']); sys.stdout.write(a.read().decode())"
        return try await Oracle.run(["python3", "-c", program, "http://\(endpoint)\(path)"])
    }

    @Test(arguments: ["127.0.0.1", "::1", "localhost"]) func aClientIsAnswered(host: String) async throws {
        try await serving(at: Endpoint(host: host, port: 0)) { endpoint in
            let result = try await get(endpoint)
            #expect(result.lines == ["200 text/plain; version=0.0.4; charset=utf-8", "up 1"], "\(result.errors)")
            #expect(try await get(endpoint, "/secret").errors.contains("404"))
        }
    }

    @Test func anAnswerThatFillsTheSocketArrivesWhole() async throws {
        let text = String(repeating: "# 0123456789abcdef0123456789abcdef\n", count: 200_000)
        try await serving(text) { endpoint in
            let result = try await get(endpoint)
            #expect(result.output.count > text.utf8.count)
            #expect(result.text.hasSuffix(text.suffix(100)))
        }
    }

    @Test func hostileClientsHurtNobody() async throws {
        try await serving { endpoint in
            // Silent ones, one that never ends its head, one that speaks no HTTP, one that asks and does not read.
            let crowd = try await onThread { () throws(SystemError) in
                var crowd: [LoopbackSocket] = []
                for number in 0..<40 {
                    let socket = try LoopbackSocket(port: endpoint.port)
                    switch number % 4 {
                    case 0: break
                    case 1: socket.write(Array("GET /metrics HTTP/1.1\r\nX: ".utf8))
                    case 2: socket.write((0..<255).map { UInt8($0) } + [10, 10])
                    default: socket.write(Array("GET /metrics HTTP/1.1\r\n\r\n".utf8))
                    }
                    crowd.append(socket)
                }
                return crowd
            }
            for _ in 0..<3 { #expect(try await get(endpoint).lines.last == "up 1") }
            // The first of them had to go for those that came later; the last is let go when its time is over.
            #expect(try await onThread { crowd[0].isClosed(within: 20_000) })
            #expect(try await onThread { crowd[36].isClosed(within: 20_000) })
            let flood = try await onThread { () throws(SystemError) in
                let socket = try LoopbackSocket(port: endpoint.port)
                socket.write([UInt8](repeating: UInt8(ascii: "a"), count: 100_000))
                return socket.isClosed(within: 20_000)
            }
            #expect(flood)
            #expect(try await get(endpoint).lines.last == "up 1")
        }
    }

    @Test func aPortInUseAndAForeignAddressAreTold() async throws {
        try await serving { endpoint in
            let taken = #expect(throws: GantryError.self) { try MetricsServer(endpoint) { "" } }
            #expect(taken?.code == .portInUse)
            #expect(taken?.message.contains("\(endpoint)") == true)
            // One that is free, for all that is known.
            let other = Endpoint(host: endpoint.host, port: endpoint.port < .max - 1 ? endpoint.port + 2 : 9752)
            #expect(taken?.message.hasSuffix("--metrics=\(other)") == true)
            for host in ["example.org", "192.0.2.1", "fe80::zz"] {
                let error = #expect(throws: GantryError.self) {
                    try MetricsServer(Endpoint(host: host, port: 0)) { "" }
                }
                #expect(error?.code == .invalidArgument, "\(host)")
            }
        }
    }

    @Test func stoppingLetsClientsGo() async throws {
        let server = try MetricsServer(Endpoint(host: "127.0.0.1", port: 0)) { "" }
        try server.start()
        let socket = try await onThread { () throws(SystemError) in try LoopbackSocket(port: server.endpoint.port) }
        try await onThread { server.stop() }
        #expect(try await onThread { socket.isClosed(within: 30_000) })
    }
}
