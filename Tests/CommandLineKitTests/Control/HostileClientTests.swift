import CommandLineKit
import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import Glibc
import Testing

/// What the others do. After each of them somebody else is still served.
@Suite(.timeLimit(.minutes(2))) struct HostileClientTests {
    private static let invalid = GantryError.Code.invalidArgument.rawValue
    private static let busy = GantryError.Code.busy.rawValue

    @Test func requestsInPiecesAndTogether() async throws {
        let stage = try ControlStage()
        let client = try stage.client()
        try await onThread { () throws in
            for byte in "{\"id\":1,\"method\":\"echo\"}\n".utf8 {
                #expect(client.send(String(decoding: [byte], as: UTF8.self)))
            }
            #expect(try client.line()?["id"] as? Int == 1)
            #expect(client.send("{\"id\":\"a\",\"method\":\"echo\"}\n{\"method\":\"echo\"}\n{\"id\":3,\"me"))
            #expect(try client.line()?["id"] as? String == "a")
            #expect(try client.line()?["id"] is NSNull)
            #expect(client.send("thod\":\"echo\"}\n"))
            #expect(try client.line()?["id"] as? Int == 3)
        }
    }

    @Test func brokenRequestsAreToldAndForgiven() async throws {
        let stage = try ControlStage()
        let client = try stage.client()
        try await onThread { () throws in
            for request in [
                "", "hello", "{\"id\":1,\"method\":", "[]", "7", "{}", "{\"id\":1}", "{\"id\":1,\"method\":2}",
                "{\"id\":{},\"method\":\"echo\"}", "{\"id\":1.5,\"method\":\"echo\"}",
                "{\"id\":\"\(String(repeating: "x", count: 65))\",\"method\":\"echo\"}",
                "{\"id\":1,\"method\":\"echo\",\"params\":[]}", "{\"id\":1,\"method\":\"unknown\"}",
                "{\"id\":1,\"id\":2,\"method\":\"echo\"}", String(repeating: "[", count: 4000),
            ] {
                #expect(client.send(request + "\n"))
                let code = try client.errorCode()
                #expect(code == Self.invalid, "\(request.prefix(80))")
            }
            #expect(client.send("{\"id\":9,\"method\":\"echo\"}\n"))
            #expect(try client.line()?["id"] as? Int == 9)
        }
        #expect(stage.handler.state.value.calls == ["unknown", "echo"])
    }

    @Test func aRequestHas4096Bytes() async throws {
        let stage = try ControlStage()
        try await onThread { () throws in
            let frame = "{\"id\":1,\"method\":\"echo\",\"params\":{\"x\":\"\"}}"
            let filling = String(repeating: "y", count: 4096 - frame.utf8.count)
            let longest = frame.replacingOccurrences(of: "\"\"", with: "\"\(filling)\"")
            #expect(longest.utf8.count == 4096)
            let client = try stage.client()
            #expect(client.send(longest + "\n"))
            #expect(((try client.line()?["result"] as? [String: Any])?["x"] as? String)?.count == filling.count)
            #expect(client.send(longest.replacingOccurrences(of: "yyyy", with: "yyyyy") + "\n"))
            #expect(try client.errorCode() == Self.invalid)
            try client.waitForEnd()
            // One line of a megabyte, and it never ends.
            let other = try stage.client()
            other.send(String(repeating: "z", count: 1 << 20))
            #expect(try other.errorCode() ?? Self.invalid == Self.invalid)
            try other.waitForEnd()
        }
        #expect(try await stage.isServing())
    }

    /// Each quiet one loses its place to a newcomer; nobody keeps others out.
    @Test func quietClientsGiveWay() async throws {
        let stage = try ControlStage()
        try await onThread { () throws in
            let first = try stage.client()
            #expect(first.send("{\"id\":1,\"method\":\"echo\"}\n"))
            #expect(try first.line() != nil)
            var crowd: [RawClient] = []
            for _ in 0..<40 {
                let client = try stage.client()
                client.send("{\"id\":2,\"method\":\"echo\"}\n")
                // Who was refused, since those before had not gone yet, sees the end.
                _ = try client.line()
                crowd.append(client)
            }
            try first.waitForEnd()
            withExtendedLifetime(crowd) {}
        }
        #expect(try await stage.isServing())
    }

    @Test func noMoreThanEightAreServed() async throws {
        let stage = try ControlStage()
        try await onThread { () throws in
            let waiting = try (0..<8).map { _ in try stage.client() }
            for client in waiting { #expect(client.send("{\"id\":1,\"method\":\"wait\"}\n")) }
            #expect(stage.handler.state.waitBlocking { $0.waiting.count == 8 })
            let late = try stage.client()
            #expect(try late.errorCode() == Self.busy)
            try late.waitForEnd()
            for call in stage.handler.state.value.waiting { call.finish(.success(true)) }
            for client in waiting { #expect(try client.line()?["result"] as? Bool == true) }
        }
        #expect(try await stage.isServing())
    }

    @Test func oneClientHasEightOpenRequests() async throws {
        let stage = try ControlStage()
        try await onThread { () throws in
            let client = try stage.client()
            for number in 1...9 { #expect(client.send("{\"id\":\(number),\"method\":\"wait\"}\n")) }
            let line = try client.line()
            #expect(line?["id"] as? Int == 9)
            #expect((line?["error"] as? [String: Any])?["code"] as? Int == Self.busy)
            stage.handler.state.value.waiting.first?.finish(.success(1))
            #expect(try client.line()?["id"] as? Int == 1)
            #expect(client.send("{\"id\":10,\"method\":\"echo\"}\n"))
            #expect(try client.line()?["id"] as? Int == 10)
        }
    }

    /// It is closed after a while, and holds up nobody.
    @Test func aClientThatNeverReads() async throws {
        let stage = try ControlStage()
        let client = try stage.client()
        #expect(client.send("{\"id\":1,\"method\":\"flood\"}\n"))
        #expect(try await stage.handler.state.wait { $0.calls == ["flood"] })
        #expect(try await stage.isServing())
        #expect(try await stage.handler.state.wait { $0.ended.contains(1) })
        #expect(try await stage.isServing())
        withExtendedLifetime(client) {}
    }

    @Test func halfARequestIsWaitedForFiveSeconds() async throws {
        let stage = try ControlStage()
        let client = try stage.client()
        try await onThread { () throws in
            let start = MonotonicClock.now()
            #expect(client.send("{\"id\":1,"))
            try client.waitForEnd()
            #expect(MonotonicClock.now() - start > .seconds(4))
        }
        #expect(try await stage.handler.state.wait { $0.ended == [1] })
        #expect(stage.handler.state.value.calls.isEmpty)
    }

    @Test func whoGoesInTheMiddleIsForgotten() async throws {
        let stage = try ControlStage()
        try await onThread { () throws in
            for _ in 0..<50 {
                let client = try stage.client()
                client.send("{\"id\":1,\"method\":\"events\"}\n{\"id\":2")
            }
        }
        #expect(try await stage.isServing())
        #expect(try await stage.handler.state.wait { $0.ended.count >= 1 })
    }

    /// The kernel's word counts, also where the file modes would let others in.
    @Test(.enabled(if: geteuid() == 0)) func anotherUserIsRefused() async throws {
        let stage = try ControlStage()
        chmod(stage.folder.path, 0o755)
        chmod(stage.folder.file("run"), 0o711)
        chmod(stage.folder.file("run/gantry"), 0o711)
        chmod(stage.server.path, 0o666)
        let script = """
            import os, socket, sys
            client = socket.socket(socket.AF_UNIX)
            user = int(sys.argv[2])
            os.seteuid(user)
            client.connect(sys.argv[1])
            client.settimeout(60)
            try:
                client.sendall(b'{"id":1,"method":"echo"}\\n')
                print(len(client.recv(1000)))
            except (BrokenPipeError, ConnectionResetError):
                print(0)
            """
        let stranger = try await Oracle.check(["python3", "-c", script, stage.server.path, "65534"])
        #expect(stranger.text == "0\n")
        #expect(stage.handler.state.value.calls.isEmpty)
        let own = try await Oracle.check(["python3", "-c", script, stage.server.path, "0"])
        #expect(own.text == "21\n")
        #expect(stage.handler.state.value.calls == ["echo"])
    }
}
