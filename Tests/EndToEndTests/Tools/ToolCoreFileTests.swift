import Foundation
import GantryCore
import GantryTestSupport
import Glibc
import Testing

extension EndToEnd {
    /// A crash while a code is in memory leaves no core file, whatever the limits say.
    @Suite(.enabled(if: CoreFiles.areWritten, "core files go elsewhere here (kernel.core_pattern)"))
    struct ToolCoreFileTests {
        /// A tool in a folder of its own, with all core files allowed.
        private static func start(
            _ stage: ToolStage, _ tool: String, _ arguments: [String], input: ToolRun.Input = .none
        ) throws -> ToolRun {
            let folder = stage.file("cores")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let state = stage.file(tool == "gantry-studio" ? "studio" : "producer")
            return try ToolRun(
                [
                    "bash", "-c",
                    "ulimit -c $(ulimit -Hc); cd \"$1\"; shift; exec env SWIFT_BACKTRACE=enable=no \"$@\"",
                    "bash", folder,
                    "\(ToolRun.folder)/\(tool)", "--state-dir", state, "--json",
                ] + arguments, input: input)
        }

        private static func cores(_ stage: ToolStage) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: stage.file("cores"))
        }

        /// - Parameter signal: SIGABRT would be blocked, as it is in the threads of libdispatch that start processes here.
        private static func crash(_ tool: ToolRun, _ signal: Int32) async throws {
            tool.signal(signal)
            #expect(try await tool.end().status == 128 + signal)
        }

        @Test(arguments: [SIGSEGV, SIGBUS]) func ofAStudioThatShowsACode(_ signal: Int32) async throws {
            let stage = try ToolStage()
            let studio = try Self.start(stage, "gantry-studio", ["pair", "--text", "--address", "127.0.0.1"])
            try await studio.line(containing: "\"code\"")
            try await Self.crash(studio, signal)
            #expect(try Self.cores(stage) == [])
        }

        /// SIGQUIT (Ctrl-\) ends the tool in good order.
        @Test func ofAStudioThatIsQuit() async throws {
            let stage = try ToolStage()
            let studio = try Self.start(stage, "gantry-studio", ["pair", "--text", "--address", "127.0.0.1"])
            try await studio.line(containing: "\"code\"")
            studio.signal(SIGQUIT)
            #expect(try await studio.end().status == 7)
            #expect(try Self.cores(stage) == [])
        }

        @Test(arguments: [SIGSEGV, SIGBUS]) func ofAProducerThatPairs(_ signal: Int32) async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            studio.signal(SIGINT)
            _ = try await studio.end()
            let pair = try Self.start(stage, "gantry-producer", ["pair", "-"], input: .text(code))
            try await pair.line(containing: "searching")
            try await Self.crash(pair, signal)
            #expect(try Self.cores(stage) == [])
        }

        /// One that runs is open to a debugger again when its pairing is over: the core file of then, which proves that
        /// they are written here, does not hold the code.
        @Test func ofAProducerThatRuns() async throws {
            let stage = try ToolStage()
            let (code, studio) = try await stage.showCode()
            studio.signal(SIGINT)
            _ = try await studio.end()
            let run = ["run", "test", "--port", stage.port, "--size", "320x180"]
            for crashesWhilePairing in [true, false] {
                let producer = try Self.start(stage, "gantry-producer", run)
                try await producer.line(containing: "\"started\"")
                let pair = try stage.producer(["pair", "-"], input: .text(code))
                try await pair.line(containing: "searching")
                if !crashesWhilePairing {
                    pair.signal(SIGINT)
                    _ = try await pair.end()
                }
                try await Self.crash(producer, SIGSEGV)
                _ = try await pair.end()
                let cores = try Self.cores(stage)
                #expect(cores.isEmpty == crashesWhilePairing, "\(cores)")
                let secret = Data(String(code.split(separator: "/")[2]).utf8)
                for name in cores {
                    let core = try Data(
                        contentsOf: URL(fileURLWithPath: stage.file("cores/\(name)")), options: .alwaysMapped)
                    #expect(core.count > 100_000)
                    #expect(core.range(of: secret) == nil)
                    #expect(core.range(of: Data(Base32.decode(String(decoding: secret, as: UTF8.self)) ?? [])) == nil)
                }
            }
        }
    }
}

private enum CoreFiles {
    /// The kernel writes them into the folder of the process, and nothing else takes them.
    static let areWritten: Bool = {
        let pattern = try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        return pattern.map { $0.hasPrefix("core") } == true && limit.rlim_max > 0
    }()
}
