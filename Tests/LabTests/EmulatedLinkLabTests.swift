import Foundation
import GantryTestSupport
import Testing

extension LabTests {
    /// What the emulated link does to numbered packets (Tests/LinkLab/traffic.py). Bounds leave room for a loaded machine.
    @Suite struct EmulatedLinkLabTests {
        private struct Result: Decodable, Sendable {
            /// Packets.
            let received: Int
            let doubled: Int
            let overtaken: Int
            /// Milliseconds on the way.
            let least: Double
            let median: Double
            let most: Double
            /// Mbit/s of payload.
            let megabits: Double
        }

        /// From the emulated host 1 to host 2, or the other way.
        private func send(
            _ lab: Lab, from sender: Int = 1, count: Int = 400, bytes: Int = 1000, interval: Double = 0.002
        ) async throws -> Result {
            let program = CoreVectors.repository.appending(path: "Tests/LinkLab/traffic.py").path
            let other = 3 - sender
            let receiver = try lab.start(other, ["python3", "-u", program, "receive", "9000", "1"])
            try await receiver.line(containing: "ready")
            let sent = try await lab.run(
                sender, ["python3", program, "send", "10.77.0.\(other)", "9000", "\(count)", "\(bytes)", "\(interval)"])
            #expect(sent.status == 0, "\(sent.errors)")
            let end = try await receiver.end()
            return try JSONDecoder().decode(Result.self, from: Data((end.lines.last ?? "").utf8))
        }

        private func withLink(_ commands: [String], _ body: (Lab) async throws -> Void) async throws {
            try await Lab.with(hosts: 2, emulated: [1]) { lab in
                try await lab.control(["shape", "1"] + commands)
                try await body(lab)
            }
        }

        @Test func aLinkWithoutFaultsCarriesAllBothWays() async throws {
            try await Lab.with(hosts: 2, emulated: [1]) { lab in
                for host in 1...2 {
                    let result = try await send(lab, from: host)
                    #expect(result.received == 400)
                    #expect(result.doubled == 0)
                    #expect(result.overtaken == 0)
                    #expect(result.median < 10)
                }
            }
        }

        @Test func delayIsAddedInTheDirectionsThatWereNamed() async throws {
            try await withLink(["set out delay 40", "set in delay 10 jitter 5"]) { lab in
                let out = try await send(lab)
                #expect(out.received == 400)
                #expect(out.least >= 40)
                #expect(out.median < 55)
                let back = try await send(lab, from: 2)
                #expect(back.received == 400)
                #expect(back.overtaken == 0)
                #expect(5...10 ~= back.least)
                #expect(back.median < 25)
            }
        }

        @Test func lossIsTheShareThatWasAskedFor() async throws {
            try await withLink(["set both loss 10"]) { lab in
                let result = try await send(lab, count: 2000, bytes: 100, interval: 0.0005)
                // 1800 ± 13 at one standard deviation.
                #expect(1720...1880 ~= result.received)
            }
            try await withLink(["set out burst 1 10 100"]) { lab in
                let result = try await send(lab, count: 2000, bytes: 100, interval: 0.0005)
                // Bad for 1 of 11: about 1818; bursts vary more.
                #expect(1500...1960 ~= result.received)
            }
        }

        @Test func aRateHasAQueueInFrontOfItThatOverflows() async throws {
            try await withLink(["set out rate 4 queue 100000"]) { lab in
                // 8 Mbit/s: half of it fits; the queue lasts 200 ms.
                let result = try await send(lab, count: 1000, interval: 0.001)
                #expect(500...720 ~= result.received)
                #expect(3...4.1 ~= result.megabits)
                #expect(150...260 ~= result.most)
                let other = try await send(lab, from: 2)
                #expect(other.received == 400)
                #expect(other.median < 20)
            }
        }

        @Test func framesAreDoubledAndOvertakeEachOther() async throws {
            try await withLink(["set out reorder 10 20 duplicate 10"]) { lab in
                let result = try await send(lab, count: 1000, bytes: 100)
                #expect(result.received == 1000)
                #expect(50...160 ~= result.doubled)
                #expect(result.overtaken > 20)
                #expect(result.most >= 20)
            }
        }

        @Test func aChangeCountsAtOnceAndACutLinkCarriesNothing() async throws {
            try await withLink(["set both down 1"]) { lab in
                #expect(try await send(lab, count: 50, interval: 0).received == 0)
                try await lab.control(["shape", "1", "clear"])
                #expect(try await send(lab, count: 50).received == 50)
                let counts = try await lab.control(["shape", "1", "statistics"]).text
                #expect(counts.contains("out received="), "\(counts)")
                for wrong in [
                    "set both", "set both delay", "set up delay 1", "set both delay -1", "set both loss 101", "x",
                ] {
                    await #expect(throws: Oracle.Failure.self) { try await lab.control(["shape", "1", wrong]) }
                }
                await #expect(throws: Oracle.Failure.self) { try await lab.control(["shape", "2", "clear"]) }
                #expect(try await send(lab, count: 50).received == 50)
            }
        }

        @Test(arguments: ["cubic", "reno"]) func congestionControlIsThatOfTheRoute(name: String) async throws {
            try await Lab.with(hosts: 2, emulated: [1]) { lab in
                try await lab.control(["congestion", "1", name])
                // A connection says what it uses.
                let program =
                    "import socket; u = socket.socket(); u.settimeout(5); u.connect(('10.77.0.2', 9002)); "
                    + "print(u.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(b'\\0').decode())"
                let listener = try lab.start(
                    2,
                    [
                        "python3", "-u", "-c",
                        "import socket; s = socket.create_server(('', 9002)); print('ready'); s.accept()[0].recv(1)",
                    ])
                try await listener.line(containing: "ready")
                let result = try await lab.run(1, ["python3", "-c", program])
                #expect(result.lines == [name], "\(result.errors)")
            }
        }
    }
}
