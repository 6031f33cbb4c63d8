import Foundation
import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import GantryTrust
import StudioKit
import Testing

extension EndToEnd {
    /// Many who connect and prove nothing, at both pairing listeners, while the genuine peer pairs.
    @Suite struct PairingSiegeTests {
        /// 500 sockets that say nothing, from 200 addresses, and one that says a byte at a time, again and again.
        private final class Siege: Sendable {
            private let isOver = Watched(false)
            private let idle: Unsafe<[SocketLink]>
            private let dripping: Task<Void, any Error>

            init(port: UInt16) async throws {
                idle = try await onThread {
                    Unsafe((0..<500).compactMap { try? HostilePeer.dial(port, host: UInt8(20 + $0 % 200)) })
                }
                let isOver = isOver
                dripping = Task.detached {
                    try await onThread {
                        let record: [UInt8] = [22, 3, 1, 64, 0, 1, 0, 63, 252]
                        while !isOver.value {
                            guard let socket = try? LoopbackSocket(port: port) else { continue }
                            for byte in record {
                                guard socket.write([byte]), !isOver.waitBlocking(.seconds(1), until: { $0 }) else {
                                    break
                                }
                            }
                        }
                    }
                }
            }

            var count: Int { idle.value.count }

            func end() async throws {
                isOver.change { $0 = true }
                for link in idle.value { link.close() }
                try await dripping.value
            }
        }

        /// A certificate of 64 KiB, shown by another TLS library; gives what became of it.
        private static func showLargeCertificate(
            at port: UInt16, asServer: Bool, in folder: TestFolder
        ) async throws -> String {
            let (key, certificate) = (folder.file("large.key"), folder.file("large.pem"))
            _ = try await Oracle.check([
                "openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-keyout", key, "-out", certificate, "-subj",
                "/CN=large", "-addext", "nsComment=" + String(repeating: "A", count: 65536),
            ])
            let script = """
                import socket, ssl, sys
                port, server, key, certificate = int(sys.argv[1]), sys.argv[2] == "server", sys.argv[3], sys.argv[4]
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
                context.check_hostname = False
                context.verify_mode = ssl.CERT_NONE
                context.load_cert_chain(certificate, key)
                context.set_alpn_protocols(["gantry-pair/1"])
                for attempt in range(40):
                    try:
                        plain = socket.create_connection(("127.0.0.1", port), 10)
                        secure = context.wrap_socket(plain, server_side=server)
                        print("data" if secure.recv(100) else "closed")
                    except ssl.SSLError as error:
                        print(error.reason)
                        break
                    except OSError:
                        # Too many from this address in this second.
                        pass
                """
            return try await Oracle.check([
                "python3", "-c", script, "\(port)", asServer ? "server" : "client", key, certificate,
            ]).text
        }

        /// Of this process; other tests have threads of their own.
        private static func threads(named name: String) -> Int {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.count { task in
                let comm = try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)
                return comm == name + "\n"
            }
        }

        @Test func theStudioIsServedUnderSiege() async throws {
            let stage = try Stage()
            let pairing = try stage.studio.beginPairing(address: "127.0.0.1")
            let code = try PairingCode.parse(pairing.code)
            let port = try #require(code.endpoints.first).port
            async let atStudio = PairingThreatTests.run(pairing)
            let siege = try await Siege(port: port)
            #expect(siege.count == 500)
            let verdict = try await Self.showLargeCertificate(at: port, asServer: true, in: stage.folder)
            #expect(verdict.contains("ALERT"), "\(verdict)")
            #expect(Self.threads(named: "studio-pair-io") < 40)
            // A producer at another address than the siege: it may meet a second in which too many have come.
            let identity = try Identity()
            let failure = try await onThread { () -> String? in
                var last: String?
                for _ in 0..<40 {
                    do {
                        let peer = try HostilePeer(
                            .server, over: try HostilePeer.dial(port, host: 250), identity: identity,
                            alpn: WireLimits.pairingProtocolName)
                        try HandPairing.pairAsProducer(
                            peer, identity, code: code, hello: try HandPairing.hello(name: Array("Genuine".utf8)))
                        return nil
                    } catch {
                        last = "\(error)"
                        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
                    }
                }
                return last
            }
            #expect(failure == nil)
            #expect(try await atStudio == nil)
            try await siege.end()
            try await onThread { pairing.close() }
            #expect(try stage.studio.pairedDevices.map(\.keyID) == [identity.keyID])
        }

        @Test func theProducerIsServedUnderSiege() async throws {
            let stage = try ToolStage()
            let identity = try Identity()
            let secret = try #require(PairingSecret(bytes: PairingCryptography.randomBytes(16)))
            // Nobody is at the address in the code: the studio comes by itself, as it does after it has found the
            // advert.
            let code = PairingCode(
                studio: identity.keyID, secret: secret,
                endpoints: [.ipv4(address: [127, 0, 0, 1], port: try LoopbackSocket.freePort())])
            let producer = try stage.producer(["pair", "-", "--port", stage.port], input: .text(code.text()))
            try await producer.line(containing: "searching")
            let view = ProcessView(producer.processID)
            var port: UInt16?
            while port == nil, producer.state.value.status == nil {
                port = view.listeningPorts.first
                await Task.yield()
            }
            let listening = try #require(port)
            let siege = try await Siege(port: listening)
            #expect(siege.count == 500)
            let verdict = try await Self.showLargeCertificate(at: listening, asServer: false, in: stage.folder)
            #expect(verdict.contains("ALERT"), "\(verdict)")
            let list = try await stage.producer(["devices", "list"]).end()
            #expect(list.lines.isEmpty)
            let key = try Identity.loadOrCreate(in: try StateFolder.open(stage.file("producer"))).keyID
            let failure = try await onThread { () -> String? in
                var last: String?
                for _ in 0..<40 {
                    do {
                        let peer = try HostilePeer(
                            .client, over: try HostilePeer.dial(listening, host: 250), identity: identity,
                            alpn: WireLimits.pairingProtocolName)
                        try HandPairing.pairAsStudio(
                            peer, producer: key, code: code, name: DisplayName("Genuine"))
                        return nil
                    } catch {
                        last = "\(error)"
                        MonotonicClock.sleep(until: MonotonicClock.now() + .milliseconds(100))
                    }
                }
                return last
            }
            #expect(failure == nil)
            let end = try await producer.end()
            #expect(end.status == 0, "\(end.errorText)")
            #expect(end.event("paired")?["name"] as? String == "Genuine")
            try await siege.end()
        }
    }
}
