// Measures the product. `gantry-bench --help` says what.
import CFloor
import Glibc

line_buffering()
signal(SIGPIPE, SIG_IGN)
do {
    let options = try BenchOptions(Array(CommandLine.arguments.dropFirst()))
    if options.help {
        print(BenchOptions.usage)
        exit(0)
    }
    let met: Bool
    switch options.name {
    case .latency: met = try LatencyBenchmark(options).run()
    case .allocations: met = try AllocationBenchmark(options).run()
    case .memory: met = try MemoryBenchmark(options).run()
    case .sources: met = try SourcesBenchmark(options).run()
    case .pairing: met = try PairingBenchmark(options).run()
    case .pairings: met = try PairingsBenchmark(options).run()
    }
    exit(met ? 0 : 1)
} catch {
    print("gantry-bench: \(error)")
    exit(error is BenchOptions.Misuse ? 2 : 3)
}
