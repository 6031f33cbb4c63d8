import Foundation
import GantryTestSupport
import Testing

extension EndToEnd {
    /// A time of day that is wrong, or that jumps: only what people read of it changes.
    @Suite struct ToolClockTests {
        /// Answers for the kernel's clock of the time of day, for a process that loads it first. "=N": N seconds after
        /// 1970 at the first call; "~": ten years to and fro with every call.
        private static let source = """
            #define _GNU_SOURCE
            #include <stdatomic.h>
            #include <stdlib.h>
            #include <sys/syscall.h>
            #include <sys/time.h>
            #include <time.h>
            #include <unistd.h>

            static _Atomic long first, calls;

            int clock_gettime(clockid_t clock, struct timespec *now) {
                long status = syscall(SYS_clock_gettime, clock, now);
                const char *mode = getenv("TEST_CLOCK");
                if (status || !mode || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return status;
                if (*mode == '~') {
                    if (atomic_fetch_add(&calls, 1) % 2) now->tv_sec += 315360000;
                    return 0;
                }
                long none = 0;
                atomic_compare_exchange_strong(&first, &none, now->tv_sec);
                now->tv_sec += atol(mode + 1) - first;
                return 0;
            }

            time_t time(time_t *result) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                if (result) *result = now.tv_sec;
                return now.tv_sec;
            }

            int gettimeofday(struct timeval *restrict result, void *restrict zone) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                result->tv_sec = now.tv_sec;
                result->tv_usec = now.tv_nsec / 1000;
                return 0;
            }
            """

        private static func library(in stage: ToolStage) async throws -> String {
            let path = stage.file("clock.so")
            let compiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc") ? "cc" : "clang"
            _ = try await Oracle.check(
                [compiler, "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", path], input: Data(source.utf8))
            return path
        }

        private struct Clock: Sendable, CustomTestStringConvertible {
            let producer: String
            let studio: String
            /// Years after 1970 in which the studio thinks it has paired.
            let years: ClosedRange<Int>
            var testDescription: String { "\(producer) \(studio)" }
        }

        private static let clocks = [
            Clock(producer: "=0", studio: "=100", years: 0...0),
            Clock(producer: "=2209000000", studio: "=2209000000", years: 69...70),
            Clock(producer: "=2209000000", studio: "=100", years: 0...0),
            Clock(producer: "=100", studio: "=2209000000", years: 69...70),
            Clock(producer: "~", studio: "~", years: 55...80),
        ]

        @Test(arguments: clocks) private func pairsAndReceives(_ clock: Clock) async throws {
            let stage = try ToolStage()
            let library = try await Self.library(in: stage)
            func tool(_ name: String, _ mode: String, _ arguments: [String], input: ToolRun.Input = .none) throws
                -> ToolRun
            {
                let state = stage.file(name == "gantry-studio" ? "studio" : "producer")
                return try ToolRun(
                    [
                        "env", "LD_PRELOAD=\(library)", "TEST_CLOCK=\(mode)", "\(ToolRun.folder)/\(name)",
                        "--state-dir", state, "--json",
                    ] + arguments, input: input)
            }
            let studio = try tool(
                "gantry-studio", clock.studio, ["pair", "--text", "--address", "127.0.0.1"])
            let code = try #require(jsonLine(try await studio.line(containing: "\"code\""))?["code"] as? String)
            let pair = try await tool(
                "gantry-producer", clock.producer, ["pair", "-", "--port", stage.port], input: .text(code)
            ).end()
            #expect(pair.status == 0, "\(pair.errorText)")
            let paired = try await studio.end()
            #expect(paired.status == 0, "\(paired.errorText)")
            // The clock has really been another one.
            let list = try await stage.studio(["devices", "list"]).end()
            let pairedAt = try #require(list.lines.first.flatMap(jsonLine)?["pairedAt"] as? Int)
            #expect(clock.years.contains(pairedAt / 31_557_600), "\(pairedAt)")
            let producer = try tool(
                "gantry-producer", clock.producer, ["run", "test", "--port", stage.port, "--size", "320x180"])
            try await producer.line(containing: "\"started\"")
            let receive = try await tool("gantry-studio", clock.studio, ["receive", "-d", "500ms"]).end()
            #expect(receive.status == 0, "\(receive.errorText)")
            #expect(receive.event("summary")?["framesReceived"] as? Int ?? 0 > 5)
            producer.signal(SIGINT)
            #expect(try await producer.end().status == 0)
        }

        /// Where the time of day is asked for at all: for records, and nowhere that something waits.
        @Test func theTimeOfDayIsForRecordsOnly() throws {
            let sources = CoreVectors.repository.appending(path: "Sources").path
            let allowed = ["pairedAt: WallClock.now()", "now: WallClock.now()", "at: WallClock.now()"]
            var count = 0
            for case let name as String in try #require(FileManager.default.enumerator(atPath: sources))
            where name.hasSuffix(".swift") && !name.hasSuffix("WallClock.swift") {
                let text = try String(contentsOfFile: "\(sources)/\(name)", encoding: .utf8)
                for line in text.split(separator: "\n") where line.contains("WallClock") {
                    count += 1
                    #expect(
                        allowed.contains { line.contains($0) }
                            || line.contains("let startedAt = WallClock.now()")
                            // The name of a saved file.
                            || line.contains("var time = time_t(WallClock.now())")
                            // The date of a manual.
                            || line.contains("time_t(moment ?? WallClock.now())"), "\(name): \(line)")
                }
                for word in ["CLOCK_REALTIME", "gettimeofday", "time(nil)"] {
                    #expect(!text.contains(word), "\(name): \(word)")
                }
            }
            #expect(count > 5)
        }
    }
}
