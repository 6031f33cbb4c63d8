import GantryCore
import GantryPlatform
import GantryTestSupport
import GantryTransport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(3))) struct LANTests {
    private static func dial(
        _ endpoint: Endpoint, limit: MediaDuration = patience, cancel: EventDescriptor? = nil
    ) async throws -> GantryError? {
        let cancel = try cancel ?? EventDescriptor()
        return try await onThread {
            do throws(GantryError) {
                _ = try TCPDialer.dial(endpoint, until: MonotonicClock.now() + limit, cancel: cancel)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func aPortInUseIsNamedWithWhatMendsIt() throws {
        let first = try TCPListener(port: 0)
        let error = #expect(throws: GantryError.self) { try TCPListener(port: first.port) }
        #expect(error?.code == .portInUse)
        #expect(error?.message.contains("ss -ltnp 'sport = :\(first.port)'") == true)
    }

    @Test func aPortIsFreeAgainAfterTheListener() async throws {
        var listener: TCPListener? = try TCPListener(port: 0)
        let port = try #require(listener?.port)
        try listener?.start(threadName: "test-listen") { _, _ in }
        #expect(try await Self.dial(Endpoint(host: "127.0.0.1", port: port)) == nil)
        listener?.stop()
        listener = nil
        #expect(try TCPListener(port: port).port == port)
    }

    @Test(arguments: ["127.0.0.1", "localhost"]) func bothFamiliesAreServed(host: String) async throws {
        let listener = try TCPListener(port: 0)
        let hosts = Watched<[String]>([])
        try listener.start(threadName: "test-listen") { _, host in hosts.change { $0.append(host) } }
        #expect(try await Self.dial(Endpoint(host: host, port: listener.port)) == nil)
        #expect(try await hosts.wait { !$0.isEmpty })
        // A mapped IPv4 address is shown as what it is.
        #expect(["127.0.0.1", "::1"].contains(hosts.value.first))
        listener.stop()
    }

    @Test func nobodyThereIsRefused() async throws {
        // A port that was just given back.
        let port = try TCPListener(port: 0).port
        let error = try await Self.dial(Endpoint(host: "127.0.0.1", port: port))
        #expect(error?.code == .cannotConnect)
        #expect(error?.message.contains("gantry-producer run") == true)
    }

    @Test func aNameThatNobodyKnowsIsTold() async throws {
        let error = try await Self.dial(Endpoint(host: "no-such-host.invalid", port: 7787))
        #expect(error?.code == .cannotConnect)
        #expect(error?.message.contains("no-such-host.invalid") == true)
    }

    @Test func silenceTimesOut() async throws {
        let port = try SilentPort()
        let error = try await Self.dial(Endpoint(host: "127.0.0.1", port: port.number), limit: .milliseconds(100))
        #expect(error?.code == .timeout)
        #expect(error?.message.contains("firewall") == true)
    }

    /// Addresses where nobody is, more than are dialled at once, before the one that is right.
    @Test func addressesWithoutAnAnswerDoNotHoldAllPlaces() async throws {
        let silent = try SilentPort()
        let listener = try TCPListener(port: 0)
        try listener.start(threadName: "test-listen") { _, _ in }
        let race = try DialRace()
        let genuine = Endpoint(host: "127.0.0.1", port: listener.port)
        race.add((1...DialRace.maximumAttempts + 10).map { Endpoint(host: "127.0.1.\($0)", port: silent.number) })
        race.add([genuine])
        let cancel = try EventDescriptor()
        let met = try await onThread {
            var met: [Endpoint] = []
            var failures = 0
            race.run(until: MonotonicClock.now() + .seconds(50), limit: .seconds(60), cancel: cancel) {
                endpoint, outcome in
                switch outcome {
                case .connected: met.append(endpoint)
                case .failed(let error):
                    #expect(error.code == .timeout)
                    failures += 1
                }
                return met.isEmpty
            }
            // As many have given way as waited, not all.
            #expect(failures <= 20)
            return met
        }
        #expect(met == [genuine])
        listener.stop()
    }

    @Test func aDialCanBeCancelled() async throws {
        let port = try SilentPort()
        let cancel = try EventDescriptor()
        async let error = Self.dial(Endpoint(host: "127.0.0.1", port: port.number), cancel: cancel)
        cancel.signal()
        #expect(try await error?.code == .cancelled)
    }
}

/// A port that answers nobody: its backlog is full, so the kernel drops what else comes.
private final class SilentPort {
    let number: UInt16
    private var sockets: [FileDescriptor] = []

    init() throws {
        let listener = FileDescriptor(takingOwnership: socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        // On all of 127.0.0.0/8.
        _ = Self.with(&address) { bind(listener.rawValue, $0, $1) }
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        try syscall("listen") { listen(listener.rawValue, 0) }
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = Self.with(&address) { pointer, _ in getsockname(listener.rawValue, pointer, &length) }
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        number = UInt16(bigEndian: address.sin_port)
        sockets.append(listener)
        for _ in 0..<4 {
            let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue)
            let filler = FileDescriptor(takingOwnership: socket(AF_INET, type, 0))
            _ = Self.with(&address) { connect(filler.rawValue, $0, $1) }
            sockets.append(filler)
        }
    }

    private static func with<R>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> R
    ) -> R {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
