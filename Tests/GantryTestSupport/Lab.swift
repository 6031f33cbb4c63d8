import Foundation
import GantryPlatform
import Glibc

/// Hosts in network namespaces, made by scripts/lab. Nothing leaves them. Each lab has a name of its own, so several
/// may exist at once; it is removed with its object at the latest.
package final class Lab: @unchecked Sendable {  // `isUp` is guarded by `lock`.
    package let name: String
    private let lock = Lock()
    private var isUp = true

    /// Why tests with `.enabled(if: Lab.isAvailable, Lab.requirement)` are skipped.
    package static let requirement = "needs root, network namespaces, and the packages of: scripts/setup --test"

    /// Whether this machine can make one: root, namespaces, Avahi and D-Bus.
    package static let isAvailable: Bool = {
        guard getuid() == 0,
            ["avahi-daemon", "avahi-browse", "dbus-daemon", "dbus-send", "nft"].allSatisfy(isInstalled)
        else { return false }
        let name = "gantry-try-\(getpid())"
        guard runBlocking(["ip", "netns", "add", name]) == 0 else { return false }
        defer { _ = runBlocking(["ip", "netns", "del", name]) }
        return runBlocking(["ip", "netns", "exec", name, "true"]) == 0
    }()

    /// Makes `hosts` hosts (1 to 9) on one network or two, with an Avahi daemon in those of `mdns`; those of `emulated`
    /// are joined by a link that `control(["shape", …])` gives faults.
    package init(hosts: Int, networks: Int = 1, mdns: [Int] = [], emulated: [Int] = []) async throws {
        name = "t\(getpid())x\(Self.count.next())"
        try await control(
            ["up", "\(hosts)", "--networks", "\(networks)"] + emulated.flatMap { ["--emulate", "\($0)"] })
        for host in mdns { try await control(["mdns", "up", "\(host)"]) }
    }

    /// A lab for the time of `body`.
    package static func with<Value>(
        hosts: Int, networks: Int = 1, mdns: [Int] = [], emulated: [Int] = [], _ body: (Lab) async throws -> Value
    ) async throws -> Value {
        let lab = try await Lab(hosts: hosts, networks: networks, mdns: mdns, emulated: emulated)
        do {
            let value = try await body(lab)
            try await lab.down()
            return value
        } catch {
            try? await lab.down()
            throw error
        }
    }

    deinit {
        if isUp { _ = Self.runBlocking(command(["down"])) }
    }

    /// Ends everything in the lab and removes it. Any number of times.
    package func down() async throws {
        let wasUp = lock.withLock {
            defer { isUp = false }
            return isUp
        }
        if wasUp { try await control(["down"]) }
    }

    /// The lab's own files of a host: "services" is its /etc/avahi/services.
    package func folder(_ host: Int) -> String {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        return "\(base)/gantry-lab-\(name)/h\(host)"
    }

    // MARK: Commands

    /// scripts/lab with these arguments. Throws unless it says 0.
    @discardableResult
    package func control(_ arguments: [String]) async throws -> Oracle.Result {
        try await Oracle.check(command(arguments))
    }

    /// Runs a program in a host to its end.
    package func run(_ host: Int, _ arguments: [String]) async throws -> Oracle.Result {
        try await Oracle.run(command(["in", "\(host)"] + Self.located(arguments)))
    }

    /// Starts a program in a host: one of our tools by its name, or any other. It is the process itself that
    /// `ToolRun.signal` reaches.
    package func start(_ host: Int, _ arguments: [String], input: ToolRun.Input = .none) throws -> ToolRun {
        try ToolRun(command(["in", "\(host)"] + Self.located(arguments)), input: input)
    }

    private static func located(_ arguments: [String]) -> [String] {
        guard let first = arguments.first, first.hasPrefix("gantry-") else { return arguments }
        return [ToolRun.folder + "/" + first] + arguments.dropFirst()
    }

    private func command(_ arguments: [String]) -> [String] {
        ["GANTRY_LAB=\(name)", Self.script] + arguments
    }

    private static let script = CoreVectors.repository.appending(path: "scripts/lab").path
    private static let count = Counter()

    private final class Counter: @unchecked Sendable {  // `value` is guarded by `lock`.
        private let lock = Lock()
        private var value = 0
        func next() -> Int {
            lock.withLock {
                value += 1
                return value
            }
        }
    }

    private static func isInstalled(_ program: String) -> Bool {
        ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    private static func runBlocking(_ arguments: [String]) -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.runUnblocked() } catch { return -1 }
        process.waitUntilExit()
        return process.terminationStatus
    }
}
