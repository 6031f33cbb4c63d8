import GantryCore
import GantryPlatform
import GantryTrust
import Glibc

/// An engine on a real socket against `openssl s_client` or `openssl s_server`.
enum Loopback {
    struct Outcome: Sendable {
        var error: GantryError?
        var peer: KeyID?
        var received: [UInt8] = []
        /// What the program printed.
        var output = ""
    }

    /// The engine is the server; it says `greeting`, and goodbye after the line that the client sends.
    static func serve(
        _ identity: Identity, greeting: String = "hello from gantry\n", to client: [String], in scratch: ScratchFolder
    ) async -> Outcome {
        await onThread {
            var outcome = Outcome()
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(listener) }
            limitWaiting(listener)
            guard let port = bindLoopback(listener), listen(listener, 1) == 0 else { return outcome }
            scratch.write("hello", Array("hello from openssl\n".utf8))
            let output = scratch.file("client-output")
            let process = Tool.start(
                ["openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-ign_eof"] + client, output: output,
                input: scratch.file("hello"))
            let connection = accept(listener, nil, nil)
            if connection >= 0 {
                converse(.server, identity, connection, Array(greeting.utf8), &outcome)
                close(connection)
            }
            if let process { _ = Tool.wait(process) }
            outcome.output = String(decoding: ScratchFolder.contents(output), as: UTF8.self)
            return outcome
        }
    }

    /// The engine is the client of `openssl s_server -rev`, which sends each line back from end to start.
    static func dial(
        _ identity: Identity, greeting: String = "hello\n", server: [String], in scratch: ScratchFolder
    ) async -> Outcome {
        await onThread {
            var outcome = Outcome()
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { return outcome }
            let process = Tool.start(
                ["openssl", "s_server", "-accept", "127.0.0.1:0", "-naccept", "1", "-rev"] + server, output: ends[1])
            close(ends[1])
            defer { close(ends[0]) }
            guard let process, let port = acceptedPort(ends[0]) else { return outcome }
            let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            if connect(connection, port) {
                converse(.client, identity, connection, Array(greeting.utf8), &outcome)
            }
            close(connection)
            _ = Tool.wait(process)
            return outcome
        }
    }

    private static func converse(
        _ role: TLSEngine.Role, _ identity: Identity, _ connection: CInt, _ greeting: [UInt8], _ outcome: inout Outcome
    ) {
        limitWaiting(connection)
        var hasGreeted = false
        var buffer = [UInt8](repeating: 0, count: 16384)
        do throws(GantryError) {
            let engine = try TLSEngine(role: role, identity: identity, alpn: "gantry/1") { _ in .trusted }
            defer { send(EnginePair.drain(engine), connection) }
            while true {
                let complete = try engine.advanceHandshake()
                if complete && !hasGreeted {
                    hasGreeted = true
                    outcome.peer = engine.peerKeyID
                    try EnginePair.write(greeting, engine)
                }
                if complete {
                    let (bytes, end) = try EnginePair.read(engine)
                    outcome.received += bytes
                    if end == .closedByPeer { return }
                    if outcome.received.last == UInt8(ascii: "\n") { return engine.close() }
                }
                send(EnginePair.drain(engine), connection)
                let count = recv(connection, &buffer, buffer.count, 0)
                if count <= 0 { return }
                try EnginePair.receive(Array(buffer.prefix(count)), engine)
            }
        } catch {
            outcome.error = error
        }
    }

    private static func send(_ bytes: [UInt8], _ connection: CInt) {
        if !bytes.isEmpty { _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }
    }

    /// A peer that says nothing must not hang the test.
    private static func limitWaiting(_ descriptor: CInt) {
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func withLoopback<R>(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> R
    ) -> (result: R, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
        }
        return (result, UInt16(bigEndian: address.sin_port))
    }

    private static func bindLoopback(_ descriptor: CInt) -> UInt16? {
        guard withLoopback(port: 0, { bind(descriptor, $0, $1) }).result == 0 else { return nil }
        return withLoopback(port: 0, { getsockname(descriptor, $0, &$1) }).port
    }

    private static func connect(_ descriptor: CInt, _ port: UInt16) -> Bool {
        withLoopback(port: port, { Glibc.connect(descriptor, $0, $1) }).result == 0
    }

    /// Reads up to the line "ACCEPT 127.0.0.1:PORT".
    private static func acceptedPort(_ descriptor: CInt) -> UInt16? {
        var line = ""
        var byte: UInt8 = 0
        while read(descriptor, &byte, 1) == 1 {
            guard byte == UInt8(ascii: "\n") else {
                line.unicodeScalars.append(Unicode.Scalar(byte))
                continue
            }
            if line.hasPrefix("ACCEPT ") { return line.split(separator: ":").last.flatMap { UInt16($0) } }
            line = ""
        }
        return nil
    }

    private static func onThread(_ body: @escaping @Sendable () -> Outcome) async -> Outcome {
        await withCheckedContinuation { continuation in
            do throws(GantryError) {
                _ = try NamedThread("loopback") { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(returning: Outcome(error: error))
            }
        }
    }
}
